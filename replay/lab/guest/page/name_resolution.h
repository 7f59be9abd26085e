/* Names of hosts, which the browser asks a resolver for before it opens the first connection to each. */
#pragma once

#include "page/later.h"
#include "page/recipe.h"

extern bool resolving_names; /* whether that takes time */

void begin_name_resolution(const struct page *page);
bool resolve(int origin, later_function *when_known);
