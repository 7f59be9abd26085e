#include "page/handshake.h"

#include <string.h>

enum {
    CLIENT_HELLO_BYTES = 517,    /* as Chromium pads it */
    CLIENT_FINISHED_BYTES = 80,  /* ChangeCipherSpec and Finished, before the first request */
    KEY_EXCHANGE_BYTES = 126,    /* TLS 1.2: the client's key, ChangeCipherSpec, Finished */
    SERVER_FINISHED_BYTES = 51,  /* TLS 1.2: ChangeCipherSpec and Finished, of the server's flight the last */
    RESUMED_FLIGHT_BYTES = 250,  /* ServerHello, EncryptedExtensions and Finished: no certificates */
};

static enum { AS_RECORDED, RESUMED, EARLY_DATA } how;

bool set_handshake(const char *name) {
    static const char *names[] = {[AS_RECORDED] = "recorded", [RESUMED] = "resumed", [EARLY_DATA] = "early-data"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i])) continue;
        how = i;
        return true;
    }
    return false;
}

static int64_t flight_bytes(const struct origin *origin) {
    bool shorter = how != AS_RECORDED && origin->tls_flight_bytes > RESUMED_FLIGHT_BYTES;
    return shorter ? RESUMED_FLIGHT_BYTES : origin->tls_flight_bytes;
}

/* Round trips until the first request may be sent. */
int handshake_trips(const struct origin *origin) {
    if (!origin->tls_flight_bytes || how == EARLY_DATA) return 0;
    return how == RESUMED ? 1 : origin->tls_trips;
}

/* What the client sends in a round trip, from 0. */
int64_t hello_bytes(int trip) { return trip ? KEY_EXCHANGE_BYTES : CLIENT_HELLO_BYTES; }

int64_t server_flight_bytes(const struct origin *origin, int trip) {
    if (trip) return SERVER_FINISHED_BYTES;
    int64_t all = flight_bytes(origin), later = handshake_trips(origin) > 1 ? SERVER_FINISHED_BYTES : 0;
    return all > later ? all - later : 1;
}

int64_t bytes_with_first_request(const struct origin *origin) {
    if (!origin->tls_flight_bytes || handshake_trips(origin) > 1) return 0;
    return CLIENT_FINISHED_BYTES + (how == EARLY_DATA ? CLIENT_HELLO_BYTES : 0);
}

int64_t bytes_before_first_answer(const struct origin *origin) {
    return origin->tls_after_bytes + (how == EARLY_DATA ? flight_bytes(origin) : 0);
}
