/* One page load: what is asked for when, over which connection. */
#include "player.h"

#include <inttypes.h>
#include <stdio.h>

static struct page *page;
static int window, left;
static nanoseconds began, document_first, document_last, last;

struct object *object_at(int index) { return &page->objects[index]; }

bool load_is_done(void) { return left == 0; }

static int connections_on_the_way(const struct origin *origin) {
    int count = 0;
    for (int i = 0; i < origin->connection_count; i++) count += !origin->connections[i]->ready;
    return count;
}

static void send_waiting(struct connection *connection) {
    struct origin *origin = connection->origin;
    while (origin->waiting_first < origin->waiting_end && (origin->h2 || !connection->busy)) {
        int index = origin->waiting[origin->waiting_first++];
        connection->busy = true;
        page->objects[index].sent = now();
        send_request(connection, index, page->objects[index].request_bytes,
                     origin->h2 && origin->waiting_first < origin->waiting_end);
    }
}

/* A free connection takes the next request; while requests wait, connections are opened for them. */
static void pump(struct origin *origin) {
    for (int i = 0; i < origin->connection_count; i++)
        if (origin->connections[i]->ready) send_waiting(origin->connections[i]);
    int limit = origin->h2 ? 1 : H1_CONNECTIONS;
    int lacking = origin->waiting_end - origin->waiting_first - connections_on_the_way(origin);
    for (; lacking > 0 && origin->connection_count < limit; lacking--) {
        /* Host 0 is the client, host 1 serves the background. A page of more origins than hosts shares them. */
        int host = 2 + (int)(origin - page->origins) % (host_count - 2);
        struct connection *opened = open_connection(host, window, origin);
        origin->connections[origin->connection_count++] = opened;
    }
}

static void ask_for_children(int parent) {
    for (int i = 0; i < page->object_count; i++) {
        if (page->objects[i].parent != parent) continue;
        page->objects[i].wanted = now();
        struct origin *origin = &page->origins[page->objects[i].origin];
        origin->waiting[origin->waiting_end++] = i;
    }
    for (int i = 0; i < page->origin_count; i++) pump(&page->origins[i]);
}

void begin_load(struct page *which, int iw, nanoseconds time) {
    page = which;
    window = iw;
    reset_page(page);
    left = page->object_count;
    began = time;
    document_first = document_last = last = 0;
    ask_for_children(-1);
}

void connection_is_ready(struct connection *connection) { send_waiting(connection); }

void response_began(int index, nanoseconds time) {
    if (page->objects[index].document) document_first = time;
}

void response_ended(struct connection *connection, int index, nanoseconds time) {
    struct object *object = &page->objects[index];
    object->done = true;
    object->last_byte = last = time;
    look(connection);
    object->retransmitted = connection->retransmitted > object->retransmitted_before;
    connection->responses++;
    if (!connection->origin->h2) connection->busy = false;
    left--;
    if (object->document) document_last = time;
    ask_for_children(index);
}

/* Each by its times since the load began: wanted, asked for, first and last byte; its flights; whether its
 * connection sent anything again meanwhile. */
static void print_responses(void) {
    if (!tapping) return;
    printf("@{\"each\": [");
    for (int i = 0; i < page->object_count; i++) {
        const struct object *object = &page->objects[i];
        printf("%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%d,%d]", i ? "," : "", object->wanted - began,
               object->sent - began, object->first_byte - began, object->last_byte - began, object->flights,
               object->retransmitted);
    }
    printf("]}\n");
}

/* All of its line but the end, which its neighbours have. */
void print_load(const char *id, uint64_t drops, int64_t rivals_bytes) {
    print_responses();
    struct totals totals = {0};
    for (int i = 0; i < opened_connections(); i++) {
        struct connection *connection = connection_at(i);
        if (connection->origin && connection->responses) settle(connection, &totals);
    }
    for (int i = 0; i < page->object_count; i++) {
        totals.responses++;
        totals.responses_retransmitted += page->objects[i].retransmitted;
    }
    printf("@{\"cell\": \"%s\", \"page_ns\": %" PRId64 ", \"document_ns\": %" PRId64 ", \"first_byte_ns\": %" PRId64
           ", \"payload_bytes\": %" PRId64 ", \"responses\": %d, \"responses_retransmitted\": %d"
           ", \"connections\": %d, \"connections_initial_loss\": %d, \"bytes_initial_loss\": %" PRId64
           ", \"segments_sent\": %" PRId64
           ", \"segments_retransmitted\": %" PRId64 ", \"bytes_retransmitted\": %" PRId64
           ", \"bottleneck_drops\": %" PRIu64 ", \"snd_cwnd_min\": %u, \"competition_bytes\": %" PRId64,
           id, last - began, document_last - began, document_first - began, totals.payload_bytes, totals.responses,
           totals.responses_retransmitted, totals.connections, totals.initial_loss, totals.initial_bytes_again,
           totals.segments_sent, totals.segments_retransmitted, totals.bytes_retransmitted, drops, totals.snd_cwnd_min,
           rivals_bytes);
}
