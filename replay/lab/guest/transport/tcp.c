#include "transport/tcp.h"
#include "loop/failure.h"

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define LARGEST_READ (1 << 26)

const char zeros[ZEROS];

/* Make a socket whose close aborts the connection. */
int make_socket(void) {
    struct linger abort_on_close = {.l_onoff = 1, .l_linger = 0};
    int made = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0 || setsockopt(made, SOL_SOCKET, SO_LINGER, &abort_on_close, sizeof abort_on_close) < 0) die("socket");
    return made;
}

void set_option(int descriptor, int level, int name, int value) {
    if (setsockopt(descriptor, level, name, &value, sizeof value) < 0) die("setsockopt");
}

void set_control(int descriptor, const char *name) {
    if (setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)) < 0) die(name);
}

/* Have packets leave at the window's pace, not in bursts: the maximum rate given here is never reached. */
void pace(int descriptor) {
    uint64_t unreached = UINT64_C(1) << 40;
    if (setsockopt(descriptor, SOL_SOCKET, SO_MAX_PACING_RATE, &unreached, sizeof unreached) < 0)
        die("SO_MAX_PACING_RATE");
}

int send_buffer(int descriptor) {
    int bytes;
    socklen_t length = sizeof bytes;
    if (getsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, &length) < 0) die("SO_SNDBUF");
    return bytes;
}

/* The send buffer that connections accepted by this socket begin with. It stays Linux's to enlarge, with the congestion window. */
void set_send_buffer(int descriptor, int bytes) {
    set_option(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, bytes / 2); /* the kernel doubles it */
    set_option(descriptor, SOL_SOCKET, SO_BUF_LOCK, 0);
}

void get_info(int descriptor, struct tcp_info *info) {
    socklen_t length = sizeof *info;
    memset(info, 0, sizeof *info);
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, &length) < 0) die("TCP_INFO");
}

/* Take all bytes from the receive buffer without copying them: MSG_TRUNC on TCP (tcp(7)). */
ssize_t discard(int descriptor) {
    static void *nowhere;
    if (!nowhere) nowhere = mmap(NULL, LARGEST_READ, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return recv(descriptor, nowhere, LARGEST_READ, MSG_TRUNC | MSG_DONTWAIT);
}
