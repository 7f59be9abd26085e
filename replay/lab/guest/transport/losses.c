#include "transport/losses.h"
#include "loop/failure.h"
#include "loop/memory.h"
#include "network/qdiscs.h"
#include "transport/connection.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEPT = 65535 };

/* The kernel lays its log out like this. */
struct log {
    uint64_t count, unused[2];
    struct packet latest[KEPT];
};

static const volatile struct log *shown; /* NULL: this kernel shows none */
static uint64_t seen;

/* Map the log; a host's kernel has none. */
void find_losses(void) {
    int descriptor = open("/proc/tcp_losses", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    shown = mmap(NULL, sizeof *shown, PROT_READ, MAP_SHARED, descriptor, 0);
    if (shown == MAP_FAILED) die("/proc/tcp_losses");
    close(descriptor);
    seen = shown->count;
}

bool has_losses(void) { return shown != NULL; }

void free_losses(struct losses *losses) {
    free(losses->missing.items);
    free(losses->spared.items);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Index of the first range that ends at `at` or behind it. */
static int range_at(const struct ranges *ranges, int64_t at) {
    int low = 0, high = ranges->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (ranges->items[middle].end < at) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Put `items` in the place of the ranges from `first` until before `last`. */
static void replace(struct ranges *ranges, int first, int last, const struct range *items, int count) {
    for (int needed = ranges->count; needed < ranges->count + count; needed++)
        ranges->items = with_room(ranges->items, needed, &ranges->room, sizeof *items);
    if (!ranges->items) return; /* nothing, by nothing */
    memmove(ranges->items + first + count, ranges->items + last, (size_t)(ranges->count - last) * sizeof *items);
    memcpy(ranges->items + first, items, (size_t)count * sizeof *items);
    ranges->count += count - (last - first);
}

static void add(struct ranges *ranges, int64_t from, int64_t end) {
    if (from >= end) return;
    int first = range_at(ranges, from), last = first;
    for (; last < ranges->count && ranges->items[last].from <= end; last++) {
        from = least(from, ranges->items[last].from);
        end = most(end, ranges->items[last].end);
    }
    replace(ranges, first, last, &(struct range){from, end}, 1);
}

/* Add those of the bytes that none of the others has; return how many. */
static int64_t add_rest(struct ranges *ranges, int64_t from, int64_t end, const struct ranges *others) {
    int64_t added = 0;
    for (int i = range_at(others, from); i < others->count && others->items[i].from < end; i++) {
        added += most(0, others->items[i].from - from);
        add(ranges, from, others->items[i].from);
        from = most(from, others->items[i].end);
    }
    add(ranges, from, end);
    return added + most(0, end - from);
}

static void take_out(struct ranges *ranges, int64_t from, int64_t end) {
    int first = range_at(ranges, from), last = first, count = 0;
    struct range rest[2];
    for (; last < ranges->count && ranges->items[last].from < end; last++) {
        if (ranges->items[last].from < from) rest[count++] = (struct range){ranges->items[last].from, from};
        if (ranges->items[last].end > end) rest[count++] = (struct range){end, ranges->items[last].end};
    }
    replace(ranges, first, last, rest, count);
}

/* A segment is sent again: for a loss if any of it is missing, and then it is missing no longer. */
static void send_again(struct losses *losses, int64_t from, int64_t end) {
    int64_t spared = add_rest(&losses->spared, from, end, &losses->missing);
    losses->segments_spurious += spared == end - from;
    losses->bytes_spurious += spared;
    take_out(&losses->missing, from, end);
}

/* A packet was lost: no copy of its bytes arrives but of those that were sent again although one does. It is the latest copy, since
 * a queue drops a packet long before TCP sends it again. */
static void lose(struct losses *losses, const struct packet *packet, int64_t from) {
    add_rest(&losses->missing, from, from + packet->bytes, &losses->spared);
    if (packet->device != bottleneck_device()) return;
    losses->segments_dropped++;
    losses->bytes_dropped += packet->bytes;
}

static void count(struct losses *losses, const struct packet *packet) {
    if (!losses->has_first) losses->first_seq = packet->seq;
    losses->has_first = true;
    int64_t from = (int32_t)(packet->seq - losses->first_seq), end = from + packet->bytes;
    if (packet->device) lose(losses, packet, from);
    else for (; from < end; from += losses->segment_bytes) send_again(losses, from, least(from + losses->segment_bytes, end));
}

/* A client's packet names the server's port, which no connection has: it is passed over. */
static void take(const struct packet *packet) {
    struct connection *connection = connection_of(packet->port);
    if (!connection || !connection->application->sent_again) return;
    count(&connection->losses, packet);
    if (!packet->device) connection->application->sent_again(connection, (int64_t)packet->from, packet->bytes);
}

/* Take note of what was lost and sent again since the last call. */
void read_losses(void) {
    if (!shown || seen == shown->count) return;
    if (shown->count - seen > KEPT) {
        failure = "more was lost and sent again at once than the kernel's log holds";
        seen = shown->count;
    }
    for (; seen != shown->count; seen++) {
        struct packet packet = shown->latest[seen % KEPT];
        take(&packet);
    }
}
