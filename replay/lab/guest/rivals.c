/* Rivals: downloads without end, which share the bottleneck with the page and compete by their own rules. */
#include "connection.h"

#include <stdio.h>
#include <sys/socket.h>

enum {
    SERVING_HOST = 1,
    WAKE_BYTES = 1 << 20, /* their client has nothing to do: it need not wake for each packet */
};

static int rivals, window;
static char control[16];

void set_rivals(int flows, int iw, const char *name) {
    rivals = flows;
    window = iw;
    snprintf(control, sizeof control, "%s", name);
}

void begin_rivals(void) {
    for (int i = 0; i < rivals; i++) {
        struct connection *rival = open_flow(SERVING_HOST, window, false, control);
        rival->size = ENDLESS;
        rival->request_bytes = REQUEST_BYTES;
        set_option(rival->client, SOL_SOCKET, SO_RCVLOWAT, WAKE_BYTES);
    }
}

/* Payload, all told. */
int64_t rivals_received(void) {
    int64_t bytes = 0;
    for (int i = 0; i < opened_connections(); i++) {
        if (connection_at(i)->size != ENDLESS) continue;
        struct tcp_info info;
        get_info(connection_at(i)->client, &info);
        bytes += (int64_t)info.tcpi_bytes_received;
    }
    return bytes;
}
