#include "flows/probe.h"
#include "loop/failure.h"
#include "loop/loop.h"
#include "loop/memory.h"
#include "network/hosts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define GAP (SECOND / 50)

bool probing;
static int sender, receiver;
static nanoseconds next, from, to;
static nanoseconds *delays;
static int count, room;

static int datagram_socket(int (*attach)(int, const struct sockaddr *, socklen_t)) {
    enum { DISCARD_PORT = 9, WINDOW = 10 }; /* the client's address at today's window is in every guest */
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(DISCARD_PORT),
                                  .sin_addr.s_addr = client_address(WINDOW)};
    int made = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (made < 0 || attach(made, (struct sockaddr *)&address, sizeof address) < 0) die("probe");
    return made;
}

static void receive(void *data, uint32_t events) {
    (void)data, (void)events;
    nanoseconds sent, time = now();
    while (recv(receiver, &sent, sizeof sent, MSG_DONTWAIT) == sizeof sent) {
        if (sent < from || time > to) continue;
        delays = with_room(delays, count, &room, sizeof *delays);
        delays[count++] = time - sent;
    }
}

/* The caller is in the namespace of the host that serves the background. */
void open_probe_sender(void) { sender = datagram_socket(connect); }

/* The caller is in the client's namespace. */
void open_probe_receiver(void) {
    static struct handler handler = {receive, NULL};
    receiver = datagram_socket(bind);
    watch(EPOLL_CTL_ADD, receiver, EPOLLIN, &handler);
}

/* Forget the datagrams of earlier loads, also those that are still on their way. */
void reset_probe(void) {
    nanoseconds sent;
    while (recv(receiver, &sent, sizeof sent, MSG_DONTWAIT) > 0) {}
    count = 0;
    next = from = to = INT64_MAX;
}

void begin_probe(nanoseconds time) {
    from = time;
    if (probing) next = time;
}

void end_probe(nanoseconds time) {
    to = time;
    next = INT64_MAX;
}

nanoseconds next_probe(void) { return next; }

void send_probe(nanoseconds time) {
    if (send(sender, &time, sizeof time, 0) != sizeof time) die("probe");
    next = time + GAP;
}

static int ascending(const void *a, const void *b) {
    nanoseconds one = *(const nanoseconds *)a, other = *(const nanoseconds *)b;
    return (one > other) - (one < other);
}

void print_probe(void) {
    if (!count) return;
    qsort(delays, (size_t)count, sizeof *delays, ascending);
    printf(", \"probe_p95_ns\": %" PRId64, delays[(count * 95 + 99) / 100 - 1]);
}
