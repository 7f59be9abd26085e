#include "page/responses.h"

#include <inttypes.h>
#include <stdio.h>

/* Print for each response from a server when it was wanted, asked for, and its first and last byte arrived, since the load began;
 * its flights; whether its connection sent anything again meanwhile. */
void print_responses(const struct page *page, const struct object_state *objects, nanoseconds began) {
    const char *separator = "@{\"each\": [";
    for (int i = 0; i < page->object_count; i++) {
        const struct object_state *object = &objects[i];
        if (page->objects[i].response_bytes == 0) continue;
        printf("%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%d,%d]", separator, object->wanted - began, object->sent - began,
               object->first_byte - began, object->last_byte - began, object->flights, object->retransmitted);
        separator = ",";
    }
    printf("]}\n");
}
