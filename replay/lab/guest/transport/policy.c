#include "transport/policy.h"
#include "transport/tcp.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_FLIGHT = 1001, SPREAD = 0x10000 }; /* an option of TCP's (kernel/first-flight.patch) */

/* Read WINDOW:SENDING:BEYOND_MS, such as 10:at-once:-1 or 20:spread:100; false if it is none. */
bool read_policy(const char *word, struct policy *policy) {
    static const char *names[] = {[SENT_AT_ONCE] = "at-once", [SENT_PACED] = "paced", [SENT_SPREAD] = "spread"};
    char name[16];
    int beyond_ms, sending = 0, count = sizeof names / sizeof *names;
    if (sscanf(word, "%d:%15[^:]:%d", &policy->window, name, &beyond_ms) != 3 || policy->window < 1) return false;
    while (sending < count && strcmp(name, names[sending])) sending++;
    policy->sending = sending;
    policy->beyond_us = beyond_ms < 0 ? -1 : beyond_ms * INT64_C(1000);
    return sending < count;
}

/* The initial window of the route that a connection takes: what depends on the handshake comes after it. */
int route_window(const struct policy *policy) { return policy->beyond_us < 0 ? policy->window : WINDOW_IN_FORCE; }

/* Have a server that has just accepted a connection, and sent nothing, follow the policy; return its window. A handshake whose
 * round trip TCP does not know, as its SYN-ACK was sent again, took no longer than any other. */
int follow_policy(const struct policy *policy, int server) {
    int option = 0;
    if (policy->beyond_us >= 0) {
        struct tcp_info info;
        get_info(server, &info);
        if (info.tcpi_rtt <= policy->beyond_us) return WINDOW_IN_FORCE;
        option = policy->window;
    }
    if (policy->sending == SENT_SPREAD) option += SPREAD;
    if (policy->sending != SENT_AT_ONCE) pace(server);
    if (option) set_option(server, IPPROTO_TCP, FIRST_FLIGHT, option);
    return policy->window;
}
