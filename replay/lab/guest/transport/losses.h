/* What queues and the path lost of servers' streams, and what was sent again, with a loss for a reason or without: by the kernel's log
 * of it, in memory shared with it (kernel/shown-losses.patch). TCP_INFO tells how much a connection sent again, not which bytes and
 * not why. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A packet of a server's that was lost on the way, or is sent again, as the kernel has it. */
struct packet {
    uint64_t from; /* sent again: bytes of the stream before it */
    uint32_t seq, bytes;
    uint16_t port;   /* the client's */
    uint16_t device; /* whose queue lost it; 0: it is sent again */
    uint32_t unused;
};

/* Ranges of bytes, in order and apart from one another. */
struct ranges {
    struct range {
        int64_t from, end;
    } *items;
    int count, room;
};

/* One connection's. Ranges count from the first packet of the log. */
struct losses {
    uint32_t segment_bytes; /* of a full segment */
    bool has_first;
    uint32_t first_seq;
    struct ranges missing, spared; /* no copy arrives; one does, and yet it was sent again */
    int64_t segments_dropped, bytes_dropped;   /* by the bottleneck's queue */
    int64_t segments_spurious, bytes_spurious; /* sent again although a copy arrives */
};

void find_losses(void);
bool has_losses(void);
void read_losses(void);
void free_losses(struct losses *losses);
