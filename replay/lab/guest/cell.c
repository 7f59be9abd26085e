#include "cell.h"
#include "flows/background.h"
#include "flows/competing_flows.h"
#include "flows/probe.h"
#include "loop/failure.h"
#include "loop/loop.h"
#include "loop/randomness.h"
#include "network/qdiscs.h"
#include "page/later.h"
#include "page/load.h"
#include "page/senders.h"
#include "transport/losses.h"
#include "transport/packet_log.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    WARM_UP_ROUND_TRIPS = 10,     /* of the background, before the load begins, */
    WARM_UP_REST = SECOND / 10,   /* and what the bottleneck needs for the largest of its flows */
    SHARING_ROUND_TRIPS = 30,     /* in which competing flows fill the queue, lose, and share what is left */
    SHORTEST_PHASE = SECOND / 100 /* a jiffy */
};

/* Do what is due at `time` beside the page's own events; return when the next such thing is due. */
static nanoseconds do_what_is_due(nanoseconds time) {
    if (time >= next_arrival()) arrive(time);
    do_due(time);
    if (time >= next_probe()) send_probe(time);
    return earlier(earlier(next_arrival(), next_due()), next_probe());
}

/* Load the page at `start`; return when the load and the short flows beside it are over, or it has failed. */
static void load_page(const char *id, const struct page *page, nanoseconds start, nanoseconds deadline) {
    nanoseconds loading = INT64_MAX, loaded = INT64_MAX, set = 0; /* when the load began and ended */
    uint64_t drops = 0;
    int64_t competing_before = 0;
    for (;;) {
        nanoseconds time = last_look(); /* when something is due, the timer has just looked at the clock */
        read_packet_log();
        read_losses();
        if (loading == INT64_MAX && time >= start) {
            loading = time;
            drops = bottleneck_drops();
            competing_before = competing_bytes();
            begin_load(page, time);
            begin_probe(time);
        }
        if (loading != INT64_MAX && loaded == INT64_MAX && !failure && load_is_done()) {
            loaded = time;
            end_probe(time);
            print_load(id, bottleneck_drops() - drops, competing_bytes() - competing_before);
        }
        if (loaded != INT64_MAX && (short_flows_are_served(loading, loaded) || time >= deadline)) break;
        if (loaded == INT64_MAX && failure) break;
        if (loaded == INT64_MAX && time >= deadline) failure = "the load did not end in the virtual time that it had";
        nanoseconds next = earlier(do_what_is_due(time), loading != INT64_MAX ? deadline : start);
        if (next != set) set_timer(set = next);
        if (loaded != INT64_MAX || !failure) turn();
    }
    if (loaded == INT64_MAX) {
        printf("@{\"cell\": \"%s\", \"failed\": \"%s\"}\n", id, failure);
        return;
    }
    print_short_flows(loading, loaded);
    print_probe();
    printf("}\n");
}

void run_cell(const char *id, const struct page *page, uint64_t seed, const struct background *background,
              double at_most) {
    if (!page) {
        printf("@{\"cell\": \"%s\", \"failed\": \"the page's recipe is not valid: does any response come from a server?\"}\n", id);
        return;
    }
    read_losses(); /* what earlier measurements left behind, which fails no load if it is too much */
    failure = NULL;
    place_origins(page);
    nanoseconds began = rest();
    read_packet_log(); /* headers that earlier measurements left behind */
    seed_randomness(seed);
    seed_losses(seed);
    renew_discipline();
    begin_competing_flows();
    begin_background(background, began);
    reset_probe();
    nanoseconds phase = round_trip() > SHORTEST_PHASE ? round_trip() : SHORTEST_PHASE;
    int round_trips = has_competing_flows() ? SHARING_ROUND_TRIPS : WARM_UP_ROUND_TRIPS;
    nanoseconds start =
        began + round_trips * round_trip() + WARM_UP_REST + (nanoseconds)(next_random() % (uint64_t)phase);
    load_page(id, page, start, start + (nanoseconds)(at_most * (double)SECOND));
    close_all();
    forget_later();
}
