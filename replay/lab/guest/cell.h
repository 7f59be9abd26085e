/* A cell: one page load with everything that happens beside it. */
#pragma once

#include "flows/background.h"
#include "page/recipe.h"

void run_cell(const char *id, const struct page *page, uint64_t seed, const struct background *background,
              double at_most);
