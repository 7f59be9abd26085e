#include "page/recipe.h"
#include "loop/failure.h"
#include "loop/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Read what the file holds; false if it is no valid recipe. */
static bool read_recipe(FILE *file, struct page *page) {
    if (fscanf(file, "page %d %d\n", &page->origin_count, &page->object_count) != 2 || page->origin_count < 1 ||
        page->object_count < 1)
        return false;
    page->origins = zeroed(page->origin_count, sizeof *page->origins);
    page->objects = zeroed(page->object_count, sizeof *page->objects);
    for (int i = 0; i < page->origin_count; i++) {
        struct origin *origin = &page->origins[i];
        char protocol[3], records[256];
        long delay_us;
        if (fscanf(file, "origin %2s %d %ld %d %d %d %255s\n", protocol, &origin->name, &delay_us, &origin->tls_flight_bytes,
                   &origin->tls_trips, &origin->tls_after_bytes, records) != 7 ||
            origin->name < 0 || origin->name > i || delay_us < -1 ||
            (strcmp(records, "-") && !read_record_sizes(records, &origin->records)))
            return false;
        origin->h2 = strcmp(protocol, "h2") == 0;
        origin->resolver_delay = delay_us * 1000;
    }
    for (int i = 0; i < page->object_count; i++) {
        struct object *object = &page->objects[i];
        int document, incremental, render_blocking, delayable;
        long delay_us, browser_delay_us;
        if (fscanf(file, "object %d %d %d %" SCNd64 " %d %ld %" SCNd64 " %d %ld %d %d %d %d\n", &object->origin, &object->parent,
                   &object->request_bytes, &object->response_bytes, &document, &delay_us, &object->place,
                   &object->waits_for, &browser_delay_us, &object->priority.urgency, &incremental, &render_blocking,
                   &delayable) != 13 ||
            object->origin < 0 || object->origin >= page->origin_count || object->parent >= page->object_count ||
            object->waits_for < -1 || object->waits_for >= page->object_count ||
            object->request_bytes < 1 || object->response_bytes < 0 || delay_us < 0 || object->place < 1 ||
            browser_delay_us < 0)
            return false;
        object->document = document != 0;
        object->render_blocking = render_blocking != 0;
        object->priority.incremental = incremental != 0;
        object->delayable = delayable != 0;
        object->server_delay = delay_us * 1000;
        object->browser_delay = browser_delay_us * 1000;
        page->requested += object->response_bytes > 0;
    }
    return page->requested > 0;
}

struct page *read_page(const char *path) {
    FILE *file = fopen(path, "re");
    if (!file) die(path);
    struct page *page = zeroed(1, sizeof *page);
    bool is_valid = read_recipe(file, page);
    fclose(file);
    if (is_valid) return page;
    free(page->origins);
    free(page->objects);
    free(page);
    return NULL;
}
