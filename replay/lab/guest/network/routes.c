#include "network/routes.h"
#include "loop/failure.h"
#include "network/hosts.h"
#include "network/netlink.h"

#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PREFIX = 8 }; /* all hosts are on one link: 10.0.0.0/8 */

static int netlink;

static void set_link(int device, const uint8_t *mac) {
    struct request request;
    struct ifinfomsg *link = begin(&request, RTM_NEWLINK, 0, sizeof *link);
    *link = (struct ifinfomsg){.ifi_family = AF_UNSPEC, .ifi_index = device, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    attribute(&request, IFLA_ADDRESS, mac, 6);
    commit(netlink, &request, "link");
}

static void add_address(int device, in_addr_t address) {
    struct request request;
    struct ifaddrmsg *message = begin(&request, RTM_NEWADDR, NLM_F_CREATE, sizeof *message);
    *message = (struct ifaddrmsg){.ifa_family = AF_INET, .ifa_prefixlen = PREFIX, .ifa_index = (uint32_t)device};
    attribute(&request, IFA_LOCAL, &address, sizeof address);
    attribute(&request, IFA_ADDRESS, &address, sizeof address);
    commit(netlink, &request, "address");
}

/* Set the initial window, the quantity under study: `ip route add ADDRESS dev DEVICE initcwnd WINDOW`. */
static void add_route(int device, in_addr_t address, uint32_t window) {
    struct request request;
    struct rtmsg *route = begin(&request, RTM_NEWROUTE, NLM_F_CREATE, sizeof *route);
    *route = (struct rtmsg){.rtm_family = AF_INET, .rtm_dst_len = 32, .rtm_table = RT_TABLE_MAIN,
                            .rtm_protocol = RTPROT_STATIC, .rtm_scope = RT_SCOPE_LINK, .rtm_type = RTN_UNICAST};
    attribute(&request, RTA_DST, &address, sizeof address);
    attribute(&request, RTA_OIF, &device, sizeof device);
    struct rtattr *metrics = attribute(&request, RTA_METRICS, NULL, 0);
    attribute(&request, RTAX_INITCWND, &window, sizeof window);
    end_nested(&request, metrics);
    commit(netlink, &request, "route");
}

/* Permanent: an ARP exchange would delay the first measurement. */
static void add_neighbour(int device, in_addr_t address, const uint8_t *mac) {
    struct request request;
    struct ndmsg *neighbour = begin(&request, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, sizeof *neighbour);
    *neighbour = (struct ndmsg){.ndm_family = AF_INET, .ndm_ifindex = device, .ndm_state = NUD_PERMANENT};
    attribute(&request, NDA_DST, &address, sizeof address);
    attribute(&request, NDA_LLADDR, mac, 6);
    commit(netlink, &request, "neighbour");
}

static void mac_of(int index, uint8_t *mac) {
    uint8_t made[6] = {2, 0, 0, 0, (uint8_t)(index >> 8), (uint8_t)index};
    memcpy(mac, made, 6);
}

void configure_interface(int index, const int *windows, int window_count) {
    char name[IF_NAMESIZE + 8];
    uint8_t mac[6];
    snprintf(name, sizeof name, "%s-eth0", hosts[index].name);
    int device = (int)if_nametoindex(name);
    netlink = open_netlink();
    if (!device) die(name);
    mac_of(index, mac);
    set_link(device, mac);
    if (index) add_address(device, server_address(index));
    for (int i = 0; i < window_count; i++) {
        if (!index) {
            add_address(device, client_address(windows[i]));
            mac_of(FIRST_ORIGIN, mac);
            add_route(device, upload_address(windows[i]), (uint32_t)windows[i] % ALIAS);
            add_neighbour(device, upload_address(windows[i]), mac);
            continue;
        }
        if (index == FIRST_ORIGIN) add_address(device, upload_address(windows[i]));
        mac_of(0, mac);
        add_route(device, client_address(windows[i]), (uint32_t)windows[i] % ALIAS);
        add_neighbour(device, client_address(windows[i]), mac);
    }
    for (int other = 1; !index && other < host_count; other++) {
        mac_of(other, mac);
        add_neighbour(device, server_address(other), mac);
    }
    close(netlink);
}

/* Have the client's connections from now on begin with a receive window of so many segments; 0: with what its buffer holds. The
 * caller is in the client's namespace. */
void set_receive_window(uint32_t segments) {
    struct request request;
    int device = (int)if_nametoindex("client-eth0"), client = open_netlink();
    struct rtmsg *route = begin(&request, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, sizeof *route);
    in_addr_t servers = htonl(0x0a000000);
    *route = (struct rtmsg){.rtm_family = AF_INET, .rtm_dst_len = PREFIX, .rtm_table = RT_TABLE_MAIN,
                            .rtm_protocol = RTPROT_STATIC, .rtm_scope = RT_SCOPE_LINK, .rtm_type = RTN_UNICAST};
    attribute(&request, RTA_DST, &servers, sizeof servers);
    attribute(&request, RTA_OIF, &device, sizeof device);
    if (segments) {
        struct rtattr *metrics = attribute(&request, RTA_METRICS, NULL, 0);
        attribute(&request, RTAX_INITRWND, &segments, sizeof segments);
        end_nested(&request, metrics);
    }
    if (!device) die("client-eth0");
    commit(client, &request, "receive window");
    close(client);
}
