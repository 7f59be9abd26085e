/* How far away each origin of the next load is, and how it sends. */
#pragma once

#include "loop/clock.h"
#include "page/recipe.h"

#include <stdbool.h>

/* As drawn: the sender in force; the same, paced whatever is in force; BBR; HTTP/3, for which CUBIC, paced, stands in, with ten
 * segments whatever the window (RFC 9002, section 7.2). */
enum sender { AT_ONCE, PACED, BBR, HTTP3, SENDERS };
#define SENDER_LETTERS "cpb3"

extern bool senders_differ; /* whether anything but the sender in force was told */

bool set_origins(const char *told);
void place_origins(const struct page *page);
nanoseconds distance_of(int origin);
enum sender sender_of(int origin);
int window_of(int origin, int window);
void set_sender_of(int origin, int server);
