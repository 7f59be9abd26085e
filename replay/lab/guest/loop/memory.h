/* Memory that is there: the player ends where the kernel has none. */
#pragma once

#include <stddef.h>

void *zeroed(int count, size_t size);
void *with_room(void *items, int count, int *room, size_t size);
