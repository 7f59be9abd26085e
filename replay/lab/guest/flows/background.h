/* The background: other people's flows, short ones and large ones, which arrive as Poisson processes. */
#pragma once

#include "loop/clock.h"
#include "transport/policy.h"

#include <stdbool.h>

extern struct policy background_policy;
extern bool awaiting_short_flows; /* whether a load waits for the short flows that began beside it */

/* Flows a second, and the bounds of the large flows' sizes (replay/runs/background.py). */
struct background {
    double short_per_second, large_per_second, least_bytes, most_bytes;
};

void begin_background(const struct background *which, nanoseconds time);
nanoseconds next_arrival(void);
void arrive(nanoseconds time);
bool short_flows_are_served(nanoseconds from, nanoseconds to);
void print_short_flows(nanoseconds from, nanoseconds to);
