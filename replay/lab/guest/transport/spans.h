/* Which response the bytes of a connection's stream belong to. */
#pragma once

#include "transport/connection.h"

void note_span(struct connection *connection, int object, int64_t from, int64_t end);
int span_behind(const struct connection *connection, int64_t at);
