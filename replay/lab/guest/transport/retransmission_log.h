/* The kernel's log of what it sent again (kernel/shown-retransmissions.patch), in memory shared with it: for each
 * retransmission the place in the stream and the other end's port. It tells which responses' bytes were sent again,
 * where TCP_INFO tells of the connection as a whole. */
#pragma once

#include <stdbool.h>

void find_retransmission_log(void);
bool has_retransmission_log(void);
void read_retransmission_log(void);
