/* Background: short flows that arrive as a Poisson process, of sizes from the deciles of the 2010 paper's Fig 1. */
#include "player.h"

#include <math.h>

static const int sizes[] = {380, 590, 920, 1410, 2280, 3720, 7090, 18673};

static uint64_t state;
static int serving_host;
static double rate;
static nanoseconds next;
int background_window = BACKGROUND_IW;

/* splitmix64 (Steele, Lea and Flood, 2014): the seed alone decides. */
uint64_t next_random(void) {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static double uniform(void) { return ((double)(next_random() >> 11) + 0.5) / 9007199254740992.0; }

static nanoseconds gap(void) { return (nanoseconds)(-log(uniform()) / rate * 1e9); }

void begin_background(uint64_t seed, int host, double flows_per_second, nanoseconds time) {
    state = seed;
    serving_host = host;
    rate = flows_per_second;
    next = rate > 0 ? time + gap() : INT64_MAX;
}

nanoseconds next_arrival(void) { return next; }

void arrive(nanoseconds time) {
    struct connection *flow = open_connection(serving_host, background_window, NULL);
    flow->size = sizes[next_random() % (sizeof sizes / sizeof *sizes)];
    next = time + gap();
}
