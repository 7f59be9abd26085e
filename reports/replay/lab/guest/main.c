/* The commands, one a line on standard input; the answers, one a line on standard output, begin with @.
 *
 *   page PATH                                                  read a recipe; pages count from 0
 *   cell ID PAGE IW SEED FLOWS_PER_SECOND SECONDS_AT_MOST      load a page
 *   flight ID HOST IW BYTES                                    one response on an idle network, each packet's arrival
 *   transfer ID HOST IW REQUEST_BYTES BYTES                    the same, its end alone
 */
#define _GNU_SOURCE
#include "player.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define WARM_UP (3 * SECOND) /* of the background, before the load begins */
#define REST (10 * SECOND)   /* between cells: queues drain, and a cell begins at a whole multiple of it */
#define TRANSFER_AT_MOST (3600 * SECOND)
#define TIMER (3ull << 32)

static struct page *pages[4096];
static int page_count, timer;

static void set_timer(nanoseconds at) {
    struct itimerspec when = {.it_value = {.tv_sec = at / SECOND, .tv_nsec = at % SECOND}};
    if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL) < 0) die("timerfd");
}

/* Handle what has happened; true if the timer was part of it. */
static bool turn(void) {
    struct epoll_event events[64];
    bool rang = false;
    int ready = epoll_wait(epoll_descriptor, events, 64, -1);
    nanoseconds time = now();
    for (int i = 0; i < ready; i++) {
        uint32_t kind = (uint32_t)(events[i].data.u64 >> 32), index = (uint32_t)events[i].data.u64;
        if (kind == 0) accept_all(hosts[index].listener);
        if (kind == 1) client_event(connection_at((int)index), time);
        if (kind == 2) server_event(connection_at((int)index));
        if (kind == 3) {
            uint64_t times;
            rang = read(timer, &times, sizeof times) > 0;
        }
    }
    return rang;
}

static void sleep_until(nanoseconds at) {
    set_timer(at);
    while (!turn()) {}
}

/* Timers of the kernel count jiffies: every cell begins at the same phase of them, so that it can be repeated. */
static nanoseconds rest(void) {
    nanoseconds at = (now() / REST + 2) * REST;
    sleep_until(at);
    return at;
}

static nanoseconds earlier(nanoseconds a, nanoseconds b) { return a < b ? a : b; }

static void run_cell(const char *id, struct page *page, int iw, uint64_t seed, double flows, double at_most) {
    window_of_cell = iw;
    failure = NULL;
    nanoseconds began = rest();
    begin_background(seed, 1, flows, began);
    nanoseconds start = began + WARM_UP + (nanoseconds)(next_random() % SECOND);
    nanoseconds deadline = start + (nanoseconds)(at_most * (double)SECOND);
    bool loading = false;
    uint64_t drops = 0;
    nanoseconds set = 0;
    for (;;) {
        nanoseconds time = now();
        if (!loading && time >= start) {
            loading = true;
            drops = bottleneck_drops();
            begin_load(page, iw, time);
        }
        if ((loading && load_is_done()) || failure) break;
        if (time >= deadline) failure = "the load did not end in the virtual time that it had";
        if (time >= next_arrival()) arrive(time);
        nanoseconds next = earlier(next_arrival(), loading ? deadline : start);
        if (next != set) set_timer(set = next);
        if (!failure) turn();
    }
    if (failure)
        printf("@{\"cell\": \"%s\", \"failed\": \"%s\"}\n", id, failure);
    else
        print_load(id, bottleneck_drops() - drops);
    close_all();
}

static void run_flight(const char *id, int host, int iw, long bytes) {
    window_of_cell = iw;
    failure = NULL;
    nanoseconds began = rest();
    uint64_t drops = bottleneck_drops();
    struct connection *sample = open_connection(host, iw, NULL);
    sample->size = -bytes;
    set_timer(began + 120 * SECOND);
    while (!sample->responses && !turn()) {}
    struct totals totals = {0};
    if (sample->responses) settle(sample, &totals);
    printf("@{\"flight\": \"%s\", \"handshake_ns\": %" PRId64 ", \"snd_cwnd\": %u, \"snd_mss\": %u, \"done\": %s"
           ", \"segments_retransmitted\": %" PRId64 ", \"bottleneck_drops\": %" PRIu64 "}\n",
           id, sample->established - sample->opened, sample->snd_cwnd, sample->snd_mss,
           sample->responses ? "true" : "false", totals.segments_retransmitted, bottleneck_drops() - drops);
    close_all();
}

static void run_transfer(const char *id, int host, int iw, int request_bytes, long bytes) {
    window_of_cell = iw;
    failure = NULL;
    nanoseconds began = rest();
    uint64_t drops = bottleneck_drops();
    struct connection *transfer = open_connection(host, iw, NULL);
    transfer->size = bytes;
    transfer->request_bytes = request_bytes;
    set_timer(began + TRANSFER_AT_MOST);
    while (!transfer->responses && !turn()) {}
    printf("@{\"transfer\": \"%s\", \"done\": %s, \"ns\": %" PRId64 ", \"bottleneck_drops\": %" PRIu64 "}\n", id,
           transfer->responses ? "true" : "false", now() - transfer->opened, bottleneck_drops() - drops);
    close_all();
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "hold") == 0) hold();
    if (argc < 6) {
        fprintf(stderr, "usage: player CONGESTION_CONTROL WINDOW,... CLIENT BACKGROUND ORIGIN...\n"
                        "each host NAME:PID:ADDRESS\n");
        return 2;
    }
    int windows[64], window_count = 0;
    for (char *word = strtok(argv[2], ","); word && window_count < 64; word = strtok(NULL, ","))
        windows[window_count++] = atoi(word);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    enter_world(argc - 3, argv + 3, argv[1], windows, window_count);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = TIMER};
    if (timer < 0 || epoll_ctl(epoll_descriptor, EPOLL_CTL_ADD, timer, &event) < 0) die("timer");
    printf("@{\"ready\": true, \"offloads_on\": %d, \"hosts\": %d}\n", offloads_on, host_count);
    fflush(stdout);
    char line[4096], id[128], path[3000];
    while (fgets(line, sizeof line, stdin)) {
        int index, iw, host, request_bytes;
        long bytes;
        uint64_t seed;
        double flows, at_most;
        if (sscanf(line, "page %2999[^\n]", path) == 1 && page_count < 4096) {
            pages[page_count++] = read_page(path);
        } else if (sscanf(line, "cell %127s %d %d %" SCNu64 " %lf %lf", id, &index, &iw, &seed, &flows, &at_most) == 6 &&
                   index >= 0 && index < page_count) {
            run_cell(id, pages[index], iw, seed, flows, at_most);
        } else if (sscanf(line, "flight %127s %d %d %ld", id, &host, &iw, &bytes) == 4 && host > 0 && host < host_count) {
            run_flight(id, host, iw, bytes);
        } else if (sscanf(line, "transfer %127s %d %d %d %ld", id, &host, &iw, &request_bytes, &bytes) == 5 &&
                   host > 0 && host < host_count && bytes > 0 && request_bytes > 0) {
            run_transfer(id, host, iw, request_bytes, bytes);
        } else {
            fprintf(stderr, "player: what is this? %s", line);
            return 2;
        }
        fflush(stdout);
    }
    return 0;
}
