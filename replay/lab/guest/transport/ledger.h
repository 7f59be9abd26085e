/* What a connection's bytes belong to. Contents do not matter to TCP, so all bytes are zeros; both ends share this
 * ledger in place of headers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A queue of places in a byte stream, and what is there. */
struct mark {
    int64_t at;
    int object;
    int64_t place; /* of the object's bytes */
    bool last;     /* of these bytes */
};
struct marks {
    struct mark *items;
    int first, end, room;
};

/* Places of a response at which the client is told, in ascending order; of its last byte it is always told. */
struct places {
    const int64_t *at;
    int count;
};

/* Responses that a server sends at the same time: in turns of one H2 frame each, or by priority (RFC 9218 §10). */
struct priority {
    int urgency;      /* 0: most urgent */
    bool incremental; /* in turns with others of its urgency, not one after another */
};
extern const struct priority no_priority;
struct stream {
    int object;
    struct priority priority;
    struct places places; /* that are left */
    int64_t size, left;
};
struct streams {
    struct stream *items;
    int count, room, turn;
    int64_t control; /* bytes in front of all streams */
};
struct part {
    int object; /* -1: control */
    int64_t from, bytes;
    struct places places; /* within it */
    bool last;
};

void append_mark(struct marks *marks, struct mark mark);
int64_t next_place(const struct marks *marks);
bool take_mark(struct marks *marks, int64_t read, struct mark *taken);

void add_stream(struct streams *streams, int object, int64_t bytes, struct places places, struct priority priority);
int64_t bytes_left(const struct streams *streams);
struct part take_part(struct streams *streams, int64_t at_most);
