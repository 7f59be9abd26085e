#include "network/qdiscs.h"
#include "loop/failure.h"
#include "loop/memory.h"
#include "network/hosts.h"
#include "network/netlink.h"

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    NETEM_PRNG_SEED = 14,   /* TCA_NETEM_PRNG_SEED, which Debian 12's headers lack */
    NEVER_DROPS = 1000000,  /* packets: more than are ever in flight */
};

static struct line {
    const char *interface;
    int netlink, index;
    bool made;
} lines[] = {{.interface = "s2-eth1"}, {.interface = "client-eth0"}};

static int bottleneck, bottleneck_netlink;
static nanoseconds one_way;
static double loss, mean_burst;

/* The caller is in the namespace where the line begins; line 0 leads down to the client, line 1 up from it. */
void find_delay_line(int which) {
    lines[which].netlink = open_netlink();
    lines[which].index = (int)if_nametoindex(lines[which].interface);
    if (!lines[which].index) die(lines[which].interface);
}

static uint32_t share_of_all(double share) { return (uint32_t)(share * 4294967295.0); }

/* Add losses in runs of geometric length (Gilbert): every packet of the bad state is lost. */
static void add_bursts(struct request *request) {
    double leave = 1 / mean_burst;
    struct tc_netem_gemodel model = {.p = share_of_all(leave * loss / (1 - loss)), .r = share_of_all(leave)};
    struct rtattr *nested = attribute(request, TCA_NETEM_LOSS | NLA_F_NESTED, NULL, 0);
    attribute(request, NETEM_LOSS_GE, &model, sizeof model);
    end_nested(request, nested);
}

/* Set the delay and the losses of a line; its seed is that of its losses. */
static void set_line(struct line *line, nanoseconds delay, double share, uint64_t seed) {
    struct request request;
    uint16_t flags = line->made ? 0 : NLM_F_CREATE | NLM_F_REPLACE;
    struct tcmsg *tc = begin(&request, RTM_NEWQDISC, flags, sizeof *tc);
    *tc = (struct tcmsg){.tcm_family = AF_UNSPEC, .tcm_ifindex = line->index, .tcm_parent = TC_H_ROOT};
    attribute(&request, TCA_KIND, "netem", sizeof "netem");
    bool bursts = share > 0 && mean_burst > 1;
    struct tc_netem_qopt options = {.limit = NEVER_DROPS, .loss = bursts ? 0 : share_of_all(share)};
    struct rtattr *nested = attribute(&request, TCA_OPTIONS, &options, sizeof options);
    attribute(&request, TCA_NETEM_LATENCY64, &delay, sizeof delay);
    attribute(&request, NETEM_PRNG_SEED, &seed, sizeof seed);
    if (bursts) add_bursts(&request);
    end_nested(&request, nested);
    commit(line->netlink, &request, line->interface);
    line->made = true;
}

static void set_lines(double share, uint64_t seed) {
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) set_line(&lines[i], one_way, share, seed + i);
}

/* Set the delay of each direction. All servers lie at the end of the line until their distances are set. */
void set_delay(nanoseconds delay, double share, double burst) {
    for (int host = FIRST_ORIGIN; host < host_count; host++) set_distance(host, 0);
    one_way = delay;
    set_losses(share, burst);
}

void set_losses(double share, double burst) {
    loss = share;
    mean_burst = burst;
    set_lines(loss, 0);
}

nanoseconds round_trip(void) { return 2 * one_way; }

/* Make the losses from now on independent of all that was sent before. */
void seed_losses(uint64_t seed) {
    if (loss > 0) set_lines(loss, seed);
}

/* Lose nothing until the losses are next set or seeded: for the calibration of a topology. */
void lose_nothing(void) {
    if (loss > 0) set_lines(0, 0);
}

/* Each server's distance stands on the bridge's port that leads to it, which is no sender's own queue: there TCP would count the
 * packets that wait for what it has sent, and hold more back. */
static struct port {
    struct line line;
    char interface[24];
    nanoseconds distance;
} *ports;

/* The caller is in the bridges' namespace. */
void find_ports(void) {
    ports = zeroed(host_count, sizeof *ports);
    for (int host = FIRST_ORIGIN; host < host_count; host++) {
        struct port *port = &ports[host];
        snprintf(port->interface, sizeof port->interface, "s2-eth%d", host + 1); /* s2-eth1 leads to the client */
        port->line = (struct line){.interface = port->interface, .netlink = bottleneck_netlink,
                                   .index = (int)if_nametoindex(port->interface)};
        if (!port->line.index) die(port->interface);
    }
}

