/* The time: virtual in the guest's kernel, real on a host. */
#pragma once

#include <stdint.h>

#define SECOND INT64_C(1000000000)

typedef int64_t nanoseconds;

void find_clock(void);
void mark_sleep(void);
nanoseconds now(void);
nanoseconds last_look(void);
nanoseconds look_at_clock(void);
nanoseconds earlier(nanoseconds a, nanoseconds b);
