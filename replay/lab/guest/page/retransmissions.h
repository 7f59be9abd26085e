/* What a server's end sent again, for one connection and for all of a page. */
#pragma once

#include "transport/connection.h"

struct retransmissions {
    bool first_window_ended;              /* whether the client has all of it */
    int64_t bytes_in_first_window, bytes; /* sent again: until the first window ended, by the last look */
    uint32_t segments, snd_cwnd, handshake_us;
    uint64_t looked_at; /* the event */
};

struct totals {
    int connections, initial_loss;
    int64_t initial_bytes_again, payload_bytes, segments_sent, segments_retransmitted, bytes_retransmitted;
    int64_t segments_dropped, bytes_dropped, segments_spurious, bytes_spurious;
    uint32_t snd_cwnd_min, handshake_max_us;
};

void begin_counting(struct retransmissions *count, struct connection *connection, int window);
void look(struct retransmissions *count, const struct connection *connection);
void check_first_window(struct retransmissions *count, struct connection *connection);
void add_to_totals(struct totals *totals, const struct retransmissions *count, const struct connection *connection);
