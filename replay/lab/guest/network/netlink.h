/* One rtnetlink request: made, given attributes, committed. */
#pragma once

#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>

struct request {
    struct nlmsghdr header;
    char body[512];
};

int open_netlink(void);
void *begin(struct request *request, uint16_t type, uint16_t flags, size_t size);
struct rtattr *attribute(struct request *request, uint16_t type, const void *value, size_t size);
void end_nested(const struct request *request, struct rtattr *nested);
void commit(int netlink, struct request *request, const char *what);
