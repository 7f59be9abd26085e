/* One TCP connection: its opening, the client's end, and what became of it. */
#define _GNU_SOURCE
#include "connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define LARGEST_READ (1 << 26)
#define FAR_AWAY (1 << 24) /* the highest low-water mark */

int window_of_cell;
const char *failure;
bool pacing;

static struct connection **connections;
static int count, room;
const char zeros[ZEROS];

int opened_connections(void) { return count; }

struct connection *connection_at(int index) { return connections[index]; }

void get_info(int descriptor, struct tcp_info *info) {
    socklen_t length = sizeof *info;
    memset(info, 0, sizeof *info);
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, &length) < 0) die("TCP_INFO");
}

/* What the server has sent again by now; of one event, one look will do. */
void look(struct connection *connection) {
    if (connection->looked_at == this_event()) return;
    struct tcp_info info;
    get_info(connection->server, &info);
    remember(connection, &info);
}

void remember(struct connection *connection, const struct tcp_info *info) {
    connection->looked_at = this_event();
    connection->retransmitted = info->tcpi_total_retrans;
    connection->bytes_again = (int64_t)info->tcpi_bytes_retrans;
}

void set_option(int descriptor, int level, int name, int value) {
    if (setsockopt(descriptor, level, name, &value, sizeof value) < 0) die("setsockopt");
}

/* Of what this end sends. Paced, it leaves at the pace of the window and not in bursts (no limit of ours is reached). */
void set_sender(const struct connection *connection, int descriptor) {
    const char *name = connection->control;
    if (name && setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)) < 0) die(name);
    uint64_t unreached = UINT64_C(1) << 40;
    bool is_paced = pacing && (connection->origin || (connection->flow && connection->size != ENDLESS));
    if (is_paced && setsockopt(descriptor, SOL_SOCKET, SO_MAX_PACING_RATE, &unreached, sizeof unreached) < 0)
        die("SO_MAX_PACING_RATE");
}

/* Each initial window has a client address of its own, and every host a route to it with that `initcwnd`:
 * choosing the window costs no command. */
static void bind_client(int descriptor, int iw, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = client_address(iw);
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0) die("bind");
}

static struct connection *add_connection(void) {
    if (count == room) {
        room = room ? 2 * room : 256;
        connections = realloc(connections, (size_t)room * sizeof *connections);
        if (!connections) die("memory");
    }
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) die("memory");
    connections[count++] = connection;
    return connection;
}

/* The connection after its number: its port tells the server which it is. */
static void open_client(struct connection *connection, int iw, uint32_t server) {
    int index = count - 1;
    connection->index = index;
    connection->client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection->client < 0) die("socket");
    struct linger abort_on_close = {.l_onoff = 1, .l_linger = 0};
    setsockopt(connection->client, SOL_SOCKET, SO_LINGER, &abort_on_close, sizeof abort_on_close);
    /* Others ask once all they sent before has been acknowledged. */
    if (connection->origin && connection->origin->h2) set_option(connection->client, IPPROTO_TCP, TCP_NODELAY, 1);
    if (connection->upload) set_sender(connection, connection->client);
    bind_client(connection->client, iw, FIRST_CLIENT_PORT + index);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(HTTP_PORT), .sin_addr.s_addr = server};
    if (connect(connection->client, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS)
        die("connect");
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.u64 = 1ull << 32 | (uint32_t)index};
    if (epoll_ctl(epoll_descriptor, EPOLL_CTL_ADD, connection->client, &event) < 0) die("epoll_ctl");
}

struct connection *open_connection(int host, int iw, struct origin *origin) {
    struct connection *connection = add_connection();
    *connection = (struct connection){.host = host, .origin = origin, .server = -1, .lowat = 1,
                                       .request_bytes = REQUEST_BYTES, .opened = now()};
    open_client(connection, iw, inet_addr(hosts[host].address));
    return connection;
}

struct connection *open_flow(int host, int iw, bool upload, const char *control) {
    struct connection *connection = add_connection();
    *connection = (struct connection){.host = host, .flow = true, .upload = upload, .control = control, .server = -1,
                                       .lowat = 1, .opened = now()};
    open_client(connection, iw, upload ? upload_address(iw) : inet_addr(hosts[host].address));
    return connection;
}

void close_connection(struct connection *connection) {
    if (connection->client >= 0) close(connection->client);
    if (connection->server >= 0) close(connection->server);
    connection->client = connection->server = -1;
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Of all connections, a run of numbers by one call. */
static void close_descriptors(void) {
    int *open = malloc((size_t)(2 * count + 1) * sizeof *open), left = 0;
    if (!open) die("memory");
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
        free(connections[i]->requested.items);
        free(connections[i]->written.items);
        free(connections[i]->streams);
        free(connections[i]->spans);
        free(connections[i]);
    }
    count = 0;
    forget_thoughts();
}

static int64_t initial_window_bytes(const struct connection *connection) {
    return (int64_t)window_of_cell * connection->snd_mss;
}

