/* The network that Mininet made, as this process sees it: its hosts' namespaces, and one qdisc. */
#define _GNU_SOURCE
#include "netlink.h"
#include "player.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define BOTTLENECK "s1-eth1"

struct host *hosts;
int host_count, epoll_descriptor, offloads_on;
static int netlink, bottleneck_index, randomness;

_Noreturn void die(const char *what) {
    fprintf(stderr, "player: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Be a host: a process in a network namespace of its own, for Mininet to name. */
_Noreturn void hold(void) {
    if (unshare(CLONE_NEWNET) < 0 || write(STDOUT_FILENO, "\n", 1) != 1) die("hold");
    for (;;) pause();
}

static void enter_namespace(int pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/net", pid);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || setns(descriptor, CLONE_NEWNET) < 0) die(path);
    close(descriptor);
}

/* Segmentation offloads make one packet of many, and queues count packets. */
static void offloads_off(void) {
    static const struct { uint32_t get, set; } offloads[] = {
        {ETHTOOL_GTSO, ETHTOOL_STSO}, {ETHTOOL_GGSO, ETHTOOL_SGSO}, {ETHTOOL_GGRO, ETHTOOL_SGRO}};
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct if_nameindex *all = if_nameindex();
    if (any < 0 || !all) die("interfaces");
    for (struct if_nameindex *one = all; one->if_index; one++) {
        if (!strchr(one->if_name, '-')) continue; /* lo and the bridges themselves send nothing */
        for (size_t i = 0; i < sizeof offloads / sizeof *offloads; i++) {
            struct ethtool_value value = {.cmd = offloads[i].set, .data = 0};
            struct ifreq request = {.ifr_data = (void *)&value};
            snprintf(request.ifr_name, sizeof request.ifr_name, "%s", one->if_name);
            ioctl(any, SIOCETHTOOL, &request);
            value = (struct ethtool_value){.cmd = offloads[i].get, .data = 1};
            if (ioctl(any, SIOCETHTOOL, &request) < 0 || value.data) offloads_on++;
        }
    }
    if_freenameindex(all);
    close(any);
}

static void set_sysctl(const char *name, const char *value) {
    char path[128];
    snprintf(path, sizeof path, "/proc/sys/net/%s", name);
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0 || write(descriptor, value, strlen(value)) < 0) die(path);
    close(descriptor);
}

/* Of all TCP together, where it is ours to say: a namespace on a host has no such file. */
static void allow_memory(void) {
    if (access("/proc/sys/net/ipv4/tcp_mem", W_OK) == 0) set_sysctl("ipv4/tcp_mem", "262144 524288 1048576");
}

/* Its own packets would be in the queue. */
static void silence_ipv6(void) {
    if (access("/proc/sys/net/ipv6", F_OK) < 0) return;
    set_sysctl("ipv6/conf/all/disable_ipv6", "1");
    set_sysctl("ipv6/conf/default/disable_ipv6", "1");
}

/* Of the namespace that we are in. Buffers so large that neither end's memory ever limits a flow. */
static void tune_tcp(void) {
    set_sysctl("ipv4/tcp_no_metrics_save", "1");
    set_sysctl("ipv4/tcp_slow_start_after_idle", "1");
    set_sysctl("ipv4/tcp_rmem", "4096 33554432 67108864");
    set_sysctl("ipv4/tcp_wmem", "4096 16777216 67108864");
    set_sysctl("ipv4/tcp_fastopen", "0");
}

static int listen_here(int index) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(HTTP_PORT)};
    struct linger abort_on_close = {.l_onoff = 1, .l_linger = 0};
    int on = 1; /* what is accepted inherits both */
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 ||
        setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0 ||
        setsockopt(listener, SOL_SOCKET, SO_LINGER, &abort_on_close, sizeof abort_on_close) < 0 ||
        listen(listener, 1024) < 0)
        die(hosts[index].name);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)index};
    if (epoll_ctl(epoll_descriptor, EPOLL_CTL_ADD, listener, &event) < 0) die("epoll_ctl");
    return listener;
}

/* Of all that origins accept from now on; the background stays with Linux's default. */
void set_congestion_control(const char *name) {
    for (int i = 2; i < host_count; i++)
        if (setsockopt(hosts[i].listener, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)) < 0) die(name);
}

/* Arguments: NAME:PID:ADDRESS of every host; the first is the client, where we stay. */
void enter_world(int argc, char **argv, const int *windows, int window_count) {
    host_count = argc;
    hosts = calloc((size_t)argc, sizeof *hosts);
    epoll_descriptor = epoll_create1(EPOLL_CLOEXEC);
    netlink = open_netlink();
    randomness = open("/dev/urandom", O_WRONLY | O_CLOEXEC);
    bottleneck_index = (int)if_nametoindex(BOTTLENECK);
    if (!hosts || epoll_descriptor < 0 || randomness < 0 || !bottleneck_index) die("start");
    allow_memory();
    offloads_off();
    find_delay_line(0);
    for (int i = 0; i < argc; i++)
        if (sscanf(argv[i], "%15[^:]:%d:%15s", hosts[i].name, &hosts[i].pid, hosts[i].address) != 3) die(argv[i]);
    for (int i = argc - 1; i >= 0; i--) {
        enter_namespace(hosts[i].pid);
        silence_ipv6();
        tune_tcp();
        offloads_off();
        wire(i, windows, window_count);
        if (i) hosts[i].listener = listen_here(i);
        if (i == 1) open_probe_sender();
    }
    open_probe_receiver();
    find_delay_line(1);
}

/* Of the client: any that was not made permanent was asked for by ARP. */
int learned_neighbours(void) {
    FILE *table = fopen("/proc/net/arp", "re");
    char line[256];
    int count = 0;
    unsigned flags;
    if (!table) die("/proc/net/arp");
    while (fgets(line, sizeof line, table))
        if (sscanf(line, "%*s %*s %x", &flags) == 1) count += !(flags & ATF_PERM);
    fclose(table);
    return count;
}

/* What the kernel draws from now on, as for when BBR probes, depends on nothing that was before.
 * That is so in our kernel (kernel/same-randomness.patch); others mix it in with the rest. */
void seed_kernel(uint64_t seed) {
    if (write(randomness, &seed, sizeof seed) != sizeof seed) die("/dev/urandom");
}

uint64_t bottleneck_drops(void) {
    struct { struct nlmsghdr header; struct tcmsg tc; } ask = {
        .header = {.nlmsg_len = sizeof ask, .nlmsg_type = RTM_GETQDISC, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO},
        .tc = {.tcm_family = AF_UNSPEC, .tcm_ifindex = bottleneck_index, .tcm_parent = TC_H_ROOT}};
    static _Alignas(struct nlmsghdr) char answer[16384];
    if (send(netlink, &ask, sizeof ask, 0) < 0) die("netlink");
    ssize_t length = recv(netlink, answer, sizeof answer, 0);
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
