#include "loop/clock.h"
#include "loop/failure.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const volatile uint64_t *clock_page; /* shared by the guest's kernel; NULL where time is real */
static nanoseconds clock_offset, seen;
static bool has_slept;

static nanoseconds ask_clock(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (nanoseconds)time.tv_sec * SECOND + time.tv_nsec;
}

/* Map the page from which the clock is read without a system call (kernel/shown-clock.patch). */
void find_clock(void) {
    int descriptor = open("/proc/time_travel", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    clock_page = mmap(NULL, sizeof *clock_page, PROT_READ, MAP_SHARED, descriptor, 0);
    if (clock_page == MAP_FAILED) die("/proc/time_travel");
    close(descriptor);
    clock_offset = ask_clock() - (nanoseconds)*clock_page;
}

/* Virtual time passes only during a sleep: `now` looks at the clock once after each. */
void mark_sleep(void) { has_slept = true; }

nanoseconds now(void) { return has_slept ? look_at_clock() : seen; }

nanoseconds last_look(void) { return seen; }

nanoseconds look_at_clock(void) {
    has_slept = false;
    return seen = clock_page ? (nanoseconds)*clock_page + clock_offset : ask_clock();
}

nanoseconds earlier(nanoseconds a, nanoseconds b) { return a < b ? a : b; }
