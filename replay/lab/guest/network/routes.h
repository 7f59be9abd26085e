/* Addresses, routes and ARP entries of the current network namespace, by rtnetlink: a command for each would cost
 * seconds of boot. */
#pragma once

#include <stdint.h>

void configure_interface(int host, const int *windows, int window_count);
void set_receive_window(uint32_t segments);
