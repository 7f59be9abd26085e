/* Requests that the browser holds back, as Chromium's network service does: those of low priority to hosts that it does not
 * know to speak HTTP/2. */
#pragma once

#include "page/recipe.h"

#include <stdbool.h>

void set_request_limit(int limit, int weight);
void begin_holding_back(const struct page *page);
bool hold_back(int object, bool is_known);
int release_one(bool (*is_known)(int object));
void end_request(int object);
