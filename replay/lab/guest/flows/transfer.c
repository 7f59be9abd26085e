#include "flows/transfer.h"
#include "loop/failure.h"

struct transfer *make_transfer(const struct application *application, int iw, int64_t request_bytes,
                               int64_t response_bytes) {
    struct transfer *transfer = (struct transfer *)make_connection(application, iw);
    transfer->request_bytes = request_bytes;
    transfer->response_bytes = response_bytes;
    return transfer;
}

void ask_untimed(struct connection *connection) {
    send_request(connection, 0, ((struct transfer *)connection)->request_bytes, false);
}

void ask(struct connection *connection) {
    ((struct transfer *)connection)->established = now();
    ask_untimed(connection);
}

void answer(struct connection *connection, int object) {
    add_stream(&connection->streams, object, ((struct transfer *)connection)->response_bytes, (struct places){0}, no_priority);
}

void finish(struct connection *connection, const struct mark *mark) {
    struct transfer *transfer = (struct transfer *)connection;
    (void)mark;
    transfer->done = true;
    transfer->ended = now();
}

/* The measurement fails if the connection was refused; a transfer that breaks later never ends. */
void fail_unconnected(struct connection *connection, const char *why) {
    if (!connection->connected) failure = why;
}
