/* The commands, one a line on standard input; the answers, one a line on standard output, begin with @.
 *
 *   pause SECONDS                                              between measurements, where time is not virtual
 *   page PATH                                                  read a recipe; pages count from 0
 *   control NAME                                               congestion control of what origins send from now on
 *   pacing on|off                                              of the same
 *   delay ONE_WAY_US LOSS MEAN_BURST                           of the lines either way; LOSS as a share
 *   loss LOSS MEAN_BURST                                       of the same, their delay as it is
 *   responses                                                  tell of each response from now on, before its load
 *   thinking on|off                                            of servers, before they answer, as the recipe says
 *   rivals FLOWS IW CONTROL                                    downloads beside the pages from now on
 *   background IW                                              of other people's short flows
 *   probe on|off                                               a small datagram every 20 ms beside the pages
 *   short-flows on|off                                         whether a load waits for those that began beside it
 *   cell ID PAGE IW SEED FLOWS_PER_SECOND SECONDS_AT_MOST      load a page
 *   flight ID HOST IW BYTES                                    one response on an idle network, each packet's arrival
 *   flow BEGINS_US HOST IW up|down CONTROL|- REQUEST_BYTES RESPONSE_BYTES
 *   race ID SECONDS_AT_MOST SEED                               the flows that were told since the last one
 *   done                                                       a byte to the driver
 */
#define _GNU_SOURCE
#include "player.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WARM_UP (3 * SECOND) /* of the background, before the load begins */

static struct page *pages[4096];
static int page_count;

static void run_cell(const char *id, struct page *page, int iw, uint64_t seed, double flows, double at_most) {
    window_of_cell = iw;
    failure = NULL;
    nanoseconds began = rest();
    read_tap(); /* what others left behind */
    seed_kernel(seed);
    seed_losses(seed);
    begin_rivals();
    begin_background(seed, 1, flows, began);
    await_neighbours();
    nanoseconds start = began + WARM_UP + (nanoseconds)(next_random() % SECOND);
    nanoseconds deadline = start + (nanoseconds)(at_most * (double)SECOND);
    bool loading = false, loaded = false;
    uint64_t drops = 0;
    int64_t rivals_before = 0;
    nanoseconds set = 0;
    for (;;) {
        nanoseconds time = last_look(); /* when something is due, the timer has just had us look */
        read_tap();
        if (!loading && time >= start) {
            loading = true;
            drops = bottleneck_drops();
            rivals_before = rivals_received();
            begin_load(page, iw, time);
            begin_neighbours(time);
        }
        if (loading && !loaded && !failure && load_is_done()) {
            loaded = true;
            end_neighbours(time);
            print_load(id, bottleneck_drops() - drops, rivals_received() - rivals_before);
        }
        if (loaded && (neighbours_are_served() || time >= deadline)) break;
        if (!loaded && failure) break;
        if (!loaded && time >= deadline) failure = "the load did not end in the virtual time that it had";
        if (time >= next_arrival()) arrive(time);
        answer_due(time);
        if (time >= next_probe()) send_probe(time);
        nanoseconds soonest = earlier(earlier(next_arrival(), next_thought()), next_probe());
        nanoseconds next = earlier(soonest, loading ? deadline : start);
        if (next != set) set_timer(set = next);
        if (loaded || !failure) turn();
    }
    if (loaded)
        print_neighbours();
    else
        printf("@{\"cell\": \"%s\", \"failed\": \"%s\"}\n", id, failure);
    close_all();
}

/* False if it is none. */
static bool obey(char *line) {
    char id[128], path[3000];
    int index, iw, host, flows_beside;
    long bytes;
    uint64_t seed;
    double flows, at_most, delay_us, loss, burst;
    if (strncmp(line, "flow ", 5) == 0) return add_flow(line + 5);
    if (strcmp(line, "responses\n") == 0) {
        open_tap();
        return true;
    }
    if (sscanf(line, "race %127s %lf %" SCNu64, id, &at_most, &seed) == 3) {
        run_race(id, at_most, seed);
    } else if (sscanf(line, "cell %127s %d %d %" SCNu64 " %lf %lf", id, &index, &iw, &seed, &flows, &at_most) == 6 &&
               index >= 0 && index < page_count) {
        run_cell(id, pages[index], iw, seed, flows, at_most);
    } else if (sscanf(line, "flight %127s %d %d %ld", id, &host, &iw, &bytes) == 4 && host > 0 && host < host_count) {
        run_flight(id, host, iw, bytes);
    } else if (sscanf(line, "delay %lf %lf %lf", &delay_us, &loss, &burst) == 3) {
        set_delay((nanoseconds)(delay_us * 1e3), loss, burst);
    } else if (sscanf(line, "loss %lf %lf", &loss, &burst) == 2) {
        set_losses(loss, burst);
    } else if (sscanf(line, "thinking %127s", id) == 1) {
        thinking = strcmp(id, "on") == 0;
    } else if (sscanf(line, "rivals %d %d %127s", &flows_beside, &iw, id) == 3) {
        set_rivals(flows_beside, iw, id);
    } else if (sscanf(line, "background %d", &iw) == 1) {
        background_window = iw;
    } else if (sscanf(line, "probe %127s", id) == 1) {
        probing = strcmp(id, "on") == 0;
    } else if (sscanf(line, "short-flows %127s", id) == 1) {
        awaiting_short_flows = strcmp(id, "on") == 0;
    } else if (sscanf(line, "pause %lf", &at_most) == 1) {
        set_pause((nanoseconds)(at_most * (double)SECOND));
    } else if (sscanf(line, "control %127s", id) == 1) {
        set_congestion_control(id);
    } else if (sscanf(line, "pacing %127s", id) == 1) {
        pacing = strcmp(id, "on") == 0;
    } else if (sscanf(line, "page %2999[^\n]", path) == 1 && page_count < (int)(sizeof pages / sizeof *pages)) {
        pages[page_count++] = read_page(path);
    } else {
        return false;
    }
    return true;
}

int main(int argc, char **argv) {
    if (getpid() == 1) first_process();
    if (argc == 2 && strcmp(argv[1], "hold") == 0) hold();
    if (argc < 6) {
        fprintf(stderr, "usage: player WINDOW,... DESCRIPTOR CLIENT BACKGROUND ORIGIN...\neach host NAME:PID:ADDRESS\n");
        return 2;
    }
    int windows[64], window_count = 0;
    for (char *word = strtok(argv[1], ","); word && window_count < 64; word = strtok(NULL, ","))
        windows[window_count++] = atoi(word);
    int driver = atoi(argv[2]);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    enter_world(argc - 3, argv + 3, windows, window_count);
    find_clock();
    make_timer();
    printf("@{\"ready\": true, \"offloads_on\": %d, \"hosts\": %d}\n", offloads_on, host_count);
    fflush(stdout);
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        if (strcmp(line, "done\n") == 0) {
            if (write(driver, line, 1) != 1) die("done");
        } else if (!obey(line)) {
            fprintf(stderr, "player: what is this? %s", line);
            return 2;
        }
        fflush(stdout);
    }
    return 0;
}
