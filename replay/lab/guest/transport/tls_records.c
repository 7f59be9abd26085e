#include "transport/tls_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE SECOND /* after which servers with small first records begin anew */

bool whole_records = true; /* false: bytes are of use as they arrive, which no browser can do */
static bool as_recorded = true;
static struct record_sizes common = {1, {{0, 16384}}}; /* where none were recorded */

/* Read sizes such as 40x1369,40x4229,16384. */
bool read_record_sizes(const char *text, struct record_sizes *sizes) {
    sizes->runs = 0;
    for (const char *at = text; at && sizes->runs < MOST_RECORD_RUNS; at = strchr(at, ',')) {
        int records = 0, bytes = 0;
        at += *at == ',';
        if (sscanf(at, "%dx%d", &records, &bytes) != 2) {
            records = 0;
            bytes = atoi(at);
        }
        if (records < 0 || bytes < 1) return false;
        sizes->run[sizes->runs].records = records;
        sizes->run[sizes->runs++].bytes = bytes;
    }
    return sizes->runs > 0;
}

/* Obey "bytes SIZES", "fixed SIZES" or "recorded SIZES": SIZES hold where the recipe has none, with fixed everywhere. */
bool set_records(const char *text) {
    char how[16], sizes[256];
    if (sscanf(text, "%15s %255s", how, sizes) != 2 || !read_record_sizes(sizes, &common)) return false;
    whole_records = strcmp(how, "bytes") != 0;
    as_recorded = strcmp(how, "fixed") != 0;
    return true;
}

/* The sizes to use for an origin with these recorded ones. */
const struct record_sizes *sizes_of(const struct record_sizes *recorded) {
    return as_recorded && recorded->runs ? recorded : &common;
}

static int64_t largest(const struct record_sizes *sizes, int number) {
    for (int i = 0; i < sizes->runs - 1; i++) {
        if (number < sizes->run[i].records) return sizes->run[i].bytes;
        number -= sizes->run[i].records;
    }
    return sizes->run[sizes->runs - 1].bytes;
}

/* Begin a record; return how many of the `ready` bytes it holds. */
int64_t begin_record(struct records *records, nanoseconds time, int64_t ready) {
    if (time - records->last > IDLE) records->count = 0;
    records->last = time;
    int64_t most = largest(records->sizes, records->count++);
    return ready < most ? ready : most;
}
