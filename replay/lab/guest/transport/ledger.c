#include "transport/ledger.h"
#include "loop/memory.h"

#include <string.h>

enum { H2_FRAME_BYTES = 16384 }; /* the default SETTINGS_MAX_FRAME_SIZE (RFC 9113) */

void append_mark(struct marks *marks, struct mark mark) {
    marks->items = with_room(marks->items, marks->end, &marks->room, sizeof *marks->items);
    marks->items[marks->end++] = mark;
}

int64_t next_place(const struct marks *marks) {
    return marks->first < marks->end ? marks->items[marks->first].at : INT64_MAX;
}

/* Take the next mark, if the first `read` bytes reach it. */
bool take_mark(struct marks *marks, int64_t read, struct mark *taken) {
    if (next_place(marks) > read) return false;
    *taken = marks->items[marks->first++];
    return true;
}

void add_stream(struct streams *streams, int object, int64_t bytes, struct places places, struct priority priority) {
    streams->items = with_room(streams->items, streams->count, &streams->room, sizeof *streams->items);
    streams->items[streams->count++] = (struct stream){object, priority, places, bytes, bytes};
}

int64_t bytes_left(const struct streams *streams) {
    int64_t left = streams->control;
    for (int i = 0; i < streams->count; i++) left += streams->items[i].left;
    return left;
}

static int64_t smallest(int64_t a, int64_t b) { return a < b ? a : b; }

const struct priority no_priority = {.urgency = 3, .incremental = true};

/* Of the most urgent streams the first that is not incremental; else the next in turn. */
static int next_stream(const struct streams *streams) {
    int urgency = streams->items[0].priority.urgency, turn = -1;
    for (int i = 1; i < streams->count; i++)
        if (streams->items[i].priority.urgency < urgency) urgency = streams->items[i].priority.urgency;
    for (int i = 0; i < streams->count; i++) {
        const struct priority *priority = &streams->items[i].priority;
        if (priority->urgency != urgency) continue;
        if (!priority->incremental) return i;
        if (turn < 0 || (turn < streams->turn && i >= streams->turn)) turn = i;
    }
    return turn;
}

/* The next bytes in turn, all of one stream; `at_most` is positive and no more than is left. */
struct part take_part(struct streams *streams, int64_t at_most) {
    if (streams->control) {
        struct part control = {.object = -1, .bytes = smallest(at_most, streams->control)};
        streams->control -= control.bytes;
        return control;
    }
    int turn = streams->turn = next_stream(streams);
    struct stream *stream = &streams->items[turn];
    int64_t bytes = smallest(at_most, smallest(stream->left, H2_FRAME_BYTES));
    struct part part = {stream->object, stream->size - stream->left, bytes, {stream->places.at, 0}, bytes == stream->left};
    while (part.places.count < stream->places.count && part.places.at[part.places.count] <= part.from + bytes)
        part.places.count++;
    stream->places.at += part.places.count;
    stream->places.count -= part.places.count;
    stream->left -= bytes;
    if (part.last) memmove(stream, stream + 1, (size_t)(--streams->count - streams->turn) * sizeof *stream);
    else streams->turn++;
    if (streams->turn >= streams->count) streams->turn = 0;
    return part;
}
