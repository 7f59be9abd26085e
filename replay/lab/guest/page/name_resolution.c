#include "page/name_resolution.h"
#include "loop/loop.h"
#include "loop/memory.h"
#include "network/qdiscs.h"

#include <stdlib.h>

bool resolving_names;
static const struct page *page;
static nanoseconds *known_at; /* by the first origin of each name; 0: not asked for */
static bool *waiting;         /* by origin */

void begin_name_resolution(const struct page *which) {
    page = which;
    free(known_at);
    free(waiting);
    known_at = zeroed(page->origin_count, sizeof *known_at);
    waiting = zeroed(page->origin_count, sizeof *waiting);
}

/* Return whether the address of an origin is known. If it is not, have `when_known` called with the origin when it is: after the
 * round trip to the resolver, and what the resolver itself needs. */
bool resolve(int origin, later_function *when_known) {
    int name = page->origins[origin].name;
    if (!resolving_names || page->origins[name].resolver_delay < 0) return true;
    if (!known_at[name]) known_at[name] = now() + round_trip() + page->origins[name].resolver_delay;
    if (known_at[name] <= now()) return true;
    if (!waiting[origin]) do_later(known_at[name], when_known, NULL, origin);
    waiting[origin] = true;
    return false;
}
