#include "flows/background.h"
#include "flows/transfer.h"
#include "loop/randomness.h"
#include "network/hosts.h"
#include "transport/tcp.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { SHORT_FLOW_BYTES = 3 * 1448 }; /* every initial window since RFC 3390 takes it in one flight */

#define TAIL 1.2 /* the Pareto distribution's exponent */

/* Sizes of the short flows: deciles 20 to 90 in the 2010 paper's Fig 1. */
static const int sizes[] = {380, 590, 920, 1410, 2280, 3720, 7090, 18673};

struct policy background_policy = {WINDOW_IN_FORCE, SENT_AT_ONCE, -1};
bool awaiting_short_flows;
static struct background background;
static nanoseconds next;

static void finish_and_close(struct connection *connection, const struct mark *mark) {
    finish(connection, mark);
    close_connection(connection);
}

static void accepted(struct connection *connection) { follow_policy(&background_policy, connection->server); }

static const struct application background_flow = {.size = sizeof(struct transfer), .established = ask_untimed,
                                                   .accepted = accepted, .asked = answer, .reached = finish_and_close};

static double uniform(void) { return ((double)(next_random() >> 11) + 0.5) / 9007199254740992.0; }

static double rate(void) { return background.short_per_second + background.large_per_second; }

static nanoseconds gap(void) { return (nanoseconds)(-log(uniform()) / rate() * 1e9); }

/* A size from the bounded Pareto distribution. */
static int64_t large_size(void) {
    double share = pow(background.least_bytes / background.most_bytes, TAIL);
    return (int64_t)(background.least_bytes * pow(1 - uniform() * (1 - share), -1 / TAIL));
}

static int64_t next_size(void) {
    if (uniform() * rate() < background.large_per_second) return large_size();
    return sizes[next_random() % (sizeof sizes / sizeof *sizes)];
}

void begin_background(const struct background *which, nanoseconds time) {
    background = *which;
    next = rate() > 0 ? time + gap() : INT64_MAX;
}

nanoseconds next_arrival(void) { return next; }

void arrive(nanoseconds time) {
    struct transfer *flow = make_transfer(&background_flow, route_window(&background_policy), REQUEST_BYTES, next_size());
    open_connection(&flow->tcp, server_address(BACKGROUND_HOST));
    next = time + gap();
}

/* The flow of this connection if it is a short one that began from `from` until before `to`, else NULL. */
static const struct transfer *short_flow(int index, nanoseconds from, nanoseconds to) {
    const struct connection *connection = connection_at(index);
    const struct transfer *flow = (const struct transfer *)connection;
    bool is_counted = connection->application == &background_flow && flow->response_bytes <= SHORT_FLOW_BYTES &&
                      connection->opened >= from && connection->opened < to;
    return is_counted ? flow : NULL;
}

/* Whether all short flows have ended: one that outlasts the load counts with its whole time. */
bool short_flows_are_served(nanoseconds from, nanoseconds to) {
    for (int i = 0; awaiting_short_flows && i < opened_connections(); i++) {
        const struct transfer *flow = short_flow(i, from, to);
        if (flow && !flow->done) return false;
    }
    return true;
}

void print_short_flows(nanoseconds from, nanoseconds to) {
    int flows = 0, unserved = 0;
    nanoseconds sum = 0;
    if (!awaiting_short_flows) return;
    for (int i = 0; i < opened_connections(); i++) {
        const struct transfer *flow = short_flow(i, from, to);
        if (!flow) continue;
        flows++;
        unserved += !flow->done;
        if (flow->done) sum += flow->ended - flow->tcp.opened;
    }
    printf(", \"short_flows\": %d", flows);
    if (flows && !unserved) printf(", \"short_flow_ns\": %" PRId64, sum / flows);
}
