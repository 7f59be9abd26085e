/* The player: browser and servers of a page load in one process, so that a load costs few system calls.
 *
 * Client and servers are sockets in different network namespaces, those of Mininet's hosts; all that
 * they say crosses the emulated network. Contents do not matter to TCP, so bytes are zeros, and what
 * a byte belongs to is written in a ledger that both ends share instead of into a header.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    H1_CONNECTIONS = 6,          /* that a browser opens to one host at most */
    CLIENT_HELLO_BYTES = 517,    /* as Chromium pads it */
    CLIENT_FINISHED_BYTES = 80,  /* ChangeCipherSpec and Finished, before the first request */
    H2_FRAME_BYTES = 16384,      /* a turn of one stream: the default SETTINGS_MAX_FRAME_SIZE (RFC 9113) */
    H2_BATCH_BYTES = 65536,      /* what a server hands to TCP at once; later streams wait behind no more */
    HTTP_PORT = 80,
    FIRST_CLIENT_PORT = 10000,
    UPLOAD_HOST = 2,             /* the first origin; host 0 is the client, host 1 serves the background */
    BACKGROUND_IW = 10,          /* today's window (RFC 6928), unless told otherwise */
    REQUEST_BYTES = 400,         /* of what is no page's: about Chromium's */
};
#define ENDLESS (INT64_C(1) << 50) /* size of a rival's response */

/* Objects that are no part of a page. */
enum { HELLO = -1, BACKGROUND = -2, SAMPLE = -3, FLOW = -4 };

typedef int64_t nanoseconds;

struct object {
    int origin, parent; /* parent -1: asked for when the load begins */
    int request_bytes;
    int64_t response_bytes;
    bool document;
    nanoseconds think; /* of its server, before the answer */
    /* of the current load */
    bool done, retransmitted;
    uint32_t retransmitted_before;
    nanoseconds wanted, sent, last_byte;
    nanoseconds first_byte, last_packet; /* told by the tap, as is the next */
    int flights;
};

struct origin {
    bool h2;
    int tls_flight_bytes; /* 0: clear text */
    int tls_after_bytes;  /* tickets and SETTINGS, in front of the first response */
    /* of the current load */
    int *waiting, waiting_first, waiting_end; /* objects without a connection, in order of asking */
    struct connection *connections[H1_CONNECTIONS];
    int connection_count;
};

struct page {
    int origin_count, object_count;
    struct origin *origins;
    struct object *objects;
};

/* A queue of places in a byte stream and what happens there. */
enum event { REQUEST_END, TLS_END, RESPONSE_FIRST, RESPONSE_END };
struct mark {
    int64_t at;
    int object;
    enum event event;
};
struct marks {
    struct mark *items;
    int first, end, room;
};

struct stream {
    int object;
    int64_t size, left;
};

/* Bytes of a connection that are an object's. */
struct span {
    int64_t from, end;
    int object;
};

struct connection {
    int index, client, server, host; /* its number; descriptors; the host that serves */
    struct origin *origin;    /* NULL unless of the page */
    int64_t size;             /* of the one response, unless of the page; negative: tell of each packet */
    int64_t request_bytes;    /* of the one request, unless of the page */
    bool flow, upload;        /* of a race; whether its request is what counts */
    const char *control;      /* its congestion control, where it is not everybody's; it must outlive it */
    bool connected, ready, busy, answering, awaits_room, window_checked;
    int requests, responses;
    int64_t up_sent, up_read, down_written, down_read, lowat;
    struct marks requested, written;
    struct stream *streams;
    int stream_count, stream_room, turn;
    int64_t control_bytes; /* of TLS and H2, to be written before the streams */
    bool tls_flight_due;
    struct span *spans;
    int span_count, span_room;
    int64_t initial_bytes_again, bytes_again; /* in the first window; by the last look */
    uint32_t down_isn;
    uint32_t snd_cwnd, snd_mss, first_window, retransmitted;
    uint64_t looked_at; /* the event */
    nanoseconds opened, established, ended;
};

struct totals {
    int connections, initial_loss, responses, responses_retransmitted;
    int64_t initial_bytes_again;
    int64_t payload_bytes, segments_sent, segments_retransmitted, bytes_retransmitted;
    uint32_t snd_cwnd_min;
};

