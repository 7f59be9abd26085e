/* What a page does to others at its bottleneck: to short flows that begin beside it, and to a probe, one small
 * datagram after another as speech or a game sends them. */
#define _GNU_SOURCE
#include "player.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum {
    SHORT_FLOW_BYTES = 3 * 1448, /* what every initial window since RFC 3390 takes in one flight */
    PROBE_PORT = 9,
};
#define PROBE_GAP (SECOND / 50)

bool probing, awaiting_short_flows;

static int sender, receiver;
static nanoseconds next, from, to;
static nanoseconds *delays;
static int count, room;

/* In the namespace of the host that serves the background. */
void open_probe_sender(void) {
    sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PROBE_PORT),
                                  .sin_addr.s_addr = client_address(BACKGROUND_IW)};
    if (sender < 0 || connect(sender, (struct sockaddr *)&address, sizeof address) < 0) die("probe");
}

/* In the client's. */
void open_probe_receiver(void) {
    receiver = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PROBE_PORT),
                                  .sin_addr.s_addr = client_address(BACKGROUND_IW)};
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 4ull << 32};
    if (receiver < 0 || bind(receiver, (struct sockaddr *)&address, sizeof address) < 0 ||
        epoll_ctl(epoll_descriptor, EPOLL_CTL_ADD, receiver, &event) < 0)
        die("probe");
}

/* Before a load; what is still on its way from the last one is of no account. */
void await_neighbours(void) {
    nanoseconds sent;
    while (recv(receiver, &sent, sizeof sent, 0) > 0) {}
    count = 0;
    next = from = to = INT64_MAX;
}

void begin_neighbours(nanoseconds time) {
    from = time;
    if (probing) next = time;
}

void end_neighbours(nanoseconds time) {
    to = time;
    next = INT64_MAX;
}

nanoseconds next_probe(void) { return next; }

void send_probe(nanoseconds time) {
    if (send(sender, &time, sizeof time, 0) != sizeof time) die("probe");
    next = time + PROBE_GAP;
}

void probe_event(nanoseconds time) {
    nanoseconds sent;
    while (recv(receiver, &sent, sizeof sent, 0) == sizeof sent) {
        if (sent < from || time > to) continue;
        if (count == room) {
            room = room ? 2 * room : 1024;
            delays = realloc(delays, (size_t)room * sizeof *delays);
            if (!delays) die("memory");
        }
        delays[count++] = time - sent;
    }
}

static bool is_counted(const struct connection *connection) {
    return !connection->origin && !connection->flow && connection->size <= SHORT_FLOW_BYTES &&
           connection->opened >= from && connection->opened < to;
}

/* A flow that the load outran counts with its whole time. */
bool neighbours_are_served(void) {
    if (!awaiting_short_flows) return true;
    for (int i = 0; i < opened_connections(); i++)
        if (is_counted(connection_at(i)) && !connection_at(i)->responses) return false;
    return true;
}

static int ascending(const void *a, const void *b) {
    nanoseconds one = *(const nanoseconds *)a, other = *(const nanoseconds *)b;
    return (one > other) - (one < other);
}

/* The end of a load's line. */
void print_neighbours(void) {
    if (awaiting_short_flows) {
        int flows = 0, unserved = 0;
        nanoseconds sum = 0;
        for (int i = 0; i < opened_connections(); i++) {
            const struct connection *connection = connection_at(i);
            if (!is_counted(connection)) continue;
            flows++;
            unserved += !connection->responses;
            if (connection->responses) sum += connection->ended - connection->opened;
        }
        printf(", \"short_flows\": %d", flows);
        if (flows && !unserved) printf(", \"short_flow_ns\": %" PRId64, sum / flows);
    }
    if (count) {
        qsort(delays, (size_t)count, sizeof *delays, ascending);
        printf(", \"probe_p95_ns\": %" PRId64, delays[(count * 95 + 99) / 100 - 1]);
    }
    printf("}\n");
}
