#include "transport/spans.h"
#include "loop/memory.h"

/* Note that these bytes of the connection are this response's. */
void note_span(struct connection *connection, int object, int64_t from, int64_t end) {
    if (!connection->application->sent_again || object < 0) return;
    connection->spans =
        with_room(connection->spans, connection->span_count, &connection->span_room, sizeof *connection->spans);
    connection->spans[connection->span_count++] = (struct span){from, end, object};
}

/* Index of the first span that ends behind `at`. */
int span_behind(const struct connection *connection, int64_t at) {
    int low = 0, high = connection->span_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (connection->spans[middle].end > at) high = middle;
        else low = middle + 1;
    }
    return low;
}
