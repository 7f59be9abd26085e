/* The packet log: a copy of the headers of all packets that reach the client, with their times, in memory shared
 * with the kernel. It tells when each response arrived and in how many flights. The client's reads do not tell:
 * the client sleeps until there is something to do, and waking it more often would move its acknowledgements. */
#pragma once

#include "transport/connection.h"

extern bool logging_packets;

void open_packet_log(void);
void read_packet_log(void);
