#include "loop/memory.h"
#include "loop/failure.h"

#include <stdlib.h>

void *zeroed(int count, size_t size) {
    void *memory = calloc((size_t)count, size);
    if (!memory) die("memory");
    return memory;
}

/* The array `items`, moved if needed so that an item fits behind its first `count`; it has room for `*room`. */
void *with_room(void *items, int count, int *room, size_t size) {
    if (count < *room) return items;
    *room = *room ? 2 * *room : 8;
    items = realloc(items, (size_t)*room * size);
    if (!items) die("memory");
    return items;
}
