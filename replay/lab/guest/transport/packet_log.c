#include "transport/packet_log.h"
#include "loop/failure.h"
#include "transport/spans.h"
#include "transport/tcp.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/ip.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

enum {
    FRAME = 128, /* bytes: the log's own header, IP's and TCP's */
    BLOCK = 1 << 16,
    BLOCKS = 128,
    FRAMES = BLOCK / FRAME * BLOCKS,
};

bool logging_packets;
static uint8_t *ring;
static int next;
static nanoseconds from_real_time;

static nanoseconds clock_of(clockid_t id) {
    struct timespec time;
    clock_gettime(id, &time);
    return (nanoseconds)time.tv_sec * SECOND + time.tv_nsec;
}

void open_packet_log(void) {
    if (logging_packets) return;
    int version = TPACKET_V2, on = 1;
    struct tpacket_req request = {.tp_block_size = BLOCK, .tp_block_nr = BLOCKS, .tp_frame_size = FRAME,
                                  .tp_frame_nr = FRAMES};
    struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP),
                                  .sll_ifindex = (int)if_nametoindex("client-eth0")};
    int log = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (log < 0 || setsockopt(log, SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0 ||
        setsockopt(log, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) < 0 ||
        setsockopt(log, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) < 0)
        die("packet log");
    ring = mmap(NULL, (size_t)BLOCK * BLOCKS, PROT_READ | PROT_WRITE, MAP_SHARED, log, 0);
    if (ring == MAP_FAILED || bind(log, (struct sockaddr *)&address, sizeof address) < 0) die("packet log");
    from_real_time = clock_of(CLOCK_MONOTONIC) - clock_of(CLOCK_REALTIME);
    logging_packets = true;
}

static void arrived(struct connection *connection, int64_t from, int64_t to, nanoseconds time) {
    for (int i = span_behind(connection, from); i < connection->span_count && connection->spans[i].from < to; i++)
        connection->application->arrived(connection, connection->spans[i].object, time);
}

static void take(const struct iphdr *ip, nanoseconds time) {
    if (ip->protocol != IPPROTO_TCP) return;
    const struct tcphdr *tcp = (const struct tcphdr *)((const uint8_t *)ip + ip->ihl * 4);
    struct connection *connection = connection_of(ntohs(tcp->dest));
    if (!connection || !connection->application->arrived) return;
    if (tcp->syn) connection->down_isn = ntohl(tcp->seq);
    int64_t bytes = ntohs(ip->tot_len) - ip->ihl * 4 - tcp->doff * 4;
    int64_t from = (uint32_t)(ntohl(tcp->seq) - connection->down_isn - 1);
    if (bytes > 0) arrived(connection, from, from + bytes, time);
}

void read_packet_log(void) {
    for (; logging_packets; next = (next + 1) % FRAMES) {
        struct tpacket2_hdr *header = (struct tpacket2_hdr *)(ring + (size_t)next * FRAME);
        if (!(__atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) return;
        if (header->tp_status & TP_STATUS_LOSING) failure = "the packet log lost packets";
        take((const struct iphdr *)((uint8_t *)header + header->tp_net),
             (nanoseconds)header->tp_sec * SECOND + header->tp_nsec + from_real_time);
        __atomic_store_n(&header->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    }
}
