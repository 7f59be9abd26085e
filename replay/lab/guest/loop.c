/* What happens next: events of sockets, one timer, and the rest between two measurements. */
#define _GNU_SOURCE
#include "player.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Between measurements: queues drain, and one begins at a whole multiple of it. The kernel's timers beyond 5 s
 * (a retransmission's third, say) go off at multiples of 64 jiffies, beyond 41 s of 512: 1,024 jiffies of 10 ms are
 * the same phase of both, so that a measurement repeats wherever in a guest's life it stands. */
static nanoseconds spacing = INT64_C(10240000000);
#define TIMER (3ull << 32)

static int timer;
static const volatile uint64_t *clock_page; /* of the guest's kernel; NULL where time is not virtual */
static nanoseconds clock_offset;
static uint64_t events_handled;
static nanoseconds seen;
static bool has_slept;

/* Time passes only while we sleep, so one look after a sleep will do, if anybody asks. */
nanoseconds now(void) { return has_slept ? look_at_clock() : seen; }

nanoseconds last_look(void) { return seen; }

static nanoseconds ask_clock(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (nanoseconds)time.tv_sec * SECOND + time.tv_nsec;
}

nanoseconds look_at_clock(void) {
    has_slept = false;
    return seen = clock_page ? (nanoseconds)*clock_page + clock_offset : ask_clock();
}

/* By which the clock is read without a system call (kernel/shown-clock.patch). */
void find_clock(void) {
    int descriptor = open("/proc/time_travel", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    clock_page = mmap(NULL, sizeof *clock_page, PROT_READ, MAP_SHARED, descriptor, 0);
    if (clock_page == MAP_FAILED) die("/proc/time_travel");
    close(descriptor);
    clock_offset = ask_clock() - (nanoseconds)*clock_page;
}

void make_timer(void) {
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    /* At its edge, so that nobody need read it. */
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = TIMER};
    if (timer < 0 || epoll_ctl(epoll_descriptor, EPOLL_CTL_ADD, timer, &event) < 0) die("timer");
}

void set_timer(nanoseconds at) {
    struct itimerspec when = {.it_value = {.tv_sec = at / SECOND, .tv_nsec = at % SECOND}};
    if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL) < 0) die("timerfd");
}

/* Handle what has happened; true if the timer was part of it. */
bool turn(void) {
    struct epoll_event events[64];
    bool rang = false;
    int ready = epoll_wait(epoll_descriptor, events, 64, -1);
    has_slept = true;
    for (int i = 0; i < ready; i++) {
        uint32_t kind = (uint32_t)(events[i].data.u64 >> 32), index = (uint32_t)events[i].data.u64;
        events_handled++;
        if (kind == 0) accept_one(hosts[index].listener);
        if (kind == 1) client_event(connection_at((int)index), events[i].events);
        if (kind == 2) server_event(connection_at((int)index), events[i].events);
        if (kind == 3) {
            rang = true;
            look_at_clock();
        }
        if (kind == 4) probe_event(now());
    }
    return rang;
}

/* Its number. */
uint64_t this_event(void) { return events_handled; }

void set_pause(nanoseconds length) { spacing = length; }

nanoseconds rest(void) {
    nanoseconds at = (look_at_clock() / spacing + 2) * spacing;
    set_timer(at);
    while (!turn()) {}
    return at;
}

nanoseconds earlier(nanoseconds a, nanoseconds b) { return a < b ? a : b; }
