#include "flows/race.h"
#include "flows/transfer.h"
#include "loop/failure.h"
#include "loop/randomness.h"
#include "network/hosts.h"
#include "network/namespaces.h"
#include "network/qdiscs.h"
#include "transport/policy.h"
#include "transport/tcp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_FLOWS = 256 };

static struct flow {
    nanoseconds begins;
    int host;
    struct policy policy; /* of the server, or of the client that uploads */
    bool upload; /* the request is what counts */
    char control[16];
    int64_t request_bytes, response_bytes;
    struct transfer *transfer;
} flows[MOST_FLOWS];
static int flow_count;

/* Read BEGINS_US HOST POLICY up|down CONTROL|- REQUEST_BYTES RESPONSE_BYTES */
bool add_flow(const char *line) {
    if (flow_count == MOST_FLOWS) return false;
    struct flow *flow = &flows[flow_count];
    memset(flow, 0, sizeof *flow);
    char policy[32], direction[5];
    double begins_us;
    if (sscanf(line, "%lf %d %31s %4s %15s %" SCNd64 " %" SCNd64, &begins_us, &flow->host, policy, direction,
               flow->control, &flow->request_bytes, &flow->response_bytes) != 7 ||
        !read_policy(policy, &flow->policy) || flow->host < 1 || flow->host >= host_count || flow->request_bytes < 1 || flow->response_bytes < 1)
        return false;
    flow->upload = strcmp(direction, "up") == 0;
    flow->begins = (nanoseconds)(begins_us * 1e3);
    flow_count++;
    return !flow->upload || flow->host == FIRST_ORIGIN;
}

static void set_flow_control(const struct flow *flow, int descriptor) {
    if (strcmp(flow->control, "-")) set_control(descriptor, flow->control);
}

/* A race opens its flows in order and nothing else, so a connection's number is its flow's. */
static void accepted(struct connection *connection) {
    const struct flow *flow = &flows[connection->index];
    if (flow->upload) {
        set_option(connection->server, SOL_SOCKET, SO_RCVLOWAT, (int)flow->request_bytes); /* wake once */
        return;
    }
    set_flow_control(flow, connection->server);
    follow_policy(&flow->policy, connection->server);
}

static void established(struct connection *connection) {
    const struct flow *flow = &flows[connection->index];
    if (flow->upload) follow_policy(&flow->policy, connection->client);
    ask(connection);
}

static const struct application race_flow = {.size = sizeof(struct transfer), .established = established, .accepted = accepted,
                                             .asked = answer, .reached = finish, .failed = fail_unconnected};

static void begin_flow(struct flow *flow) {
    flow->transfer = make_transfer(&race_flow, route_window(&flow->policy), flow->request_bytes, flow->response_bytes);
    if (flow->upload) set_flow_control(flow, flow->transfer->tcp.client);
    open_connection(&flow->transfer->tcp, flow->upload ? upload_address(route_window(&flow->policy)) : server_address(flow->host));
}

static bool ended(const struct flow *flow) { return flow->transfer && flow->transfer->done; }

static void print_flow(const struct flow *flow, const char *separator) {
    const struct transfer *transfer = flow->transfer;
    struct tcp_info info = {0};
    if (ended(flow)) get_info(flow->upload ? transfer->tcp.client : transfer->tcp.server, &info);
    printf("%s{\"done\": %s, \"ns\": %" PRId64 ", \"handshake_ns\": %" PRId64 ", \"segments_sent\": %u"
           ", \"segments_retransmitted\": %u}",
           separator, ended(flow) ? "true" : "false", ended(flow) ? transfer->ended - transfer->tcp.opened : 0,
           ended(flow) ? transfer->established - transfer->tcp.opened : 0, info.tcpi_data_segs_out,
           info.tcpi_total_retrans);
}

/* Begin the flows that are due, and sleep until the race is over: all ended, one refused, or time up. */
static void race_until(nanoseconds began, nanoseconds deadline) {
    nanoseconds set = 0;
    for (int begun = 0;;) {
        nanoseconds time = now();
        while (begun < flow_count && time >= began + flows[begun].begins) begin_flow(&flows[begun++]);
        int running = flow_count;
        for (int i = 0; i < begun; i++) running -= ended(&flows[i]);
        if (!running || failure || time >= deadline) return;
        nanoseconds next = begun < flow_count ? earlier(began + flows[begun].begins, deadline) : deadline;
        if (next != set) set_timer(set = next);
        turn();
    }
}

/* Race the flows that were added since the last race, in the order in which they begin. */
void run_race(const char *id, double at_most, uint64_t seed) {
    failure = NULL;
    nanoseconds began = rest();
    seed_randomness(seed);
    seed_losses(seed);
    uint64_t drops = bottleneck_drops();
    race_until(began, began + (nanoseconds)(at_most * (double)SECOND));
    printf("@{\"race\": \"%s\", \"bottleneck_drops\": %" PRIu64 ", \"flows\": [", id, bottleneck_drops() - drops);
    for (int i = 0; i < flow_count; i++) print_flow(&flows[i], i ? ", " : "");
    printf("]}\n");
    close_all();
    flow_count = 0;
}

static struct tcp_info at_accept;

static void flight_accepted(struct connection *connection) { get_info(connection->server, &at_accept); }

static void print_arrival(struct connection *connection) {
    printf("@{\"arrived\": %" PRId64 ", \"ns\": %" PRId64 "}\n", connection->down_read, now() - connection->opened);
}

static const struct application flight = {.size = sizeof(struct transfer), .established = ask, .asked = answer,
                                          .accepted = flight_accepted, .received = print_arrival, .reached = finish};

/* Send one response and tell the arrival of each packet, to calibrate a topology. */
void run_flight(const char *id, int host, int iw, long bytes) {
    failure = NULL;
    nanoseconds began = rest();
    lose_nothing();
    uint64_t drops = bottleneck_drops();
    struct transfer *sample = make_transfer(&flight, iw, REQUEST_BYTES, bytes);
    sample->tcp.wake_at = 0; /* for each packet */
    open_connection(&sample->tcp, server_address(host));
    set_timer(began + 120 * SECOND);
    while (!sample->done && !turn()) {}
    struct tcp_info info = {0};
    if (sample->done) get_info(sample->tcp.server, &info);
    printf("@{\"flight\": \"%s\", \"handshake_ns\": %" PRId64 ", \"snd_cwnd\": %u, \"snd_mss\": %u, \"done\": %s"
           ", \"first_window_bytes\": %u, \"learned_neighbours\": %d, \"segments_retransmitted\": %u"
           ", \"bottleneck_drops\": %" PRIu64 "}\n",
           id, sample->established - sample->tcp.opened, at_accept.tcpi_snd_cwnd, at_accept.tcpi_snd_mss,
           sample->done ? "true" : "false", at_accept.tcpi_snd_wnd, learned_neighbours(),
           info.tcpi_total_retrans - at_accept.tcpi_total_retrans,
           bottleneck_drops() - drops);
    close_all();
}
