/* Queueing disciplines by rtnetlink: the bottleneck's queue and drops, the delay lines, one each way, with their losses, and the servers' distances.
 * Debian 12's tc cannot set netem's seed, and without a seed a cell would lose other packets each time. */
#pragma once

#include "loop/clock.h"

void find_delay_line(int which);
void set_delay(nanoseconds delay, double share, double burst);
void set_losses(double share, double burst);
void seed_losses(uint64_t seed);
void lose_nothing(void);
nanoseconds round_trip(void);
void find_bottleneck(void);
void find_ports(void);
void set_distance(int host, nanoseconds distance);
void set_discipline(const char *name, uint32_t target_us, uint32_t interval_us);
void renew_discipline(void);
uint64_t bottleneck_drops(void);
int bottleneck_device(void);
