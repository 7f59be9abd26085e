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
    count->in_handshake = info.tcpi_total_retrans;
    count->snd_cwnd = info.tcpi_snd_cwnd;
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

/* Data segments that were sent again and had not been lost. Lost are those that were sent and are not at the client: once all
 * responses are there, what is still on its way counts as lost, though it is spurious too. */
static int64_t spurious(const struct retransmissions *count, const struct connection *connection,
                        const struct tcp_info *server) {
    struct tcp_info client;
    int64_t again = (int64_t)server->tcpi_total_retrans - count->in_handshake;
    if (!again) return 0;
    get_info(connection->client, &client);
    int64_t lost = (int64_t)server->tcpi_data_segs_out - client.tcpi_data_segs_in;
    return lost < again ? again - lost : 0;
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
    totals->segments_spurious += spurious(count, connection, &info);
    totals->bytes_retransmitted += (int64_t)info.tcpi_bytes_retrans;
    if (!totals->snd_cwnd_min || count->snd_cwnd < totals->snd_cwnd_min) totals->snd_cwnd_min = count->snd_cwnd;
}
