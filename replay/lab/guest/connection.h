/* What both ends of a connection share. */
#pragma once

#include "player.h"

#include <linux/tcp.h>
#include <sys/types.h>

enum { ZEROS = 1 << 20 };
extern const char zeros[ZEROS]; /* what all contents are */

void get_info(int descriptor, struct tcp_info *info);
void remember(struct connection *connection, const struct tcp_info *info);
void set_option(int descriptor, int level, int name, int value);
void set_sender(const struct connection *connection, int descriptor);
void retarget(struct connection *connection);
ssize_t discard(int descriptor);
