/* When the browser finds the objects of a page: each at a place of its parent's bytes. */
#pragma once

#include "page/recipe.h"
#include "transport/ledger.h"

bool set_discovery(const char *name);
void begin_discovery(const struct page *page);
struct places places_of(int object);
int find_child(int parent, int64_t place);
bool must_wait(int object);
int end_waiting(int object);
nanoseconds delay_of(int object);
