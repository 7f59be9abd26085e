/* Competing flows: bulk downloads that share the bottleneck with the page and never end. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

void set_competing_flows(int count, int iw, const char *control);
bool has_competing_flows(void);
void begin_competing_flows(void);
int64_t competing_bytes(void);
