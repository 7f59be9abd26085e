/* What servers and the browser do after a delay of their own. */
#pragma once

#include "transport/connection.h"

typedef void later_function(struct connection *connection, int object);

void do_later(nanoseconds due, later_function *function, struct connection *connection, int object);
nanoseconds next_due(void);
void do_due(nanoseconds time);
void forget_later(void);
