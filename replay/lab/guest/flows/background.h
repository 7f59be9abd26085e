/* The background: other people's short flows, which arrive as a Poisson process. */
#pragma once

#include "loop/clock.h"

#include <stdbool.h>

extern int background_window;
extern bool awaiting_short_flows; /* whether a load waits for the short flows that began beside it */

void begin_background(double flows_per_second, nanoseconds time);
nanoseconds next_arrival(void);
void arrive(nanoseconds time);
bool short_flows_are_served(nanoseconds from, nanoseconds to);
void print_short_flows(nanoseconds from, nanoseconds to);
