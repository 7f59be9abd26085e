/* What a connection's bytes belong to. Contents do not matter to TCP, so all bytes are zeros; both ends share this
 * ledger in place of headers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A queue of places in a byte stream, and what happens there. */
enum event { FIRST_BYTE, LAST_BYTE };
struct mark {
    int64_t at;
    int object;
    enum event event;
};
struct marks {
    struct mark *items;
    int first, end, room;
};

/* Responses that a server sends at the same time, in turns of one H2 frame each. */
struct stream {
    int object;
    bool tell_first; /* whether the client is told of the first byte, not only of the last */
    int64_t size, left;
};
struct streams {
    struct stream *items;
    int count, room, turn;
    int64_t control; /* bytes in front of all streams */
};
struct part {
    int object; /* -1: control */
    int64_t bytes;
    bool tell_first, last;
};

void append_mark(struct marks *marks, int64_t at, int object, enum event event);
int64_t next_place(const struct marks *marks);
bool take_mark(struct marks *marks, int64_t read, struct mark *taken);

void add_stream(struct streams *streams, int object, int64_t bytes, bool tell_first);
int64_t bytes_left(const struct streams *streams);
struct part take_part(struct streams *streams, int64_t at_most);