/* Wake when the next thing of interest has arrived, and not for each packet. */
void retarget(struct connection *connection) {
    struct marks *written = &connection->written;
    int64_t target = written->first < written->end ? written->items[written->first].at : INT64_MAX;
    if (connection->origin && !connection->window_checked && initial_window_bytes(connection) < target)
        target = initial_window_bytes(connection);
    if (target == INT64_MAX) return; /* nothing is on its way */
    int64_t lowat = target - connection->down_read;
    if (connection->size < 0) lowat = 1; /* a sample sees each packet */
    if (lowat > FAR_AWAY) lowat = FAR_AWAY;
    if (lowat == connection->lowat) return;
    connection->lowat = lowat;
    set_option(connection->client, SOL_SOCKET, SO_RCVLOWAT, (int)lowat);
}

/* All `bytes` of zeros at once; a request always fits into an empty send buffer. */
static void send_up(struct connection *connection, int64_t bytes, bool more) {
    connection->up_sent += bytes;
    for (int64_t part; bytes > 0; bytes -= part) {
        part = bytes < (int64_t)sizeof zeros ? bytes : (int64_t)sizeof zeros;
        int flags = MSG_NOSIGNAL | (more || part < bytes ? MSG_MORE : 0);
        if (send(connection->client, zeros, (size_t)part, flags) == part) continue;
        failure = "a request did not fit into the send buffer";
        return;
    }
}

void send_request(struct connection *connection, int object, int64_t bytes, bool more) {
    if (connection->requests++ == 0 && connection->tls_flight_due) bytes += CLIENT_FINISHED_BYTES;
    send_up(connection, bytes, more);
    append_mark(&connection->requested, connection->up_sent, object, REQUEST_END);
}

static void established(struct connection *connection) {
    connection->connected = true;
    if (!connection->origin) {
        if (connection->flow || connection->size < 0) connection->established = now(); /* of others nobody asks */
        connection->ready = true;
        int what = connection->flow ? FLOW : connection->size < 0 ? SAMPLE : BACKGROUND;
        send_request(connection, what, connection->request_bytes, false);
    } else if (connection->origin->tls_flight_bytes) {
        connection->tls_flight_due = true;
        send_up(connection, CLIENT_HELLO_BYTES, false);
        append_mark(&connection->requested, connection->up_sent, HELLO, REQUEST_END);
    } else {
        connection->ready = true;
        connection_is_ready(connection);
    }
}

static void check_window(struct connection *connection) {
    if (connection->window_checked || connection->server < 0) return;
    look(connection);
    connection->window_checked = true;
    connection->initial_bytes_again = connection->bytes_again;
}

static void reached(struct connection *connection, const struct mark *mark) {
    if (mark->event == TLS_END) {
        connection->ready = true;
        connection_is_ready(connection);
    } else if (mark->object < 0) { /* of no page */
        connection->responses++;
        connection->ended = now();
    } else if (mark->event == RESPONSE_FIRST) {
        response_began(mark->object, now());
    } else {
        response_ended(connection, mark->object, now());
    }
}

static void print_arrival(const struct connection *connection) {
    printf("@{\"arrived\": %ld, \"ns\": %ld}\n", connection->down_read, now() - connection->opened);
}

/* Taken from the buffer, copied nowhere: MSG_TRUNC on TCP (tcp(7)). */
ssize_t discard(int descriptor) {
    static void *nowhere;
    if (!nowhere) nowhere = mmap(NULL, LARGEST_READ, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return recv(descriptor, nowhere, LARGEST_READ, MSG_TRUNC | MSG_DONTWAIT);
}

static void receive(struct connection *connection) {
    ssize_t got = discard(connection->client);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
        if (connection->origin) failure = got ? strerror(errno) : "a server closed its connection";
        return;
    }
    connection->down_read += got;
    if (connection->size < 0) print_arrival(connection);
    if (connection->origin && connection->down_read >= initial_window_bytes(connection)) check_window(connection);
    struct marks *written = &connection->written;
    while (written->first < written->end && written->items[written->first].at <= connection->down_read) {
        struct mark mark = written->items[written->first++];
        reached(connection, &mark);
    }
    retarget(connection);
}

static void refused(struct connection *connection) {
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(connection->client, SOL_SOCKET, SO_ERROR, &error, &length);
    if (connection->origin || connection->flow) failure = strerror(error);
    close_connection(connection);
}

void client_event(struct connection *connection, uint32_t events) {
    if (connection->client < 0) return;
    if (!connection->connected) {
        if (events & EPOLLERR) {
            refused(connection);
            return;
        }
        established(connection);
    }
    if (events & EPOLLIN) receive(connection);
    bool background = !connection->origin && !connection->flow && connection->size > 0;
    if (background && connection->responses) close_connection(connection);
}

void settle(struct connection *connection, struct totals *totals) {
    struct tcp_info info;
    get_info(connection->upload ? connection->client : connection->server, &info);
    if (!connection->window_checked) {
        connection->initial_bytes_again = (int64_t)info.tcpi_bytes_retrans;
    }
    totals->connections++;
    totals->initial_loss += connection->initial_bytes_again > 0;
    totals->initial_bytes_again += connection->initial_bytes_again;
    totals->payload_bytes += connection->down_read;
    totals->segments_sent += info.tcpi_data_segs_out;
    totals->segments_retransmitted += info.tcpi_total_retrans;
    totals->bytes_retransmitted += (int64_t)info.tcpi_bytes_retrans;
    if (!totals->snd_cwnd_min || connection->snd_cwnd < totals->snd_cwnd_min)
        totals->snd_cwnd_min = connection->snd_cwnd;
}
