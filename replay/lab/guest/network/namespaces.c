#include "network/namespaces.h"
#include "loop/failure.h"
#include "network/hosts.h"
#include "network/qdiscs.h"
#include "network/routes.h"

#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int offloads_on;

/* Hold a network namespace of its own for Mininet, which names it by this process. */
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

/* Switch segmentation offloads off: they merge packets, and queues count packets. */
static void offloads_off(void) {
    static const struct { uint32_t get, set; } offloads[] = {
        {ETHTOOL_GTSO, ETHTOOL_STSO}, {ETHTOOL_GGSO, ETHTOOL_SGSO}, {ETHTOOL_GGRO, ETHTOOL_SGRO}};
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct if_nameindex *all = if_nameindex();
    if (any < 0 || !all) die("interfaces");
    for (struct if_nameindex *one = all; one->if_index; one++) {
        if (!strchr(one->if_name, '-')) continue; /* lo and the bridges send nothing themselves */
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

/* Raise the limit of all TCP memory; a namespace on a host has no such file, nor the next one. */
static void allow_memory(void) {
    if (access("/proc/sys/net/ipv4/tcp_mem", W_OK) == 0) set_sysctl("ipv4/tcp_mem", "262144 524288 1048576");
}

/* Switch IPv6 off: its own packets would stand in the queue. */
static void silence_ipv6(void) {
    if (access("/proc/sys/net/ipv6", F_OK) < 0) return;
    set_sysctl("ipv6/conf/all/disable_ipv6", "1");
    set_sysctl("ipv6/conf/default/disable_ipv6", "1");
}

/* Put off the upkeep of the neighbour tables for as long as a guest lives: every 300 s it draws a random time for each
 * interface. All draws of a measurement are to be its own, such as when BBR probes, however old the guest is. */
static void put_off_neighbours_upkeep(void) {
    if (access("/proc/sys/net/ipv4/neigh/default", F_OK) == 0)
        set_sysctl("ipv4/neigh/default/base_reachable_time_ms", "2147483647");
}

/* Tune the current namespace. Buffers are so large that neither end's memory ever limits a flow. */
static void tune_tcp(void) {
    set_sysctl("ipv4/tcp_no_metrics_save", "1");
    set_sysctl("ipv4/tcp_slow_start_after_idle", "1");
    set_sysctl("ipv4/tcp_rmem", "4096 33554432 67108864");
    set_sysctl("ipv4/tcp_wmem", "4096 16777216 67108864");
    set_sysctl("ipv4/tcp_fastopen", "0");
}

/* Configure every host's namespace and end in the client's, host 0. `in_namespace` is called in each. */
void enter_namespaces(const int *windows, int window_count, void (*in_namespace)(int host)) {
    allow_memory();
    put_off_neighbours_upkeep();
    offloads_off();
    find_delay_line(0);
    for (int i = host_count - 1; i >= 0; i--) {
        enter_namespace(hosts[i].pid);
        silence_ipv6();
        tune_tcp();
        offloads_off();
        configure_interface(i, windows, window_count);
        in_namespace(i);
    }
    find_delay_line(1);
}

/* Count the ARP entries of the client that are not permanent: the client had to ask for their addresses. */
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
