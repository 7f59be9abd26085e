/* TLS handshakes: the round trips and bytes before a connection's first request. */
#pragma once

#include "page/recipe.h"

bool set_handshake(const char *name);
int handshake_trips(const struct origin *origin);
int64_t hello_bytes(int trip);
int64_t server_flight_bytes(const struct origin *origin, int trip);
int64_t bytes_with_first_request(const struct origin *origin);
int64_t bytes_before_first_answer(const struct origin *origin);
