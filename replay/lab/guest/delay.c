/* The delay lines, one each way, and what is lost on them: by netlink, since Debian 12's tc knows no seed of
 * netem's, and without one the same cell would lose other packets each time. */
#define _GNU_SOURCE
#include "netlink.h"
#include "player.h"

#include <linux/pkt_sched.h>
#include <net/if.h>
#include <unistd.h>

enum {
    NETEM_PRNG_SEED = 14,   /* TCA_NETEM_PRNG_SEED, which Debian 12's headers lack */
    NEVER_DROPS = 1000000,  /* packets: more than are ever on their way */
};

static struct line {
    const char *interface;
    int netlink, index;
    bool made;
} lines[] = {{.interface = "s2-eth1"}, {.interface = "client-eth0"}};

static nanoseconds one_way;
static double loss, mean_burst;

/* In the namespace where the line begins: 0 is down's, 1 is up's. */
void find_delay_line(int which) {
    lines[which].netlink = open_netlink();
    lines[which].index = (int)if_nametoindex(lines[which].interface);
    if (!lines[which].index) die(lines[which].interface);
}

static uint32_t share_of_all(double share) { return (uint32_t)(share * 4294967295.0); }

/* Losses in runs of geometric length (Gilbert): every packet of the bad state is lost. */
static void add_bursts(struct request *request) {
    double leave = 1 / mean_burst;
    struct tc_netem_gemodel model = {.p = share_of_all(leave * loss / (1 - loss)), .r = share_of_all(leave)};
    struct rtattr *nested = attribute(request, TCA_NETEM_LOSS | NLA_F_NESTED, NULL, 0);
    attribute(request, NETEM_LOSS_GE, &model, sizeof model);
    end_nested(request, nested);
}

static void set_line(struct line *line, uint64_t seed) {
    struct request request;
    uint16_t flags = line->made ? 0 : NLM_F_CREATE | NLM_F_REPLACE;
    struct tcmsg *tc = begin(&request, RTM_NEWQDISC, flags, sizeof *tc);
    *tc = (struct tcmsg){.tcm_family = AF_UNSPEC, .tcm_ifindex = line->index, .tcm_parent = TC_H_ROOT};
    attribute(&request, TCA_KIND, "netem", sizeof "netem");
    bool bursts = loss > 0 && mean_burst > 1;
    struct tc_netem_qopt options = {.limit = NEVER_DROPS, .loss = bursts ? 0 : share_of_all(loss)};
    struct rtattr *nested = attribute(&request, TCA_OPTIONS, &options, sizeof options);
    attribute(&request, TCA_NETEM_LATENCY64, &one_way, sizeof one_way);
    attribute(&request, NETEM_PRNG_SEED, &seed, sizeof seed);
    if (bursts) add_bursts(&request);
    end_nested(&request, nested);
    commit(line->netlink, &request, line->interface);
    line->made = true;
}

void set_delay(nanoseconds delay, double share, double burst) {
    one_way = delay;
    set_losses(share, burst);
}

void set_losses(double share, double burst) {
    loss = share;
    mean_burst = burst;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) set_line(&lines[i], i);
}

nanoseconds round_trip(void) { return 2 * one_way; }

/* What is lost from now on depends on nothing that was before. */
void seed_losses(uint64_t seed) {
    if (loss > 0)
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) set_line(&lines[i], seed + i);
}

/* While a topology is calibrated. */
void lose_nothing(void) {
    double share = loss;
    if (loss <= 0) return;
    loss = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) set_line(&lines[i], 0);
    loss = share;
}
