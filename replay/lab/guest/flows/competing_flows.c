#include "flows/competing_flows.h"
#include "flows/transfer.h"
#include "network/hosts.h"
#include "transport/tcp.h"

#include <stdio.h>

#define ENDLESS (INT64_C(1) << 50) /* size of the response */

enum { WAKE_BYTES = 1 << 20 }; /* the client has nothing to do, so it need not wake for each packet */

static int flows, window;
static char control[16];

static void accepted(struct connection *connection) {
    set_option(connection->server, IPPROTO_TCP, TCP_NOTSENT_LOWAT, ZEROS);
    set_control(connection->server, control);
}

static const struct application competing_flow = {.size = sizeof(struct transfer), .established = ask,
                                                  .accepted = accepted, .asked = answer, .failed = fail_unconnected};

void set_competing_flows(int count, int iw, const char *name) {
    flows = count;
    window = iw;
    snprintf(control, sizeof control, "%s", name);
}

bool has_competing_flows(void) { return flows > 0; }

void begin_competing_flows(void) {
    for (int i = 0; i < flows; i++) {
        struct transfer *flow = make_transfer(&competing_flow, window, REQUEST_BYTES, ENDLESS);
        open_connection(&flow->tcp, server_address(BACKGROUND_HOST));
        set_option(flow->tcp.client, SOL_SOCKET, SO_RCVLOWAT, WAKE_BYTES);
    }
}

/* Payload received by all flows together. */
int64_t competing_bytes(void) {
    int64_t bytes = 0;
    for (int i = 0; i < opened_connections(); i++) {
        if (connection_at(i)->application != &competing_flow) continue;
        struct tcp_info info;
        get_info(connection_at(i)->client, &info);
        bytes += (int64_t)info.tcpi_bytes_received;
    }
    return bytes;
}
