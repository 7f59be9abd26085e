/* The server's end of a connection: listeners, and responses written in turns. */
#pragma once

#include "transport/connection.h"

void listen_at(int host);
void set_congestion_control(const char *name);
void set_send_buffers(int bytes);
void write_responses(struct connection *connection);
