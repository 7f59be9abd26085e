#include "page/load.h"
#include "loop/failure.h"
#include "loop/memory.h"
#include "network/hosts.h"
#include "network/qdiscs.h"
#include "page/discovery.h"
#include "page/handshake.h"
#include "page/holding_back.h"
#include "page/later.h"
#include "page/name_resolution.h"
#include "page/retransmissions.h"
#include "page/senders.h"
#include "transport/losses.h"
#include "transport/packet_log.h"
#include "transport/server.h"
#include "transport/spans.h"
#include "transport/tcp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    H1_CONNECTIONS = 6,     /* that a browser opens to one host at most */
    HELLO = -1,             /* the TLS handshake, in place of an object */
};

static struct origin_state {
    const struct origin *recipe;
    int host;
    int first_waiting, last_waiting, waiting; /* objects without a connection, in order of asking */
    struct http_connection *connections[H1_CONNECTIONS];
    int connection_count;
} *origins;

/* What is known of each response. */
static struct object_state {
    int next_waiting;
    bool retransmitted, own_retransmitted;
    uint32_t retransmitted_before;
    nanoseconds wanted, sent, last_byte;
    nanoseconds first_byte, last_packet; /* from the packet log, as are the flights */
    int flights;
} *objects;

struct http_connection {
    struct connection tcp;
    struct origin_state *origin;
    bool ready, busy, has_answered;
    int trips, requests, responses; /* trips: of the TLS handshake, begun */
    struct retransmissions again;
};

struct policy policy = {WINDOW_IN_FORCE, SENT_AT_ONCE, -1};
bool delaying_answers, prioritising, by_alias;
int most_unsent_bytes;
static const struct page *page;
static int left; /* of the responses from servers */
static nanoseconds began, document_first, document_last, last;

bool load_is_done(void) { return left == 0; }

static bool is_h2(const struct http_connection *http) { return http->origin->recipe->h2; }
static bool is_cached(int index) { return page->objects[index].response_bytes == 0; }

static int number_of(const struct http_connection *http) { return (int)(http->origin - origins); }

static int unready_connections(const struct origin_state *origin) {
    int count = 0;
    for (int i = 0; i < origin->connection_count; i++) count += !origin->connections[i]->ready;
    return count;
}

static void send_waiting(struct http_connection *http) {
    struct origin_state *origin = http->origin;
    while (origin->waiting && (is_h2(http) || !http->busy)) {
        int index = origin->first_waiting;
        origin->first_waiting = objects[index].next_waiting;
        origin->waiting--;
        http->busy = true;
        objects[index].sent = now();
        int64_t bytes = page->objects[index].request_bytes;
        if (http->requests++ == 0) bytes += bytes_with_first_request(origin->recipe);
        send_request(&http->tcp, index, bytes, is_h2(http) && origin->waiting);
    }
}

static const struct application http_application;

static void open_http(struct origin_state *origin) {
    struct http_connection *http = (struct http_connection *)make_connection(
        &http_application, route_window_of((int)(origin - origins), &policy) + (by_alias ? ALIAS : 0));
    http->origin = origin;
    origin->connections[origin->connection_count++] = http;
    if (is_h2(http)) {
        if (most_unsent_bytes) http->tcp.batch = most_unsent_bytes; /* given to TCP at once: later streams wait behind no more */
        set_option(http->tcp.client, IPPROTO_TCP, TCP_NODELAY, 1); /* H1 asks when all before is acknowledged */
    }
    open_connection(&http->tcp, server_address(origin->host));
}

static void resolved(struct connection *connection, int origin);

/* Give waiting requests to free connections, and open connections for the rest. */
static void pump(struct origin_state *origin) {
    for (int i = 0; i < origin->connection_count; i++)
        if (origin->connections[i]->ready) send_waiting(origin->connections[i]);
    int limit = origin->recipe->h2 ? 1 : H1_CONNECTIONS;
    int lacking = origin->waiting - unready_connections(origin);
    if (lacking > 0 && !resolve((int)(origin - origins), resolved)) return;
    for (; lacking > 0 && origin->connection_count < limit; lacking--) open_http(origin);
}

static void resolved(struct connection *connection, int origin) {
    (void)connection;
    pump(&origins[origin]);
}

/* Returns 1 if the browser has a connection over HTTP/2 to the object's host. */
static bool is_known_for_h2(int index) {
    const struct origin_state *origin = &origins[page->objects[index].origin];
    return origin->recipe->h2 && origin->connection_count > unready_connections(origin);
}

static void await_connection(int index) {
    struct origin_state *origin = &origins[page->objects[index].origin];
    if (origin->waiting++) objects[origin->last_waiting].next_waiting = index;
    else origin->first_waiting = index;
    origin->last_waiting = index;
}

static void have_all(int index);

static void want(int index) {
    objects[index].wanted = now();
    if (is_cached(index)) have_all(index);
    else if (!hold_back(index, is_known_for_h2(index))) await_connection(index);
}

