/* One page load: objects are asked for in the order of their dependencies, over HTTP/1.1 or HTTP/2. */
#pragma once

#include "page/recipe.h"
#include "transport/policy.h"

extern struct policy policy;  /* of the page's servers */
extern bool by_alias;         /* whether servers take their initial window from its second route */
extern bool prioritising;     /* whether servers answer by priority over H2, and not in turns */
extern int most_unsent_bytes; /* that a server gives TCP over H2 beyond what was sent; 0: as many as the send buffer holds */
extern bool delaying_answers; /* whether servers wait before they answer, as the recipe says */

void begin_load(const struct page *page, nanoseconds time);
bool load_is_done(void);
void print_load(const char *id, uint64_t drops, int64_t competition_bytes);
