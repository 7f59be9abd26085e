/* A cell: one page load with everything that happens beside it. */
#pragma once

#include "page/recipe.h"

void run_cell(const char *id, const struct page *page, int iw, uint64_t seed, double flows_per_second, double at_most);