static void want_late(struct connection *connection, int index) {
    (void)connection;
    want(index);
    pump(&origins[page->objects[index].origin]);
}

static void want_in_time(int index) {
    if (delay_of(index)) do_later(now() + delay_of(index), want_late, NULL, index);
    else want(index);
}

/* Ask for the children that the first `place` bytes of their parent lead to. */
static void ask_for_children(int parent, int64_t place) {
    for (int child; (child = find_child(parent, place)) >= 0;)
        if (!must_wait(child)) want_in_time(child);
    for (int i = 0; i < page->origin_count; i++) pump(&origins[i]);
}

/* All of an object is there: ask for what waited for it, and for what it leads to. */
static void have_all(int index) {
    for (int waited; (waited = end_waiting(index)) >= 0;) want_in_time(waited);
    ask_for_children(index, INT64_MAX);
}

void begin_load(const struct page *which, nanoseconds time) {
    page = which;
    left = page->requested;
    began = time;
    document_first = document_last = last = 0;
    free(origins);
    free(objects);
    origins = zeroed(page->origin_count, sizeof *origins);
    objects = zeroed(page->object_count, sizeof *objects);
    for (int i = 0; i < page->origin_count; i++) /* more origins than hosts share them */
        origins[i] = (struct origin_state){.recipe = &page->origins[i], .host = FIRST_ORIGIN + i % (host_count - FIRST_ORIGIN)};
    begin_discovery(page);
    begin_holding_back(page);
    begin_name_resolution(page);
    ask_for_children(-1, 1);
}

/* The connection, or a round trip of its TLS handshake, is there. */
static void established(struct connection *connection) {
    struct http_connection *http = (struct http_connection *)connection;
    http->ready = http->trips == handshake_trips(http->origin->recipe);
    if (http->ready) send_waiting(http);
    else send_request(connection, HELLO, hello_bytes(http->trips++), false);
}

static void accepted(struct connection *connection) {
    struct http_connection *http = (struct http_connection *)connection;
    if (is_h2(http) && most_unsent_bytes) set_option(connection->server, IPPROTO_TCP, TCP_NOTSENT_LOWAT, most_unsent_bytes);
    begin_counting(&http->again, connection, set_sender_of(number_of(http), connection->server, &policy));
}

static void queue_answer(struct connection *connection, int index) {
    struct http_connection *http = (struct http_connection *)connection;
    /* Between its responses H1 sends nothing, nor before the first one without TLS. */
    bool has_been_idle = !is_h2(http) && (http->responses || !http->origin->recipe->tls_flight_bytes);
    if (!has_been_idle) look(&http->again, connection);
    objects[index].retransmitted_before = http->again.segments;
    const struct object *object = &page->objects[index];
    add_stream(&connection->streams, index, object->response_bytes, places_of(index),
               prioritising ? object->priority : no_priority);
}

static void answer_late(struct connection *connection, int index) {
    queue_answer(connection, index);
    write_responses(connection);
}

static void asked(struct connection *connection, int index) {
    struct http_connection *http = (struct http_connection *)connection;
    const struct origin *origin = http->origin->recipe;
    if (index == HELLO) {
        add_stream(&connection->streams, HELLO, server_flight_bytes(origin, http->trips - 1), (struct places){0}, no_priority);
        return;
    }
    if (!http->has_answered) connection->streams.control += bytes_before_first_answer(origin);
    if (!http->has_answered && origin->tls_flight_bytes) connection->records.sizes = sizes_of(&origin->records);
    http->has_answered = true;
    nanoseconds delay = delaying_answers ? page->objects[index].server_delay : 0;
    if (delay) do_later(now() + delay, answer_late, connection, index);
    else queue_answer(connection, index);
}

static void received(struct connection *connection) {
    check_first_window(&((struct http_connection *)connection)->again, connection);
}

static void response_ended(struct http_connection *http, int index) {
    struct object_state *object = &objects[index];
    object->last_byte = last = now();
    look(&http->again, &http->tcp);
    object->retransmitted = http->again.segments > object->retransmitted_before;
    http->responses++;
    if (!is_h2(http)) http->busy = false;
    left--;
    end_request(index);
    if (page->objects[index].document) document_last = last;
    for (int held; (held = release_one(is_known_for_h2)) >= 0;) await_connection(held);
    have_all(index);
}

static void reached(struct connection *connection, const struct mark *mark) {
    struct http_connection *http = (struct http_connection *)connection;
    if (mark->object == HELLO) {
        established(connection);
        return;
    }
    if (page->objects[mark->object].document && !document_first) document_first = now();
    if (mark->last) response_ended(http, mark->object);
    else ask_for_children(mark->object, mark->place);
}

/* A segment of a response has arrived; one after half a round trip of silence begins a flight. */
static void arrived(struct connection *connection, int index, nanoseconds time) {
    struct object_state *object = &objects[index];
    nanoseconds pause = (round_trip() + distance_of(number_of((struct http_connection *)connection))) / 2;
    if (!object->flights) object->first_byte = time;
    if (!object->flights || time - object->last_packet > pause) object->flights++;
    object->last_packet = time;
}

