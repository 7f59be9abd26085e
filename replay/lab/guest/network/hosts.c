#include "network/hosts.h"
#include "loop/failure.h"
#include "loop/memory.h"

#include <arpa/inet.h>
#include <stdio.h>

struct host *hosts;
int host_count;

/* Read NAME:PID:ADDRESS of every host. */
void read_hosts(int argc, char **argv) {
    host_count = argc;
    hosts = zeroed(argc, sizeof *hosts);
    for (int i = 0; i < argc; i++)
        if (sscanf(argv[i], "%15[^:]:%d:%15s", hosts[i].name, &hosts[i].pid, hosts[i].address) != 3) die(argv[i]);
}

in_addr_t server_address(int host) { return inet_addr(hosts[host].address); }

/* The client has an address for each initial window, and every host a route to it with that `initcwnd`: choosing
 * the window costs no command. */
in_addr_t client_address(int window) { return htonl(0x0a010000u + (uint32_t)window); }

/* The first origin's address for uploads: the client's route to it has this initial window. */
in_addr_t upload_address(int window) { return htonl(0x0a020000u + (uint32_t)window); }
