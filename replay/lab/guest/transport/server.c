#include "transport/server.h"
#include "loop/failure.h"
#include "loop/memory.h"
#include "network/hosts.h"
#include "transport/spans.h"
#include "transport/tcp.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct listener {
    int descriptor;
    struct handler handler;
} *listeners;

/* Have EPOLLOUT tell from now on when the send buffer has room; most servers never need it. */
static void await_room(struct connection *connection) {
    if (connection->awaits_room) return;
    connection->awaits_room = true;
    watch(EPOLL_CTL_MOD, connection->server, EPOLLIN | EPOLLOUT | EPOLLET, &connection->server_handler);
}

/* Mark the places of a part that begins at `at`; those of a whole record are all reached at its end, so the last tells. */
static void mark_places(struct connection *connection, const struct part *part, int64_t at, int64_t record_end) {
    const struct places *places = &part->places;
    for (int i = record_end && places->count ? places->count - 1 : 0; i < places->count; i++)
        append_mark(&connection->written, (struct mark){.at = record_end ? record_end : at + places->at[i] - part->from,
                                                        .object = part->object, .place = places->at[i]});
    if (part->last)
        append_mark(&connection->written, (struct mark){.at = record_end ? record_end : at + part->bytes,
                                                        .object = part->object, .last = true});
}

/* Put the next `bytes` of the streams, behind the head of their record, into the ledger. */
static void enter_record(struct connection *connection, int64_t head, int64_t bytes) {
    int64_t from = connection->down_written, at = from + head, end = at + bytes;
    connection->record_left = head + bytes;
    while (at < end) {
        struct part part = take_part(&connection->streams, end - at);
        mark_places(connection, &part, at, head && whole_records ? end : 0);
        at += part.bytes;
        note_span(connection, part.object, from, at);
        from = at;
    }
}

/* Begin a record, or clear text of at most `bytes`. Tickets and SETTINGS have their records' heads in their size. */
static void enter_next(struct connection *connection, int64_t bytes) {
    int64_t left = bytes_left(&connection->streams), control = connection->streams.control;
    if (connection->records.sizes && !control) {
        enter_record(connection, RECORD_OVERHEAD_BYTES, begin_record(&connection->records, now(), left));
        return;
    }
    int64_t clear = control ? control : left;
    enter_record(connection, 0, clear < bytes ? clear : bytes);
}

/* Enter into the ledger what `bytes` handed to TCP belong to. A record that has begun keeps its contents. */
static void enter(struct connection *connection, int64_t bytes) {
    while (bytes > 0) {
        if (!connection->record_left) enter_next(connection, bytes);
        int64_t step = bytes < connection->record_left ? bytes : connection->record_left;
        connection->record_left -= step;
        connection->down_written += step;
        bytes -= step;
    }
}

/* What is ready for TCP, records included, as far as one batch holds it. */
static int64_t ready_bytes(const struct connection *connection) {
    int64_t ready = connection->record_left, left = bytes_left(&connection->streams);
    if (!connection->records.sizes) return ready + left;
    struct records next = connection->records;
    ready += connection->streams.control;
    left -= connection->streams.control;
    while (left > 0 && ready <= connection->batch) {
        int64_t bytes = begin_record(&next, now(), left);
        ready += bytes + RECORD_OVERHEAD_BYTES;
        left -= bytes;
    }
    return ready;
}

/* Write as much of the connection's streams as TCP takes. */
void write_responses(struct connection *connection) {
    int64_t ready;
    while ((ready = ready_bytes(connection)) > 0) {
        int64_t batch = ready < connection->batch ? ready : connection->batch;
        int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (ready > batch ? MSG_MORE : 0);
        ssize_t sent = send(connection->server, zeros, (size_t)batch, flags);
        if (sent < 0 && errno != EAGAIN) {
            fail(connection, strerror(errno));
            break;
        }
        enter(connection, sent);
        if (sent < batch) {
            await_room(connection);
            break;
        }
    }
    set_low_water(connection);
}

static void server_event(void *data, uint32_t events) {
    struct connection *connection = data;
    if (connection->server < 0) return;
    ssize_t got = events & EPOLLIN ? discard(connection->server) : 0;
    if (got < 0 && errno != EAGAIN) fail(connection, strerror(errno));
    if (got > 0) connection->up_read += got;
    struct mark mark;
    while (take_mark(&connection->requested, connection->up_read, &mark))
        connection->application->asked(connection, mark.object);
    write_responses(connection);
}

/* Accept one connection: while others wait, the listener stays ready. */
static void accept_one(void *data, uint32_t events) {
    const struct listener *listener = data;
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    (void)events;
    int server = accept4(listener->descriptor, (struct sockaddr *)&address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (server < 0) die("accept");
    struct connection *connection = connection_of(ntohs(address.sin_port));
    if (!connection || connection->client < 0) {
        close(server); /* its client has ended meanwhile */
        return;
    }
    connection->server = server;
    if (connection->application->accepted) connection->application->accepted(connection);
    connection->server_handler = (struct handler){server_event, connection};
    watch(EPOLL_CTL_ADD, server, EPOLLIN | EPOLLET, &connection->server_handler);
}

/* The caller is in the host's namespace. */
void listen_at(int host) {
    if (!listeners) listeners = zeroed(host_count, sizeof *listeners);
    struct listener *listener = &listeners[host];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(HTTP_PORT)};
    listener->descriptor = make_socket();
    set_option(listener->descriptor, IPPROTO_TCP, TCP_NODELAY, 1); /* accepted sockets inherit it, and SO_LINGER */
    if (bind(listener->descriptor, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(listener->descriptor, 1024) < 0)
        die(hosts[host].name);
    listener->handler = (struct handler){accept_one, listener};
    watch(EPOLL_CTL_ADD, listener->descriptor, EPOLLIN, &listener->handler);
}

/* Set the origins' congestion control from now on; the background keeps Linux's default. */
void set_congestion_control(const char *name) {
    for (int i = FIRST_ORIGIN; i < host_count; i++) set_control(listeners[i].descriptor, name);
}

/* Set what the send buffers of the origins' connections hold at first, from now on; 0: what the kernel gives (tcp_wmem). */
void set_send_buffers(int bytes) {
    static int kernels, current;
    if (bytes == current) return;
    if (!kernels) kernels = send_buffer(listeners[FIRST_ORIGIN].descriptor);
    for (int i = FIRST_ORIGIN; i < host_count; i++) set_send_buffer(listeners[i].descriptor, bytes ? bytes : kernels);
    current = bytes;
}
