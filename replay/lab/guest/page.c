/* A page's recipe, as replay/recipes/recipes.py writes it:
 *
 *   page ORIGINS OBJECTS
 *   origin h1|h2 TLS_FLIGHT_BYTES TLS_AFTER_BYTES
 *   object ORIGIN PARENT REQUEST_BYTES RESPONSE_BYTES DOCUMENT THINK_US
 */
#include "player.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *zeroed(int count, size_t size) {
    void *memory = calloc((size_t)count, size);
    if (!memory) die("memory");
    return memory;
}

struct page *read_page(const char *path) {
    FILE *file = fopen(path, "re");
    if (!file) die(path);
    struct page *page = zeroed(1, sizeof *page);
    errno = EINVAL;
    if (fscanf(file, "page %d %d\n", &page->origin_count, &page->object_count) != 2) die(path);
    page->origins = zeroed(page->origin_count, sizeof *page->origins);
    page->objects = zeroed(page->object_count, sizeof *page->objects);
    for (int i = 0; i < page->origin_count; i++) {
        struct origin *origin = &page->origins[i];
        char protocol[3];
        if (fscanf(file, "origin %2s %d %d\n", protocol, &origin->tls_flight_bytes, &origin->tls_after_bytes) != 3)
            die(path);
        origin->h2 = strcmp(protocol, "h2") == 0;
        origin->waiting = zeroed(page->object_count, sizeof *origin->waiting);
    }
    for (int i = 0; i < page->object_count; i++) {
        struct object *object = &page->objects[i];
        int document;
        long think_us;
        if (fscanf(file, "object %d %d %d %ld %d %ld\n", &object->origin, &object->parent, &object->request_bytes,
                   &object->response_bytes, &document, &think_us) != 6 ||
            object->origin < 0 || object->origin >= page->origin_count || object->parent >= page->object_count ||
            object->request_bytes < 1 || object->response_bytes < 1 || think_us < 0)
            die(path);
        object->document = document != 0;
        object->think = think_us * 1000;
    }
    fclose(file);
    return page;
}

/* Before each load. */
void reset_page(struct page *page) {
    for (int i = 0; i < page->origin_count; i++) {
        struct origin *origin = &page->origins[i];
        origin->waiting_first = origin->waiting_end = origin->connection_count = 0;
    }
    for (int i = 0; i < page->object_count; i++) {
        struct object *object = &page->objects[i];
        object->done = object->retransmitted = false;
        object->retransmitted_before = 0;
        object->wanted = object->sent = object->first_byte = object->last_byte = object->last_packet = 0;
        object->flights = 0;
    }
}

void append_mark(struct marks *marks, int64_t at, int object, enum event event) {
    if (marks->end == marks->room) {
        marks->room = marks->room ? 2 * marks->room : 8;
        marks->items = realloc(marks->items, (size_t)marks->room * sizeof *marks->items);
        if (!marks->items) die("memory");
    }
    marks->items[marks->end++] = (struct mark){at, object, event};
}