/* world.c: namespaces, listeners, the bottleneck's counters */
struct host {
    char name[16], address[16];
    int listener, pid;
};
extern struct host *hosts;
extern int host_count, epoll_descriptor, offloads_on;
void enter_world(int argc, char **argv, const int *windows, int window_count);
void set_congestion_control(const char *name);
_Noreturn void hold(void);
void seed_kernel(uint64_t seed);
uint64_t bottleneck_drops(void);
int learned_neighbours(void);
_Noreturn void die(const char *what);

/* init.c: what the kernel starts */
_Noreturn void first_process(void);

/* wire.c: addresses, routes, neighbours */
void wire(int host, const int *windows, int window_count);
uint32_t client_address(int window);
uint32_t upload_address(int window);

/* delay.c: the delay lines and their losses */
void find_delay_line(int which);
void set_delay(nanoseconds delay, double share, double burst);
void set_losses(double share, double burst);
void seed_losses(uint64_t seed);
void lose_nothing(void);
nanoseconds round_trip(void);

/* loop.c: what happens next */
#define SECOND INT64_C(1000000000)
nanoseconds now(void);
nanoseconds last_look(void);
nanoseconds look_at_clock(void);
void find_clock(void);
void make_timer(void);
void set_timer(nanoseconds at);
bool turn(void);
uint64_t this_event(void);
void set_pause(nanoseconds length);
nanoseconds rest(void);
nanoseconds earlier(nanoseconds a, nanoseconds b);

/* page.c */
struct page *read_page(const char *path);
void reset_page(struct page *page);
void append_mark(struct marks *marks, int64_t at, int object, enum event event);

/* connection.c: one TCP connection, both ends */
struct connection *open_connection(int host, int iw, struct origin *origin);
struct connection *open_flow(int host, int iw, bool upload, const char *control);
extern bool pacing;
void client_event(struct connection *connection, uint32_t events);
void server_event(struct connection *connection, uint32_t events);
void accept_one(int listener);
void answer(struct connection *connection, int object);
void send_request(struct connection *connection, int object, int64_t bytes, bool more);
void settle(struct connection *connection, struct totals *totals);
void close_connection(struct connection *connection);
void close_all(void);
struct connection *connection_at(int index);
int opened_connections(void);
void look(struct connection *connection);
extern int window_of_cell;
extern const char *failure; /* of the current load; NULL while all is well */

/* load.c: the page, in the order of its dependencies */
void begin_load(struct page *page, int iw, nanoseconds time);
bool load_is_done(void);
void connection_is_ready(struct connection *connection);
void response_began(int object, nanoseconds time);
void response_ended(struct connection *connection, int object, nanoseconds time);
struct object *object_at(int index);
void print_load(const char *id, uint64_t drops, int64_t rivals_bytes);

/* race.c: flows beside each other on an otherwise idle network */
void run_flight(const char *id, int host, int iw, long bytes);
bool add_flow(const char *line);
void run_race(const char *id, double at_most, uint64_t seed);

/* neighbours.c: what the page does to others */
extern bool probing, awaiting_short_flows;
void open_probe_sender(void);
void open_probe_receiver(void);
void await_neighbours(void);
void begin_neighbours(nanoseconds time);
void end_neighbours(nanoseconds time);
nanoseconds next_probe(void);
void send_probe(nanoseconds time);
void probe_event(nanoseconds time);
bool neighbours_are_served(void);
void print_neighbours(void);

/* background.c: other people's short flows */
extern int background_window;
void begin_background(uint64_t seed, int host, double flows_per_second, nanoseconds time);
nanoseconds next_arrival(void);
void arrive(nanoseconds time);
uint64_t next_random(void);

/* tap.c: when what arrived */
extern bool tapping;
void open_tap(void);
void note_span(struct connection *connection, int object, int64_t bytes);
void read_tap(void);

/* think.c: answers that are due later */
extern bool thinking; /* whether servers do */
void think_about(struct connection *connection, int object, nanoseconds due);
nanoseconds next_thought(void);
void answer_due(nanoseconds time);
void forget_thoughts(void);

/* rivals.c: downloads without end beside the page */
void set_rivals(int flows, int iw, const char *control);
void begin_rivals(void);
int64_t rivals_received(void);
