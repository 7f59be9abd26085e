#include "page/senders.h"
#include "loop/memory.h"
#include "network/hosts.h"
#include "network/qdiscs.h"
#include "transport/server.h"
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

int window_of(int origin, int window) { return sender_of(origin) == HTTP3 ? HTTP3_WINDOW : window; }

void set_sender_of(int origin, int server) {
    switch (sender_of(origin)) {
    case BBR: set_sender(server, "bbr", false); break; /* it paces by itself */
    case HTTP3: set_sender(server, "cubic", true); break;
    case PACED: set_sender(server, NULL, true); break;
    default: set_sender(server, NULL, pacing);
    }
}
