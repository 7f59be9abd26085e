#include "transport/retransmission_log.h"
#include "loop/failure.h"
#include "transport/spans.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEPT = 65535 };

/* The kernel lays its log out like this (kernel/shown-retransmissions.patch). */
struct sent_again {
    uint64_t from; /* bytes of the stream before it */
    uint32_t bytes;
    uint16_t port, unused;
};
struct log {
    uint64_t count, unused;
    struct sent_again latest[KEPT];
};

static const volatile struct log *shown; /* NULL: this kernel shows none */
static uint64_t seen;

/* Map the log; a host's kernel has none. */
void find_retransmission_log(void) {
    int descriptor = open("/proc/tcp_retransmissions", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    shown = mmap(NULL, sizeof *shown, PROT_READ, MAP_SHARED, descriptor, 0);
    if (shown == MAP_FAILED) die("/proc/tcp_retransmissions");
    close(descriptor);
    seen = shown->count;
}

bool has_retransmission_log(void) { return shown != NULL; }

/* A client's retransmission names the server's port, which no connection has: it is passed over. */
static void take(struct sent_again again) {
    struct connection *connection = connection_of(again.port);
    if (!connection || !connection->application->sent_again) return;
    int64_t from = (int64_t)again.from, to = from + again.bytes;
    for (int i = span_behind(connection, from); i < connection->span_count && connection->spans[i].from < to; i++)
        connection->application->sent_again(connection, connection->spans[i].object);
}

void read_retransmission_log(void) {
    if (!shown || seen == shown->count) return;
    if (shown->count - seen > KEPT) {
        failure = "more was sent again at once than the kernel's log holds";
        seen = shown->count;
    }
    for (; seen != shown->count; seen++) {
        const volatile struct sent_again *entry = &shown->latest[seen % KEPT];
        take((struct sent_again){.from = entry->from, .bytes = entry->bytes, .port = entry->port});
    }
}
