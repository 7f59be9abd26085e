/* The hosts of the emulated network: 0 is the client, 1 serves the background, the rest are origins. */
#pragma once

#include <netinet/in.h>

enum {
    BACKGROUND_HOST = 1,
    FIRST_ORIGIN = 2,
    ALIAS = 256 /* added to a window: another address of the client, whose route has the same window */
};

struct host {
    char name[16], address[16];
    int pid;
};
extern struct host *hosts;
extern int host_count;

void read_hosts(int argc, char **argv);
in_addr_t server_address(int host);
in_addr_t client_address(int window);
in_addr_t upload_address(int window);
