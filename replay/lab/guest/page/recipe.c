#include "page/recipe.h"
#include "loop/failure.h"
#include "loop/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
        char protocol[3], records[256];
        if (fscanf(file, "origin %2s %d %d %d %255s\n", protocol, &origin->tls_flight_bytes, &origin->tls_trips,
                   &origin->tls_after_bytes, records) != 5 ||
            (strcmp(records, "-") && !read_record_sizes(records, &origin->records)))
            die(path);
        origin->h2 = strcmp(protocol, "h2") == 0;
    }
    for (int i = 0; i < page->object_count; i++) {
        struct object *object = &page->objects[i];
        int document, incremental;
        long delay_us, browser_delay_us;
        if (fscanf(file, "object %d %d %d %" SCNd64 " %d %ld %" SCNd64 " %ld %d %d\n", &object->origin, &object->parent,
                   &object->request_bytes, &object->response_bytes, &document, &delay_us, &object->place,
                   &browser_delay_us, &object->priority.urgency, &incremental) != 10 ||
            object->origin < 0 || object->origin >= page->origin_count || object->parent >= page->object_count ||
            object->request_bytes < 1 || object->response_bytes < 1 || delay_us < 0 || object->place < 1 ||
            browser_delay_us < 0)
            die(path);
        object->document = document != 0;
        object->priority.incremental = incremental != 0;
        object->server_delay = delay_us * 1000;
        object->browser_delay = browser_delay_us * 1000;
    }
    fclose(file);
    return page;
}
