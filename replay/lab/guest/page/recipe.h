/* A page's recipe, as replay/recipes/page_recipe.py writes it:
 *
 *   page ORIGINS OBJECTS
 *   origin h1|h2 NAME RESOLVER_DELAY_US TLS_FLIGHT_BYTES TLS_TRIPS TLS_AFTER_BYTES TLS_RECORDS
 *   object ORIGIN PARENT REQUEST_BYTES RESPONSE_BYTES DOCUMENT SERVER_DELAY_US PLACE WAITS_FOR
 *          BROWSER_DELAY_US URGENCY INCREMENTAL RENDER_BLOCKING DELAYABLE
 */
#pragma once

#include "loop/clock.h"
#include "transport/ledger.h"
#include "transport/tls_records.h"

#include <stdbool.h>

struct object {
    int origin, parent; /* parent -1: asked for when the load begins */
    int request_bytes;
    int64_t response_bytes; /* inside TLS; 0: all of it is in the browser's cache */
    bool document, render_blocking;
    nanoseconds server_delay; /* between request and response */
    int64_t place;            /* of the parent's bytes, at which it is found */
    int waits_for;            /* another object whose end the browser waits for too; -1: none */
    nanoseconds browser_delay; /* between all this and its request */
    struct priority priority;
    bool delayable; /* the browser gives its request a low priority */
};

struct origin {
    bool h2;
    int name;                   /* the first origin with the same host */
    nanoseconds resolver_delay; /* beyond the round trip to the resolver; negative: the browser knows the address */
    int tls_flight_bytes; /* 0: clear text */
    int tls_trips;        /* round trips of the handshake, 1 or 2 */
    int tls_after_bytes;  /* tickets and SETTINGS, in front of the first response */
    struct record_sizes records; /* as recorded; no run: unknown */
};

struct page {
    int origin_count, object_count;
    int requested; /* objects that are not in the browser's cache; at least one */
    struct origin *origins;
    struct object *objects;
};

struct page *read_page(const char *path); /* NULL if it is no valid recipe */
