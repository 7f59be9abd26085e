/* TCP sockets: options, what the kernel tells of them, and contents that nobody reads. */
#pragma once

#include <linux/tcp.h>
#include <sys/types.h>

enum { ZEROS = 1 << 20 };
extern const char zeros[ZEROS];

int make_socket(void);
void set_option(int descriptor, int level, int name, int value);
void set_control(int descriptor, const char *name);
void pace(int descriptor);
int send_buffer(int descriptor);
void set_send_buffer(int descriptor, int bytes);
void get_info(int descriptor, struct tcp_info *info);
ssize_t discard(int descriptor);
