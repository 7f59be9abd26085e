#include "network/netlink.h"
#include "loop/failure.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* Open a socket that belongs to the current namespace, also after the process has left it. */
int open_netlink(void) {
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (netlink < 0) die("netlink");
    return netlink;
}

void *begin(struct request *request, uint16_t type, uint16_t flags, size_t size) {
    memset(request, 0, sizeof *request);
    request->header.nlmsg_len = NLMSG_LENGTH(size);
    request->header.nlmsg_type = type;
    request->header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    return NLMSG_DATA(&request->header);
}

struct rtattr *attribute(struct request *request, uint16_t type, const void *value, size_t size) {
    struct rtattr *added = (struct rtattr *)((char *)request + NLMSG_ALIGN(request->header.nlmsg_len));
    added->rta_type = type;
    added->rta_len = (uint16_t)RTA_LENGTH(size);
    if (size) memcpy(RTA_DATA(added), value, size);
    request->header.nlmsg_len = NLMSG_ALIGN(request->header.nlmsg_len) + RTA_ALIGN(added->rta_len);
    return added;
}

/* Make all attributes added after `nested` its contents. */
void end_nested(const struct request *request, struct rtattr *nested) {
    nested->rta_len = (uint16_t)((const char *)request + request->header.nlmsg_len - (char *)nested);
}

void commit(int netlink, struct request *request, const char *what) {
    struct { struct nlmsghdr header; struct nlmsgerr error; char rest[512]; } answer;
    if (send(netlink, request, request->header.nlmsg_len, 0) < 0 || recv(netlink, &answer, sizeof answer, 0) < 0)
        die(what);
    if (answer.header.nlmsg_type == NLMSG_ERROR && answer.error.error) {
        errno = -answer.error.error;
        die(what);
    }
}
