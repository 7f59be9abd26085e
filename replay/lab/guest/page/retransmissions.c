#include "page/retransmissions.h"
#include "transport/tcp.h"

static void remember(struct retransmissions *count, const struct tcp_info *info) {
    count->looked_at = this_event();
    count->segments = info->tcpi_total_retrans;
    count->bytes = (int64_t)info->tcpi_bytes_retrans;
}

/* Begin when the server has accepted; the client is to wake at the end of the first window. */
void begin_counting(struct retransmissions *count, struct connection *connection, int window) {
    struct tcp_info info;
    get_info(connection->server, &info);
    remember(count, &info);
    count->snd_cwnd = info.tcpi_snd_cwnd;
    connection->losses.segment_bytes = info.tcpi_snd_mss;
    count->handshake_us = info.tcpi_rtt;
    connection->wake_at = (int64_t)window * info.tcpi_snd_mss;
}

/* Learn what the server has sent again by now; once per event is enough. */
void look(struct retransmissions *count, const struct connection *connection) {
    if (count->looked_at == this_event()) return;
    struct tcp_info info;
    get_info(connection->server, &info);
    remember(count, &info);
}

void check_first_window(struct retransmissions *count, struct connection *connection) {
    if (count->first_window_ended || connection->down_read < connection->wake_at) return;
    look(count, connection);
    count->first_window_ended = true;
    count->bytes_in_first_window = count->bytes;
    connection->wake_at = INT64_MAX;
}

void add_to_totals(struct totals *totals, const struct retransmissions *count, const struct connection *connection) {
    struct tcp_info info;
    get_info(connection->server, &info);
    int64_t initial = count->first_window_ended ? count->bytes_in_first_window : (int64_t)info.tcpi_bytes_retrans;
    totals->connections++;
    totals->initial_loss += initial > 0;
    totals->initial_bytes_again += initial;
    totals->payload_bytes += connection->down_read;
    totals->segments_sent += info.tcpi_data_segs_out;
    totals->segments_retransmitted += info.tcpi_total_retrans;
    totals->bytes_retransmitted += (int64_t)info.tcpi_bytes_retrans;
    totals->segments_dropped += connection->losses.segments_dropped;
    totals->bytes_dropped += connection->losses.bytes_dropped;
    totals->segments_spurious += connection->losses.segments_spurious;
    totals->bytes_spurious += connection->losses.bytes_spurious;
    if (count->handshake_us > totals->handshake_max_us) totals->handshake_max_us = count->handshake_us;
    if (!totals->snd_cwnd_min || count->snd_cwnd < totals->snd_cwnd_min) totals->snd_cwnd_min = count->snd_cwnd;
}
