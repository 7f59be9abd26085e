/* The player: browser and servers of a page load in one process, so that a load costs few system calls.
 *
 * Commands, one per line on standard input; answers, one per line on standard output, begin with @. Settings hold
 * from then on.
 *
 *   pause SECONDS                                              time between measurements, where time is not virtual
 *   page PATH                                                  read a recipe; pages count from 0
 *   discipline NAME TARGET_US INTERVAL_US                      tail-drop, fq_codel or cake at the bottleneck; CoDel's times
 *   control NAME                                               congestion control of the origins
 *   policy POLICY                                              of the origins (transport/policy.c)
 *   delay ONE_WAY_US LOSS MEAN_BURST                           delay and losses of each direction; LOSS as a share
 *   origins plain                                              all origins at the end of the line, with the sender in force
 *   origins FIRST DISTANCE_US:SENDER ...                       those from this number: distance, and sender (page/senders.h)
 *   loss LOSS MEAN_BURST                                       losses of each direction, with the delay as it is
 *   responses                                                  before each load's line, a line about its responses
 *   tls-records recorded|fixed|bytes SIZES                     the servers' TLS records (transport/tls_records.c)
 *   discovery recorded|first-byte|last-byte                    when the browser finds what a response leads to
 *   receive-window SEGMENTS                                    the client's first one; 0: 16 MB
 *   delayed-acknowledgements on|off                            whether the client acknowledges every second segment from the first on
 *   names on|off                                               whether the browser has to ask for the addresses of hosts
 *   request-limit LIMIT WEIGHT                                 requests of low priority at a time; 0: no limit (page/holding_back.c)
 *   handshake recorded|resumed|early-data                      the connections' TLS handshakes
 *   alias on|off                                               whether servers take their window from its second route
 *   send-buffer UNSENT BYTES                                   what servers give TCP over H2 beyond what it has sent, and what their
 *                                                              send buffers hold at first; 0: no limit, and what the kernel gives
 *   priorities on|off                                          whether servers answer by priority over H2
 *   server-delay on|off                                        whether servers wait before they answer, as recorded
 *   competing-flows FLOWS IW CONTROL                           endless downloads beside the pages
 *   background POLICY                                          of the servers of other people's flows
 *   probe on|off                                               a small datagram every 20 ms beside the pages
 *   short-flows on|off                                         whether a load waits for short flows begun beside it
 *   cell ID PAGE SEED SHORT_FLOWS_PER_SECOND LARGE_FLOWS_PER_SECOND LEAST_BYTES MOST_BYTES SECONDS_AT_MOST
 *                                                              load a page beside a background
 *   flight ID HOST IW BYTES                                    one response on an idle network, each packet's arrival
 *   flow BEGINS_US HOST POLICY up|down CONTROL|- REQUEST_BYTES RESPONSE_BYTES   add a flow to the next race
 *   race ID SECONDS_AT_MOST SEED                               run the flows added since the last race
 *   done                                                       write a byte to the driver
 */
#include "cell.h"
#include "flows/background.h"
#include "flows/competing_flows.h"
#include "flows/probe.h"
#include "flows/race.h"
#include "init.h"
#include "loop/failure.h"
#include "loop/loop.h"
#include "loop/memory.h"
#include "network/hosts.h"
#include "network/namespaces.h"
#include "network/qdiscs.h"
#include "network/routes.h"
#include "page/discovery.h"
#include "page/handshake.h"
#include "page/holding_back.h"
#include "page/load.h"
#include "page/name_resolution.h"
#include "page/senders.h"
#include "transport/losses.h"
#include "transport/packet_log.h"
#include "transport/policy.h"
#include "transport/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct page **pages; /* NULL: of an invalid recipe */
static int page_count, page_room;

/* NAME on|off; false if there is no switch of this name. */
static bool obey_switch(const char *line) {
    static const struct { const char *name; bool *is_on; } switches[] = {
        {"probe", &probing},
        {"server-delay", &delaying_answers}, {"priorities", &prioritising}, {"alias", &by_alias}, {"short-flows", &awaiting_short_flows},
        {"delayed-acknowledgements", &delaying_acknowledgements}, {"names", &resolving_names}};
    char name[32], state[4];
    if (sscanf(line, "%31s %3s", name, state) != 2) return false;
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        if (strcmp(name, switches[i].name)) continue;
        *switches[i].is_on = strcmp(state, "on") == 0;
        return true;
    }
    return false;
}

