#include "page/senders.h"
#include "loop/memory.h"
#include "network/hosts.h"
#include "network/qdiscs.h"
#include "transport/tcp.h"

#include <stdlib.h>
#include <string.h>

enum { HTTP3_WINDOW = 10 };

bool senders_differ;
static struct { nanoseconds distance; enum sender sender; } *told;
static int count, room;

/* "plain", or the number of the first origin and DISTANCE_US:SENDER of it and those after it; false if it is neither. */
bool set_origins(const char *words) {
    senders_differ = strcmp(words, "plain\n") != 0;
    if (!senders_differ) {
        count = 0;
        return true;
    }
    char *rest;
    long first = strtol(words, &rest, 10);
    if (rest == words || first < 0 || first > count) return false;
    for (int at = (int)first; *rest == ' '; at++) {
        long distance_us = strtol(rest, &rest, 10);
        const char *letter = rest[0] == ':' && rest[1] ? strchr(SENDER_LETTERS, rest[1]) : NULL;
        if (distance_us < 0 || !letter) return false;
        told = with_room(told, at, &room, sizeof *told);
        told[at].distance = distance_us * 1000;
        told[at].sender = (enum sender)(letter - SENDER_LETTERS);
        if (at == count) count++;
        rest += 2;
    }
    return *rest == '\n';
}

nanoseconds distance_of(int origin) { return origin < count ? told[origin].distance : 0; }

enum sender sender_of(int origin) { return origin < count ? told[origin].sender : AT_ONCE; }

/* Put the servers of a page where they are; of origins that share a host the first decides. */
void place_origins(const struct page *page) {
    for (int i = 0; i < page->origin_count && FIRST_ORIGIN + i < host_count; i++) set_distance(FIRST_ORIGIN + i, distance_of(i));
}

int route_window_of(int origin, const struct policy *policy) {
    return sender_of(origin) == HTTP3 ? HTTP3_WINDOW : route_window(policy);
}

/* Have the server of a connection that was just accepted send as its origin does; return its window. */
int set_sender_of(int origin, int server, const struct policy *policy) {
    struct policy own = *policy;
    switch (sender_of(origin)) {
    case HTTP3:
        set_control(server, "cubic");
        pace(server);
        return HTTP3_WINDOW;
    case BBR:
        set_control(server, "bbr");
        own.sending = SENT_AT_ONCE;
        break;
    case PACED: pace(server); break;
    default: break;
    }
    return follow_policy(&own, server);
}
