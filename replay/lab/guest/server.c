/* The server's end of a connection: what it is asked for, and in which turns it answers. */
#define _GNU_SOURCE
#include "connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void watch(const struct connection *connection, int what, uint32_t events) {
    struct epoll_event event = {.events = events | EPOLLET, .data.u64 = 2ull << 32 | (uint32_t)connection->index};
    if (epoll_ctl(epoll_descriptor, what, connection->server, &event) < 0) die("epoll_ctl");
}

/* From now on EPOLLOUT comes when there is room again; most servers never need it. */
static void await_room(struct connection *connection) {
    if (connection->awaits_room) return;
    connection->awaits_room = true;
    watch(connection, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
}

/* One at a time: while others wait, the listener stays ready. */
void accept_one(int listener) {
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    int server = accept4(listener, (struct sockaddr *)&address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (server < 0) die("accept");
    int index = ntohs(address.sin_port) - FIRST_CLIENT_PORT;
    if (index < 0 || index >= opened_connections() || connection_at(index)->client < 0) {
        close(server); /* of a flow that has ended meanwhile */
        return;
    }
    struct connection *connection = connection_at(index);
    connection->server = server;
    if (connection->origin && connection->origin->h2)
        set_option(server, IPPROTO_TCP, TCP_NOTSENT_LOWAT, H2_BATCH_BYTES);
    if (connection->size == ENDLESS) set_option(server, IPPROTO_TCP, TCP_NOTSENT_LOWAT, ZEROS);
    if (connection->origin || connection->size < 0) { /* nobody asks of the others */
        struct tcp_info info;
        get_info(server, &info);
        connection->snd_cwnd = info.tcpi_snd_cwnd;
        connection->snd_mss = info.tcpi_snd_mss;
        connection->first_window = info.tcpi_snd_wnd;
        remember(connection, &info);
    }
    if (connection->upload) /* sleep until all of it is here */
        set_option(server, SOL_SOCKET, SO_RCVLOWAT, (int)connection->request_bytes);
    else
        set_sender(connection, server);
    watch(connection, EPOLL_CTL_ADD, EPOLLIN);
}

/* Between its responses H1 sends nothing, nor before the first one without TLS. */
static uint32_t retransmitted_before(struct connection *connection) {
    bool has_been_idle = !connection->origin->h2 && (connection->responses || !connection->origin->tls_flight_bytes);
    if (!has_been_idle) look(connection);
    return connection->retransmitted;
}

static void begin_stream(struct connection *connection, int object) {
    if (connection->stream_count == connection->stream_room) {
        connection->stream_room = connection->stream_room ? 2 * connection->stream_room : 4;
        connection->streams =
            realloc(connection->streams, (size_t)connection->stream_room * sizeof *connection->streams);
        if (!connection->streams) die("memory");
    }
    int64_t size = connection->size < 0 ? -connection->size : connection->size;
    if (object >= 0) {
        size = object_at(object)->response_bytes;
        object_at(object)->retransmitted_before = retransmitted_before(connection);
    }
    connection->streams[connection->stream_count++] = (struct stream){object, size, size};
}

/* Bytes that one call hands to TCP: H1 all of its one response, H2 a few turns of its streams. */
static int64_t next_batch(const struct connection *connection) {
    int64_t all = connection->control_bytes;
    for (int i = 0; i < connection->stream_count; i++) all += connection->streams[i].left;
    int64_t limit = connection->origin && connection->origin->h2 ? H2_BATCH_BYTES : (int64_t)ZEROS;
    return all < limit ? all : limit;
}

static void write_control(struct connection *connection, int64_t *bytes) {
    int64_t part = *bytes < connection->control_bytes ? *bytes : connection->control_bytes;
    if (!part) return;
    connection->control_bytes -= part;
    connection->down_written += part;
    *bytes -= part;
    if (!connection->control_bytes && connection->tls_flight_due && !connection->ready)
        append_mark(&connection->written, connection->down_written, HELLO, TLS_END);
}

/* Enter into the ledger whose bytes were sent: in turn, a frame of each stream. */
static void enter(struct connection *connection, int64_t bytes) {
    write_control(connection, &bytes);
    while (bytes > 0) {
        struct stream *stream = &connection->streams[connection->turn % connection->stream_count];
        int64_t part = stream->left < H2_FRAME_BYTES ? stream->left : H2_FRAME_BYTES;
        if (part > bytes) part = bytes;
        if (stream->left == stream->size && stream->object >= 0 && object_at(stream->object)->document)
            append_mark(&connection->written, connection->down_written + 1, stream->object, RESPONSE_FIRST);
        note_span(connection, stream->object, part);
        stream->left -= part;
        connection->down_written += part;
        bytes -= part;
        if (stream->left) {
            connection->turn = (connection->turn + 1) % connection->stream_count;
            continue;
        }
        append_mark(&connection->written, connection->down_written, stream->object, RESPONSE_END);
        int index = (int)(stream - connection->streams);
        connection->stream_count--;
        memmove(stream, stream + 1, (size_t)(connection->stream_count - index) * sizeof *stream);
        connection->turn = connection->stream_count ? index % connection->stream_count : 0;
    }
}

static void write_down(struct connection *connection) {
    int64_t batch;
    while ((batch = next_batch(connection)) > 0) {
        int64_t left = connection->control_bytes;
        for (int i = 0; i < connection->stream_count; i++) left += connection->streams[i].left;
        ssize_t sent = send(connection->server, zeros, (size_t)batch,
                            MSG_NOSIGNAL | MSG_DONTWAIT | (left > batch ? MSG_MORE : 0));
        if (sent < 0) {
            if (errno == EAGAIN)
                await_room(connection);
            else if (connection->origin)
                failure = strerror(errno);
            break;
        }
        enter(connection, sent);
        if (sent < batch) {
            await_room(connection);
            break;
        }
    }
    retarget(connection);
}

static void requested(struct connection *connection, int object) {
    if (object == HELLO) {
        connection->control_bytes += connection->origin->tls_flight_bytes;
        return;
    }
    if (object >= 0 && !connection->answering) {
        connection->answering = true;
        connection->control_bytes += connection->origin->tls_after_bytes;
    }
    if (thinking && object >= 0 && object_at(object)->think)
        think_about(connection, object, now() + object_at(object)->think);
    else
        begin_stream(connection, object);
}

void answer(struct connection *connection, int object) {
    begin_stream(connection, object);
    write_down(connection);
}

void server_event(struct connection *connection, uint32_t events) {
    if (connection->server < 0) return;
    ssize_t got = events & EPOLLIN ? discard(connection->server) : 0;
    if (got < 0 && errno != EAGAIN && connection->origin) failure = strerror(errno);
    if (got > 0) connection->up_read += got;
    struct marks *asked = &connection->requested;
    while (asked->first < asked->end && asked->items[asked->first].at <= connection->up_read)
        requested(connection, asked->items[asked->first++].object);
    write_down(connection);
}
