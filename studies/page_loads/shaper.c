/* A path between two TUN devices, in real time: each way a token bucket of one packet before a queue limited in bytes,
 * then a delay, as the lab's bottleneck has them. Commands on standard input, answers in JSON on standard output:
 *
 *   path DOWN_BPS UP_BPS DELAY_US QUEUE_BYTES    the delay each way; the queue is that of the way down
 *   report                                       what passed since the last report
 *
 * It ends with its standard input. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    PACKET_BYTES = 1600,
    PACKETS = 1 << 14,        /* in flight each way; a power of two */
    FRAME_HEADER_BYTES = 14,  /* Ethernet's, which the lab's shaper counts */
    BUCKET_BYTES = 1540,      /* one packet */
    LARGE_QUEUE_BYTES = 4000000,
    BATCH = 64,               /* packets read before others are due again */
    IDLE_NS = 100000000,
    PRIORITY = 10,
};

typedef int64_t nanoseconds;

struct packet {
    nanoseconds departs; /* from the bottleneck */
    int length;
    unsigned char bytes[PACKET_BYTES];
};

static struct way {
    int in, out;
    double bytes_per_ns;
    int64_t queue_limit, queued;
    double tokens;
    nanoseconds counted;              /* time of `tokens` */
    unsigned first, departing, end;   /* delivered before `first`, departed before `departing` */
    uint64_t sent, bytes, dropped;
    nanoseconds latest;               /* most that a packet was delivered after it was due */
    struct packet *packets;
} ways[2];
static nanoseconds delay;

static nanoseconds now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int open_device(const char *name) {
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    if (device < 0 || ioctl(device, TUNSETIFF, &request) < 0) {
        perror(name);
        exit(1);
    }
    return device;
}

static struct packet *at(struct way *way, unsigned number) { return &way->packets[number % PACKETS]; }

/* When the bucket has let the packet pass, and all before it. */
static nanoseconds departure(struct way *way, nanoseconds time, int64_t frame) {
    nanoseconds departs = time > way->counted ? time : way->counted;
    way->tokens += (double)(departs - way->counted) * way->bytes_per_ns;
    if (way->tokens > BUCKET_BYTES) way->tokens = BUCKET_BYTES;
    if (way->tokens < (double)frame) {
        departs += (nanoseconds)(((double)frame - way->tokens) / way->bytes_per_ns);
        way->tokens = (double)frame;
    }
    way->tokens -= (double)frame;
    way->counted = departs;
    return departs;
}

static void take(struct way *way) {
    for (int i = 0; i < BATCH && way->end - way->first < PACKETS; i++) {
        struct packet *packet = at(way, way->end);
        ssize_t length = read(way->in, packet->bytes, PACKET_BYTES);
        if (length <= 0) return;
        nanoseconds time = now();
        for (; way->departing != way->end && at(way, way->departing)->departs <= time; way->departing++)
            way->queued -= at(way, way->departing)->length + FRAME_HEADER_BYTES;
        int64_t frame = length + FRAME_HEADER_BYTES;
        if (way->queued + frame > way->queue_limit) {
            way->dropped++;
            continue;
        }
        way->queued += frame;
        packet->length = (int)length;
        packet->departs = departure(way, time, frame);
        way->end++;
    }
}

/* Deliver what is due; the time of the next packet. */
static nanoseconds deliver(struct way *way) {
    while (way->first != way->end) {
        struct packet *packet = at(way, way->first);
        nanoseconds due = packet->departs + delay, late = now() - due;
        if (late < 0) return due;
        if (write(way->out, packet->bytes, (size_t)packet->length) < 0 && errno == EAGAIN) return now() + 100000;
        if (late > way->latest) way->latest = late;
        if (way->departing == way->first) {
            way->departing++;
            way->queued -= packet->length + FRAME_HEADER_BYTES;
        }
        way->first++;
        way->sent++;
        way->bytes += (uint64_t)packet->length;
    }
    return now() + IDLE_NS;
}

static void change(double down_bps, double up_bps, long delay_us, int64_t queue_bytes) {
    delay = delay_us * 1000;
    for (int i = 0; i < 2; i++) {
        struct way *way = &ways[i];
        way->bytes_per_ns = (i ? up_bps : down_bps) / 8e9;
        way->queue_limit = i ? LARGE_QUEUE_BYTES : queue_bytes;
        way->first = way->departing = way->end;
        way->queued = 0;
        way->tokens = BUCKET_BYTES;
        way->counted = now();
    }
}

static void report(void) {
    for (int i = 0; i < 2; i++) {
        struct way *way = &ways[i];
        printf("%s\"%s\": {\"packets\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"dropped\": %" PRIu64
               ", \"latest_us\": %" PRId64 "}%s",
               i ? ", " : "{", i ? "up" : "down", way->sent, way->bytes, way->dropped, way->latest / 1000, i ? "}\n" : "");
        way->sent = way->bytes = way->dropped = 0;
        way->latest = 0;
    }
    fflush(stdout);
}

/* Obey what has come on standard input; false at its end. */
static bool obey(void) {
    static char line[256];
    double down_bps, up_bps;
    long delay_us;
    int64_t queue_bytes;
    if (!fgets(line, sizeof line, stdin)) return false;
    if (strcmp(line, "report\n") == 0) {
        report();
    } else if (sscanf(line, "path %lf %lf %ld %" SCNd64, &down_bps, &up_bps, &delay_us, &queue_bytes) == 4) {
        change(down_bps, up_bps, delay_us, queue_bytes);
        report();
    } else {
        fprintf(stderr, "shaper: unknown command: %s", line);
        exit(1);
    }
    return true;
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: shaper CLIENT_DEVICE SERVER_DEVICE\n");
        return 2;
    }
    int client = open_device(arguments[1]), server = open_device(arguments[2]);
    ways[0] = (struct way){.in = server, .out = client};
    ways[1] = (struct way){.in = client, .out = server};
    for (int i = 0; i < 2; i++) ways[i].packets = calloc(PACKETS, sizeof *ways[i].packets);
    if (!ways[0].packets || !ways[1].packets) return 1;
    change(1e9, 1e9, 0, LARGE_QUEUE_BYTES);
    setvbuf(stdin, NULL, _IONBF, 0); /* so that poll sees what is left of it */
    prctl(PR_SET_TIMERSLACK, 1);
    mlockall(MCL_CURRENT);
    bool is_first = sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = PRIORITY}) == 0;
    printf("{\"is_first\": %s}\n", is_first ? "true" : "false"); /* before all other processes */
    fflush(stdout);
    for (;;) {
        nanoseconds next = INT64_MAX;
        for (int i = 0; i < 2; i++) {
            take(&ways[i]);
            nanoseconds due = deliver(&ways[i]);
            if (due < next) next = due;
        }
        nanoseconds left = next - now();
        if (left < 0) left = 0;
        struct pollfd awaited[] = {{client, POLLIN, 0}, {server, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
        struct timespec limit = {left / 1000000000, left % 1000000000};
        if (ppoll(awaited, 3, &limit, NULL) > 0 && awaited[2].revents && !obey()) return 0;
    }
}
