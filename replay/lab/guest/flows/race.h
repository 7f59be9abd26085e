/* Flows on an otherwise idle network: beside each other, or one alone whose every arrival is told. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

bool add_flow(const char *line);
void run_race(const char *id, double at_most, uint64_t seed);
void run_flight(const char *id, int host, int iw, long bytes);