static void sent_again(struct connection *connection, int64_t from, int64_t bytes) {
    int64_t end = from + bytes;
    for (int i = span_behind(connection, from); i < connection->span_count && connection->spans[i].from < end; i++)
        objects[connection->spans[i].object].own_retransmitted = true;
}

static void failed(struct connection *connection, const char *why) {
    (void)connection;
    failure = why;
}

static const struct application http_application = {
    .size = sizeof(struct http_connection), .established = established, .accepted = accepted, .asked = asked,
    .received = received, .reached = reached, .arrived = arrived, .sent_again = sent_again, .failed = failed};

/* Print for each response from a server when it was wanted, asked for, and its first and last byte arrived, since the load began;
 * its flights; whether its connection sent anything again meanwhile. */
static void print_responses(void) {
    const char *separator = "@{\"each\": [";
    for (int i = 0; i < page->object_count; i++) {
        const struct object_state *object = &objects[i];
        if (is_cached(i)) continue;
        printf("%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%d,%d]", separator, object->wanted - began, object->sent - began,
               object->first_byte - began, object->last_byte - began, object->flights, object->retransmitted);
        separator = ",";
    }
    printf("]}\n");
}

/* Print the load's line without its end, which the short flows and the probe print. */
void print_load(const char *id, uint64_t drops, int64_t competition_bytes) {
    if (logging_packets) print_responses();
    struct totals by_sender[SENDERS] = {0}, totals = {0};
    int responses_retransmitted = 0, own_retransmitted = 0;
    nanoseconds latencies = 0, render_blocking = document_first;
    for (int i = 0; i < page->origin_count; i++)
        for (int j = 0; j < origins[i].connection_count; j++) {
            const struct http_connection *http = origins[i].connections[j];
            if (!http->responses) continue;
            struct totals before = totals, *sender = &by_sender[sender_of(i)];
            add_to_totals(&totals, &http->again, &http->tcp);
            sender->payload_bytes += totals.payload_bytes - before.payload_bytes;
            sender->bytes_retransmitted += totals.bytes_retransmitted - before.bytes_retransmitted;
            if (sender_of(i) == HTTP3) { /* its window is no policy's */
                totals.snd_cwnd_min = before.snd_cwnd_min;
                totals.handshake_max_us = before.handshake_max_us;
            }
        }
    for (int i = 0; i < page->object_count; i++) {
        const struct object_state *object = &objects[i];
        responses_retransmitted += object->retransmitted;
        own_retransmitted += object->own_retransmitted;
        latencies += object->last_byte - object->sent;
        if (page->objects[i].render_blocking && object->last_byte > render_blocking) render_blocking = object->last_byte;
    }
    printf("@{\"cell\": \"%s\", \"page_ns\": %" PRId64 ", \"document_ns\": %" PRId64 ", \"first_byte_ns\": %" PRId64
           ", \"render_blocking_ns\": %" PRId64 ", \"response_latency_ns\": %" PRId64
           ", \"payload_bytes\": %" PRId64 ", \"responses\": %d, \"responses_retransmitted\": %d"
           ", \"connections\": %d, \"connections_initial_loss\": %d, \"bytes_initial_loss\": %" PRId64
           ", \"segments_sent\": %" PRId64 ", \"segments_retransmitted\": %" PRId64
           ", \"bytes_retransmitted\": %" PRId64 ", \"bottleneck_drops\": %" PRIu64 ", \"snd_cwnd_min\": %u"
           ", \"competition_bytes\": %" PRId64,
           id, last - began, document_last - began, document_first - began, render_blocking - began,
           latencies / page->requested, totals.payload_bytes, page->requested,
           responses_retransmitted, totals.connections, totals.initial_loss, totals.initial_bytes_again,
           totals.segments_sent, totals.segments_retransmitted, totals.bytes_retransmitted, drops, totals.snd_cwnd_min,
           competition_bytes);
    static const char *senders[] = {[AT_ONCE] = "at_once", [PACED] = "paced", [BBR] = "bbr", [HTTP3] = "http3"};
    for (int i = 0; senders_differ && i < SENDERS; i++)
        printf(", \"payload_bytes_%s\": %" PRId64 ", \"bytes_retransmitted_%s\": %" PRId64, senders[i],
               by_sender[i].payload_bytes, senders[i], by_sender[i].bytes_retransmitted);
    if (totals.handshake_max_us) printf(", \"handshake_max_ns\": %" PRIu32 "000", totals.handshake_max_us);
    if (!has_losses()) return;
    printf(", \"responses_own_retransmitted\": %d, \"segments_dropped\": %" PRId64 ", \"bytes_dropped\": %" PRId64
           ", \"segments_spurious\": %" PRId64 ", \"bytes_spurious\": %" PRId64,
           own_retransmitted, totals.segments_dropped, totals.bytes_dropped, totals.segments_spurious, totals.bytes_spurious);
}
