#include "page/discovery.h"
#include "loop/memory.h"

#include <stdlib.h>
#include <string.h>

static enum { AS_RECORDED, AT_FIRST_BYTE, AT_LAST_BYTE } when;

static const struct page *page;
static bool *arrived; /* by object: whether all of it is there */
static bool *waiting; /* by object: whether it is found, and waits for another object */
static int *children;   /* by parent, and of a parent in the order of finding */
static int64_t *places; /* of each object its children's, and in front of a document's the first byte */
static struct family {
    int next, end; /* of its children */
    struct places places;
} *families; /* by parent; the first is of objects without one */

bool set_discovery(const char *name) {
    static const char *names[] = {[AS_RECORDED] = "recorded", [AT_FIRST_BYTE] = "first-byte", [AT_LAST_BYTE] = "last-byte"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i])) continue;
        when = i;
        return true;
    }
    return false;
}

static int64_t place_of(int child) {
    const struct object *object = &page->objects[child];
    if (object->parent < 0 || when == AT_FIRST_BYTE) return 1;
    int64_t whole = page->objects[object->parent].response_bytes;
    return when == AT_LAST_BYTE || object->place > whole ? whole : object->place;
}

static int in_order(const void *a, const void *b) {
    int one = *(const int *)a, other = *(const int *)b;
    int parents = page->objects[one].parent - page->objects[other].parent;
    if (parents) return parents;
    int64_t apart = place_of(one) - place_of(other);
    return apart ? (apart > 0) - (apart < 0) : one - other;
}

static void find_family(int parent, int *child, int64_t **place) {
    struct family *family = &families[parent + 1];
    *family = (struct family){.next = *child, .places = {.at = *place}};
    int64_t whole = parent < 0 ? 0 : page->objects[parent].response_bytes;
    if (parent >= 0 && page->objects[parent].document && whole > 1) *(*place)++ = 1;
    for (; *child < page->object_count && page->objects[children[*child]].parent == parent; (*child)++)
        if (place_of(children[*child]) < whole) *(*place)++ = place_of(children[*child]); /* the last byte tells itself */
    family->end = *child;
    family->places.count = (int)(*place - family->places.at);
}

void begin_discovery(const struct page *which) {
    page = which;
    free(children);
    free(places);
    free(families);
    free(arrived);
    free(waiting);
    arrived = zeroed(page->object_count, sizeof *arrived);
    waiting = zeroed(page->object_count, sizeof *waiting);
    children = zeroed(page->object_count, sizeof *children);
    places = zeroed(2 * page->object_count, sizeof *places);
    families = zeroed(page->object_count + 1, sizeof *families);
    for (int i = 0; i < page->object_count; i++) children[i] = i;
    qsort(children, (size_t)page->object_count, sizeof *children, in_order);
    int child = 0;
    int64_t *place = places;
    for (int parent = -1; parent < page->object_count; parent++) find_family(parent, &child, &place);
}

/* Places of an object at which something is found before its last byte. */
struct places places_of(int object) { return families[object + 1].places; }

/* The next child to be found within the first `place` bytes of its parent; -1 if there is none. */
int find_child(int parent, int64_t place) {
    struct family *family = &families[parent + 1];
    if (family->next == family->end || place_of(children[family->next]) > place) return -1;
    return children[family->next++];
}

/* Returns 1 if an object that is found has to wait for another one, as the recorded browser seems to have done. */
bool must_wait(int object) {
    int other = page->objects[object].waits_for;
    return waiting[object] = when == AS_RECORDED && other >= 0 && !arrived[other];
}

/* Note that all of an object is there; return one that waited for it, and -1 when there is none left. */
int end_waiting(int object) {
    arrived[object] = true;
    for (int i = 0; i < page->object_count; i++) {
        if (!waiting[i] || page->objects[i].waits_for != object) continue;
        waiting[i] = false;
        return i;
    }
    return -1;
}

/* The browser's own delay between finding an object, or the end of its wait, and its request. */
nanoseconds delay_of(int object) { return when == AS_RECORDED ? page->objects[object].browser_delay : 0; }
