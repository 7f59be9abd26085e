/* All chance of a measurement, decided by its seed. */
#pragma once

#include <stdint.h>

void seed_randomness(uint64_t seed);
uint64_t next_random(void);
