/* The event loop: descriptors with a handler each, one timer, and the rest between two measurements. */
#pragma once

#include "loop/clock.h"

#include <stdbool.h>
#include <sys/epoll.h>

struct handler {
    void (*handle)(void *data, uint32_t events);
    void *data;
};

void start_loop(void);
void watch(int operation, int descriptor, uint32_t events, struct handler *handler);
void set_timer(nanoseconds at);
bool turn(void);
uint64_t this_event(void);
void set_pause(nanoseconds length);
nanoseconds rest(void);
