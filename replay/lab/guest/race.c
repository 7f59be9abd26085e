/* Flows that begin when they are told to, beside each other on an otherwise idle network. */
#include "player.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_FLOWS = 256 };

static struct flow {
    nanoseconds begins;
    int host, iw;
    bool upload;
    char control[16];
    int64_t request_bytes, response_bytes;
    struct connection *connection;
} flows[MOST_FLOWS];
static int flow_count;

/* BEGINS_US HOST IW up|down CONTROL|- REQUEST_BYTES RESPONSE_BYTES */
bool add_flow(const char *line) {
    if (flow_count == MOST_FLOWS) return false;
    struct flow *flow = &flows[flow_count];
    memset(flow, 0, sizeof *flow);
    char direction[5];
    double begins_us;
    if (sscanf(line, "%lf %d %d %4s %15s %" SCNd64 " %" SCNd64, &begins_us, &flow->host, &flow->iw, direction,
               flow->control, &flow->request_bytes, &flow->response_bytes) != 7 ||
        flow->host < 1 || flow->host >= host_count || flow->request_bytes < 1 || flow->response_bytes < 1)
        return false;
    flow->upload = strcmp(direction, "up") == 0;
    flow->begins = (nanoseconds)(begins_us * 1e3);
    flow_count++;
    return !flow->upload || flow->host == UPLOAD_HOST;
}

static void begin_flow(struct flow *flow) {
    const char *control = strcmp(flow->control, "-") ? flow->control : NULL;
    flow->connection = open_flow(flow->host, flow->iw, flow->upload, control);
    flow->connection->size = flow->response_bytes;
    flow->connection->request_bytes = flow->request_bytes;
}

static bool ended(const struct flow *flow) { return flow->connection && flow->connection->responses; }

static void print_flow(const struct flow *flow, const char *separator) {
    const struct connection *connection = flow->connection;
    struct totals totals = {0};
    if (ended(flow)) settle(flow->connection, &totals);
    printf("%s{\"done\": %s, \"ns\": %" PRId64 ", \"handshake_ns\": %" PRId64 ", \"segments_sent\": %" PRId64
           ", \"segments_retransmitted\": %" PRId64 "}",
           separator, ended(flow) ? "true" : "false", ended(flow) ? connection->ended - connection->opened : 0,
           ended(flow) ? connection->established - connection->opened : 0, totals.segments_sent,
           totals.segments_retransmitted);
}

/* Flows are added in the order in which they begin. */
void run_race(const char *id, double at_most, uint64_t seed) {
    failure = NULL;
    nanoseconds began = rest();
    seed_kernel(seed);
    seed_losses(seed);
    uint64_t drops = bottleneck_drops();
    nanoseconds deadline = began + (nanoseconds)(at_most * (double)SECOND), set = 0;
    int begun = 0;
    for (;;) {
        nanoseconds time = now();
        while (begun < flow_count && time >= began + flows[begun].begins) begin_flow(&flows[begun++]);
        int running = flow_count;
        for (int i = 0; i < begun; i++) running -= ended(&flows[i]);
        if (!running || failure || time >= deadline) break;
        nanoseconds next = begun < flow_count ? earlier(began + flows[begun].begins, deadline) : deadline;
        if (next != set) set_timer(set = next);
        turn();
    }
    printf("@{\"race\": \"%s\", \"bottleneck_drops\": %" PRIu64 ", \"flows\": [", id, bottleneck_drops() - drops);
    for (int i = 0; i < flow_count; i++) print_flow(&flows[i], i ? ", " : "");
    printf("]}\n");
    close_all();
    flow_count = 0;
}

/* One response, each packet's arrival told: what a topology is calibrated with. */
void run_flight(const char *id, int host, int iw, long bytes) {
    window_of_cell = iw;
    failure = NULL;
    nanoseconds began = rest();
    lose_nothing();
    uint64_t drops = bottleneck_drops();
    struct connection *sample = open_connection(host, iw, NULL);
    sample->size = -bytes;
    set_timer(began + 120 * SECOND);
    while (!sample->responses && !turn()) {}
    struct totals totals = {0};
    if (sample->responses) settle(sample, &totals);
    printf("@{\"flight\": \"%s\", \"handshake_ns\": %" PRId64 ", \"snd_cwnd\": %u, \"snd_mss\": %u, \"done\": %s"
           ", \"first_window_bytes\": %u, \"learned_neighbours\": %d, \"segments_retransmitted\": %" PRId64 ", \"bottleneck_drops\": %" PRIu64 "}\n",
           id, sample->established - sample->opened, sample->snd_cwnd, sample->snd_mss,
           sample->responses ? "true" : "false", sample->first_window, learned_neighbours(), totals.segments_retransmitted,
           bottleneck_drops() - drops);
    close_all();
}