/* Settings that stay in force; false if the line is none. */
static bool obey_setting(const char *line) {
    char name[128];
    int count, iw, weight;
    unsigned target_us, interval_us;
    double delay_us, loss, burst, seconds;
    if (sscanf(line, "delay %lf %lf %lf", &delay_us, &loss, &burst) == 3)
        set_delay((nanoseconds)(delay_us * 1e3), loss, burst);
    else if (sscanf(line, "loss %lf %lf", &loss, &burst) == 2) set_losses(loss, burst);
    else if (sscanf(line, "discipline %127s %u %u", name, &target_us, &interval_us) == 3)
        set_discipline(name, target_us, interval_us);
    else if (sscanf(line, "competing-flows %d %d %127s", &count, &iw, name) == 3) set_competing_flows(count, iw, name);
    else if (sscanf(line, "request-limit %d %d", &count, &weight) == 2) set_request_limit(count, weight);
    else if (sscanf(line, "send-buffer %d %d", &most_unsent_bytes, &count) == 2) set_send_buffers(count);
    else if (sscanf(line, "receive-window %d", &count) == 1) set_receive_window((uint32_t)count);
    else if (sscanf(line, "background %127s", name) == 1) return read_policy(name, &background_policy);
    else if (sscanf(line, "policy %127s", name) == 1) return read_policy(name, &policy);
    else if (sscanf(line, "pause %lf", &seconds) == 1) set_pause((nanoseconds)(seconds * (double)SECOND));
    else if (sscanf(line, "control %127s", name) == 1) set_congestion_control(name);
    else if (sscanf(line, "handshake %127s", name) == 1) return set_handshake(name);
    else if (sscanf(line, "discovery %127s", name) == 1) return set_discovery(name);
    else if (strcmp(line, "responses\n") == 0) open_packet_log();
    else if (strncmp(line, "tls-records ", 12) == 0) return set_records(line + 12);
    else if (strncmp(line, "origins ", 8) == 0) return set_origins(line + 8);
    else return obey_switch(line);
    return true;
}

static void add_page(const char *path) {
    pages = with_room(pages, page_count, &page_room, sizeof *pages);
    pages[page_count++] = read_page(path);
}

/* Pages, flows and measurements; false if the line is none. */
static bool obey_measurement(const char *line) {
    char id[512], path[3000];
    int index, iw, host;
    long bytes;
    uint64_t seed;
    double at_most;
    struct background others;
    if (strncmp(line, "flow ", 5) == 0) return add_flow(line + 5);
    if (sscanf(line, "race %511s %lf %" SCNu64, id, &at_most, &seed) == 3) run_race(id, at_most, seed);
    else if (sscanf(line, "cell %511s %d %" SCNu64 " %lf %lf %lf %lf %lf", id, &index, &seed,
                    &others.short_per_second, &others.large_per_second, &others.least_bytes, &others.most_bytes,
                    &at_most) == 8 && index >= 0 && index < page_count)
        run_cell(id, pages[index], seed, &others, at_most);
    else if (sscanf(line, "flight %511s %d %d %ld", id, &host, &iw, &bytes) == 4 && host > 0 && host < host_count)
        run_flight(id, host, iw, bytes);
    else if (sscanf(line, "page %2999[^\n]", path) == 1) add_page(path);
    else return false;
    return true;
}

static void open_sockets(int host) {
    if (host) listen_at(host);
    if (host == BACKGROUND_HOST) open_probe_sender();
    if (host == 0) open_probe_receiver();
}

/* Both ends of a connection are here: a page with many origins has thousands of descriptors. A container may not raise the
 * hard limit, and then has what it has. */
static void allow_descriptors(void) {
    enum { MOST = 1 << 16 };
    struct rlimit limit = {.rlim_cur = MOST, .rlim_max = MOST};
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) die("descriptors");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0) die("descriptors");
}

static void start(char *window_list, int host_words, char **words) {
    int *windows = NULL, window_count = 0, room = 0;
    for (char *word = strtok(window_list, ","); word; word = strtok(NULL, ",")) {
        windows = with_room(windows, window_count, &room, sizeof *windows);
        windows[window_count++] = atoi(word);
    }
    allow_descriptors();
    find_clock();
    find_losses();
    start_loop();
    find_bottleneck();
    read_hosts(host_words, words);
    find_ports();
    enter_namespaces(windows, window_count, open_sockets);
    free(windows);
    printf("@{\"ready\": true, \"offloads_on\": %d, \"hosts\": %d}\n", offloads_on, host_count);
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (getpid() == 1) first_process();
    if (argc == 2 && strcmp(argv[1], "hold") == 0) hold();
    if (argc < 6) {
        fprintf(stderr, "usage: player WINDOW,... DESCRIPTOR CLIENT BACKGROUND ORIGIN...\n"
                        "each host NAME:PID:ADDRESS\n");
        return 2;
    }
    int driver = atoi(argv[2]);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    start(argv[1], argc - 3, argv + 3);
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        if (strcmp(line, "done\n") == 0) {
            if (write(driver, line, 1) != 1) die("done");
        } else if (!obey_setting(line) && !obey_measurement(line)) {
            fprintf(stderr, "player: what is this? %s", line);
            return 2;
        }
        fflush(stdout);
    }
    return 0;
}