/* Put a server further away, by a round trip that the way up to it takes. */
void set_distance(int host, nanoseconds distance) {
    if (ports[host].distance == distance) return;
    ports[host].distance = distance;
    set_line(&ports[host].line, distance, 0, 0);
}

/* The caller is in the bridges' namespace. */
void find_bottleneck(void) {
    bottleneck_netlink = open_netlink();
    bottleneck = (int)if_nametoindex("s1-eth1");
    if (!bottleneck) die("bottleneck");
}

static char discipline[16] = "tail-drop";
static uint32_t target_us, interval_us;

void set_discipline(const char *name, uint32_t target, uint32_t interval) {
    snprintf(discipline, sizeof discipline, "%s", name);
    target_us = target;
    interval_us = interval;
}

static void add_number(struct request *request, uint16_t type, uint32_t number) {
    attribute(request, type, &number, sizeof number);
}

/* By flows alone: CAKE is not to take the client's addresses, one for each initial window, for clients. */
static void add_cake(struct request *request) {
    enum { MEMORY = 1 << 25 };
    add_number(request, TCA_CAKE_DIFFSERV_MODE, CAKE_DIFFSERV_BESTEFFORT);
    add_number(request, TCA_CAKE_FLOW_MODE, CAKE_FLOW_FLOWS);
    add_number(request, TCA_CAKE_TARGET, target_us);
    add_number(request, TCA_CAKE_RTT, interval_us);
    add_number(request, TCA_CAKE_MEMORY, MEMORY);
}

static void add_fq_codel(struct request *request) {
    add_number(request, TCA_FQ_CODEL_TARGET, target_us);
    add_number(request, TCA_FQ_CODEL_INTERVAL, interval_us);
}

/* Put a new queue in the place of the shaper's, as it was before any packet; a queue with tail drop has no memory. */
void renew_discipline(void) {
    enum { SHAPER = 5 << 16, ONE = 6 << 16, OTHER = 7 << 16 }; /* handles; the shaper's is topology.py's */
    static uint32_t handle = OTHER;
    struct request request;
    if (strcmp(discipline, "tail-drop") == 0) return;
    struct tcmsg *tc = begin(&request, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, sizeof *tc);
    handle = handle == ONE ? OTHER : ONE; /* under its own handle it would be changed, not renewed */
    *tc = (struct tcmsg){.tcm_family = AF_UNSPEC, .tcm_ifindex = bottleneck, .tcm_parent = SHAPER | 1,
                         .tcm_handle = handle};
    attribute(&request, TCA_KIND, discipline, strlen(discipline) + 1);
    struct rtattr *nested = attribute(&request, TCA_OPTIONS, NULL, 0);
    if (strcmp(discipline, "cake") == 0) add_cake(&request);
    else add_fq_codel(&request);
    end_nested(&request, nested);
    commit(bottleneck_netlink, &request, discipline);
}

int bottleneck_device(void) { return bottleneck; }

uint64_t bottleneck_drops(void) {
    struct { struct nlmsghdr header; struct tcmsg tc; } ask = {
        .header = {.nlmsg_len = sizeof ask, .nlmsg_type = RTM_GETQDISC, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO},
        .tc = {.tcm_family = AF_UNSPEC, .tcm_ifindex = bottleneck, .tcm_parent = TC_H_ROOT}};
    static _Alignas(struct nlmsghdr) char answer[16384];
    if (send(bottleneck_netlink, &ask, sizeof ask, 0) < 0) die("bottleneck");
    ssize_t length = recv(bottleneck_netlink, answer, sizeof answer, 0);
    struct nlmsghdr *header = (struct nlmsghdr *)answer;
    if (length < 0 || !NLMSG_OK(header, length) || header->nlmsg_type != RTM_NEWQDISC) die("qdisc");
    struct tcmsg *tc = NLMSG_DATA(header);
    int left = (int)(header->nlmsg_len - NLMSG_LENGTH(sizeof *tc));
    for (struct rtattr *a = TCA_RTA(tc); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if ((a->rta_type & NLA_TYPE_MASK) != TCA_STATS2) continue;
        int inner = (int)RTA_PAYLOAD(a);
        for (struct rtattr *b = RTA_DATA(a); RTA_OK(b, inner); b = RTA_NEXT(b, inner))
            if (b->rta_type == TCA_STATS_QUEUE) return ((struct gnet_stats_queue *)RTA_DATA(b))->drops;
    }
    die("qdisc without statistics");
}
