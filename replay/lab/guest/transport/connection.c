#include "transport/connection.h"
#include "loop/failure.h"
#include "loop/memory.h"
#include "network/hosts.h"
#include "transport/tcp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HIGHEST_LOW_WATER (1 << 24)
#define DELAYING_LOW_WATER (1 << 14)

enum { FIRST_PORT = 10000, PORTS = 65536 - FIRST_PORT };

bool delaying_acknowledgements;
static struct connection **connections;
static int count, room;

/* The latest connection of each of the client's ports. A closed connection's port is used again after all others. */
static struct connection *by_port[PORTS];
static int next_port;

int opened_connections(void) { return count; }

struct connection *connection_at(int index) { return connections[index]; }

/* The connection of this port of the client's, NULL if there is none. */
struct connection *connection_of(int port) {
    return port < FIRST_PORT ? NULL : by_port[port - FIRST_PORT];
}

static bool is_taken(int port) {
    const struct connection *latest = connection_of(port);
    return latest && latest->client >= 0;
}

static int take_port(struct connection *connection) {
    int port;
    do port = FIRST_PORT + next_port++ % PORTS;
    while (is_taken(port));
    by_port[port - FIRST_PORT] = connection;
    return port;
}

void fail(struct connection *connection, const char *why) {
    if (connection->application->failed) connection->application->failed(connection, why);
}

/* Let the client wake when the next thing of interest has arrived, and not for each packet. */
void set_low_water(struct connection *connection) {
    int64_t target = next_place(&connection->written);
    if (connection->wake_at < target) target = connection->wake_at;
    if (target == INT64_MAX) return; /* nothing is on its way */
    int64_t lowat = target - connection->down_read;
    if (lowat < 1) lowat = 1;
    int64_t highest = delaying_acknowledgements ? DELAYING_LOW_WATER : HIGHEST_LOW_WATER;
    if (lowat > highest) lowat = highest;
    if (lowat == connection->lowat) return;
    connection->lowat = lowat;
    set_option(connection->client, SOL_SOCKET, SO_RCVLOWAT, (int)lowat);
}

/* Send a request of `bytes` at once: it always fits into an empty send buffer. */
void send_request(struct connection *connection, int object, int64_t bytes, bool more) {
    connection->up_sent += bytes;
    append_mark(&connection->requested, (struct mark){.at = connection->up_sent, .object = object, .last = true});
    for (int64_t part; bytes > 0; bytes -= part) {
        part = bytes < ZEROS ? bytes : ZEROS;
        int flags = MSG_NOSIGNAL | (more || part < bytes ? MSG_MORE : 0);
        if (send(connection->client, zeros, (size_t)part, flags) == part) continue;
        failure = "a request did not fit into the send buffer";
        return;
    }
}

/* Have the client acknowledge every second segment, and a single one after 40 ms. Linux acknowledges each of the first segments, and
 * goes back to that after the 40 ms and after losses: so the client reads often, and says it again each time. */
static void delay_acknowledgements(struct connection *connection) {
    if (delaying_acknowledgements) set_option(connection->client, IPPROTO_TCP, TCP_QUICKACK, 0);
}

static void receive(struct connection *connection) {
    const struct application *application = connection->application;
    ssize_t got = discard(connection->client);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
        fail(connection, got ? strerror(errno) : "a server closed its connection");
        return;
    }
    connection->down_read += got;
    delay_acknowledgements(connection);
    if (application->received) application->received(connection);
    struct mark mark;
    while (take_mark(&connection->written, connection->down_read, &mark)) application->reached(connection, &mark);
    set_low_water(connection);
}

static void refused(struct connection *connection) {
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(connection->client, SOL_SOCKET, SO_ERROR, &error, &length);
    fail(connection, strerror(error));
    close_connection(connection);
}

static void client_event(void *data, uint32_t events) {
    struct connection *connection = data;
    if (connection->client < 0) return;
    if (!connection->connected && events & EPOLLERR) {
        refused(connection);
        return;
    }
    if (!connection->connected) {
        connection->connected = true;
        connection->application->established(connection);
        delay_acknowledgements(connection);
    }
    if (events & EPOLLIN) receive(connection);
}

/* Make a connection with this initial window, to be opened. Its client's port tells the server which it is. */
struct connection *make_connection(const struct application *application, int iw) {
    connections = with_room(connections, count, &room, sizeof *connections);
    struct connection *connection = connections[count] = zeroed(1, application->size);
    *connection = (struct connection){.application = application, .index = count++, .client = make_socket(),
                                      .server = -1, .batch = ZEROS, .wake_at = INT64_MAX, .lowat = 1, .opened = now(), .port = take_port(connection)};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = client_address(iw),
                                  .sin_port = htons((uint16_t)connection->port)};
    if (bind(connection->client, (struct sockaddr *)&address, sizeof address) < 0) die("bind");
    return connection;
}

void open_connection(struct connection *connection, in_addr_t server) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(HTTP_PORT), .sin_addr.s_addr = server};
    if (connect(connection->client, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS)
        die("connect");
    connection->client_handler = (struct handler){client_event, connection};
    watch(EPOLL_CTL_ADD, connection->client, EPOLLIN | EPOLLOUT | EPOLLET, &connection->client_handler);
}

void close_connection(struct connection *connection) {
    if (connection->client >= 0) close(connection->client);
    if (connection->server >= 0) close(connection->server);
    connection->client = connection->server = -1;
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Close the descriptors of all connections, each run of numbers by one call. */
static void close_descriptors(void) {
    int *open = zeroed(2 * count + 1, sizeof *open), left = 0;
    for (int i = 0; i < count; i++) {
        if (connections[i]->client >= 0) open[left++] = connections[i]->client;
        if (connections[i]->server >= 0) open[left++] = connections[i]->server;
    }
    qsort(open, (size_t)left, sizeof *open, ascending);
    for (int first = 0, last; first < left; first = last + 1) {
        for (last = first; last + 1 < left && open[last + 1] == open[last] + 1;) last++;
        if (close_range((unsigned)open[first], (unsigned)open[last], 0) < 0) die("close_range");
    }
    free(open);
}

void close_all(void) {
    close_descriptors();
    for (int i = 0; i < count; i++) {
        by_port[connections[i]->port - FIRST_PORT] = NULL;
        free(connections[i]->requested.items);
        free(connections[i]->written.items);
        free(connections[i]->streams.items);
        free(connections[i]->spans);
        free_losses(&connections[i]->losses);
        free(connections[i]);
    }
    count = next_port = 0;
}
