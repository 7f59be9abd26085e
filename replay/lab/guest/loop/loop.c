#include "loop/loop.h"
#include "loop/failure.h"

#include <stddef.h>
#include <sys/timerfd.h>

/* Between two measurements queues drain, and a measurement begins at a whole multiple of this. The kernel's timers
 * beyond 5 s (a third retransmission, say) fire at multiples of 64 jiffies, beyond 41 s at multiples of 512: 1,024
 * jiffies of 10 ms are the same phase of both, so a measurement repeats wherever in a guest's life it stands. */
static nanoseconds spacing = INT64_C(10240000000);

static int epoll, timer;
static bool timer_fired;
static uint64_t events_handled;

static void fire(void *data, uint32_t events) {
    (void)data, (void)events;
    timer_fired = true;
    look_at_clock();
}

void start_loop(void) {
    static struct handler handler = {fire, NULL};
    epoll = epoll_create1(EPOLL_CLOEXEC);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (epoll < 0 || timer < 0) die("event loop");
    watch(EPOLL_CTL_ADD, timer, EPOLLIN | EPOLLET, &handler); /* edge-triggered: the timer need not be read */
}

/* `operation` is EPOLL_CTL_ADD or EPOLL_CTL_MOD. The handler must live as long as the descriptor is open. */
void watch(int operation, int descriptor, uint32_t events, struct handler *handler) {
    struct epoll_event event = {.events = events, .data.ptr = handler};
    if (epoll_ctl(epoll, operation, descriptor, &event) < 0) die("epoll_ctl");
}

void set_timer(nanoseconds at) {
    struct itimerspec when = {.it_value = {.tv_sec = at / SECOND, .tv_nsec = at % SECOND}};
    if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL) < 0) die("timerfd");
}

/* Sleep until something happens and handle it; true if the timer fired. */
bool turn(void) {
    struct epoll_event events[64];
    int ready = epoll_wait(epoll, events, 64, -1);
    mark_sleep();
    timer_fired = false;
    for (int i = 0; i < ready; i++) {
        const struct handler *handler = events[i].data.ptr;
        events_handled++;
        handler->handle(handler->data, events[i].events);
    }
    return timer_fired;
}

/* Number of the event that is being handled. */
uint64_t this_event(void) { return events_handled; }

void set_pause(nanoseconds length) { spacing = length; }

/* Sleep until the next measurement; return the time at which it begins. */
nanoseconds rest(void) {
    nanoseconds at = (look_at_clock() / spacing + 2) * spacing;
    set_timer(at);
    while (!turn()) {}
    return at;
}
