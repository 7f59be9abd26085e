#include "page/holding_back.h"
#include "loop/memory.h"

#include <stdlib.h>
#include <string.h>

enum { REQUESTS_TO_A_HOST = 6 };

static int limit;  /* of delayable requests on their way; 0: none */
static int weight; /* how many delayable requests another request on its way counts for */

static const struct page *page;
static int *held, held_count; /* objects, the most urgent first, then the one that came first */
static int *to_origin;        /* requests on their way to each origin */
static bool *counts;          /* by object: whether its request on its way counts as delayable */
static int under_way, delayable;

void set_request_limit(int most, int other) {
    limit = most;
    weight = other;
}

void begin_holding_back(const struct page *which) {
    page = which;
    free(held);
    free(to_origin);
    free(counts);
    held = zeroed(page->object_count, sizeof *held);
    to_origin = zeroed(page->origin_count, sizeof *to_origin);
    counts = zeroed(page->object_count, sizeof *counts);
    held_count = under_way = delayable = 0;
}

static bool is_delayable(int object, bool is_known) { return page->objects[object].delayable && !is_known; }

static bool is_full(void) { return limit && delayable + weight * (under_way - delayable) >= limit; }

static bool is_host_full(int object) {
    return limit && to_origin[page->objects[object].origin] >= REQUESTS_TO_A_HOST;
}

static void begin_request(int object, bool is_known) {
    under_way++;
    to_origin[page->objects[object].origin]++;
    counts[object] = is_delayable(object, is_known);
    delayable += counts[object];
}

static void hold(int object) {
    int place = held_count++;
    for (; place > 0 && page->objects[held[place - 1]].priority.urgency > page->objects[object].priority.urgency; place--)
        held[place] = held[place - 1];
    held[place] = object;
}

/* Begin a request, or hold it back: then return true. `is_known`: its host is known to speak HTTP/2. */
bool hold_back(int object, bool is_known) {
    bool is_held = is_delayable(object, is_known) && (is_full() || is_host_full(object));
    if (is_held) hold(object);
    else begin_request(object, is_known);
    return is_held;
}

/* Begin one of the requests that are held back and return its object; -1 if none may begin. The limit of all ends the search,
 * that of a host does not. */
int release_one(bool (*is_known)(int object)) {
    for (int place = 0; place < held_count; place++) {
        int object = held[place];
        bool known = is_known(object);
        if (is_delayable(object, known) && is_full()) return -1;
        if (is_delayable(object, known) && is_host_full(object)) continue;
        held_count--;
        memmove(held + place, held + place + 1, (size_t)(held_count - place) * sizeof *held);
        begin_request(object, known);
        return object;
    }
    return -1;
}

void end_request(int object) {
    under_way--;
    to_origin[page->objects[object].origin]--;
    delayable -= counts[object];
}
