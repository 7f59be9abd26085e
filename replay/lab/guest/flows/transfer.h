/* A transfer: one request and one response on a connection of its own. */
#pragma once

#include "transport/connection.h"

enum { REQUEST_BYTES = 400 }; /* about Chromium's */

struct transfer {
    struct connection tcp;
    int64_t request_bytes, response_bytes;
    bool done;
    nanoseconds established, ended;
};

struct transfer *make_transfer(const struct application *application, int iw, int64_t request_bytes,
                               int64_t response_bytes);
void ask_untimed(struct connection *connection);
void ask(struct connection *connection);
void answer(struct connection *connection, int object);
void finish(struct connection *connection, const struct mark *mark);
void fail_unconnected(struct connection *connection, const char *why);
