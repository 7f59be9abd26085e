/* The network namespaces of the hosts that Mininet made. */
#pragma once

extern int offloads_on; /* segmentation offloads that could not be switched off */

_Noreturn void hold(void);
void enter_namespaces(const int *windows, int window_count, void (*in_namespace)(int host));
int learned_neighbours(void);
