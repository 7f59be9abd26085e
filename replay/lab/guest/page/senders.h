/* How far away each origin of the next load is, and how it sends. */
#pragma once

#include "loop/clock.h"
#include "page/recipe.h"
#include "transport/policy.h"

#include <stdbool.h>

/* As drawn: the congestion control in force; the same, paced whatever the policy; BBR, which paces by itself; HTTP/3, for which
 * CUBIC, paced, stands in, with ten segments whatever the policy (RFC 9002, section 7.2). */
enum sender { AT_ONCE, PACED, BBR, HTTP3, SENDERS };
#define SENDER_LETTERS "cpb3"

extern bool senders_differ; /* whether anything but the sender in force was told */

bool set_origins(const char *told);
void place_origins(const struct page *page);
nanoseconds distance_of(int origin);
enum sender sender_of(int origin);
int route_window_of(int origin, const struct policy *policy);
int set_sender_of(int origin, int server, const struct policy *policy);
