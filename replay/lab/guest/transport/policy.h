/* Policies: how large a first flight servers send, how, and on which connections (replay/runs/policy.py). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { WINDOW_IN_FORCE = 10 }; /* of connections that a policy is not for (RFC 6928) */

struct policy {
    int window;
    enum { SENT_AT_ONCE, SENT_PACED, SENT_SPREAD } sending;
    int64_t beyond_us; /* it is for connections whose handshake took longer; -1: for all */
};

bool read_policy(const char *word, struct policy *policy);
int route_window(const struct policy *policy);
int follow_policy(const struct policy *policy, int server);
