/* TLS records of a server: a client can use nothing of a record before all of it has arrived (RFC 8446 §5.2). */
#pragma once

#include "loop/clock.h"

#include <stdbool.h>

enum { RECORD_OVERHEAD_BYTES = 22, MOST_RECORD_RUNS = 16 }; /* header, content type, AEAD tag; as in page_recipe.py */

/* Largest contents of a connection's records, in order: so many records of so many bytes; the last run does not end. */
struct record_sizes {
    int runs;
    struct {
        int records, bytes;
    } run[MOST_RECORD_RUNS];
};

/* A connection's records so far. */
struct records {
    const struct record_sizes *sizes; /* NULL: clear text */
    int count;                        /* since the first, or since the connection was idle */
    nanoseconds last;                 /* when the last one began */
};

bool read_record_sizes(const char *text, struct record_sizes *sizes);
bool set_records(const char *text);
const struct record_sizes *sizes_of(const struct record_sizes *recorded);
int64_t begin_record(struct records *records, nanoseconds time, int64_t ready);
extern bool whole_records;
