/* One TCP connection, both ends in one process: sockets in two network namespaces, so all bytes cross the emulated
 * network. This is its opening, its client's end and its close; the server's end is in server.c. */
#pragma once

#include "loop/loop.h"
#include "transport/ledger.h"
#include "transport/losses.h"
#include "transport/tls_records.h"

#include <netinet/in.h>
#include <stddef.h>

enum { HTTP_PORT = 80 };

extern bool delaying_acknowledgements; /* whether clients acknowledge every second segment from the first on */

struct connection;

/* What the owner of a connection does when something happens on it; NULL: nothing. */
struct application {
    size_t size; /* of the owner's structure, which begins with its struct connection */
    void (*established)(struct connection *connection);                        /* the client may send */
    void (*accepted)(struct connection *connection);                           /* the server's socket exists */
    void (*asked)(struct connection *connection, int object);                  /* the server has read a request */
    void (*received)(struct connection *connection);                           /* the client has read */
    void (*reached)(struct connection *connection, const struct mark *mark);   /* the client has read up to it */
    void (*arrived)(struct connection *connection, int object, nanoseconds time); /* a segment of it, at the client */
    void (*sent_again)(struct connection *connection, int64_t from, int64_t bytes); /* by the server */
    void (*failed)(struct connection *connection, const char *why);
};

/* The bytes of a response within its connection's. */
struct span {
    int64_t from, end;
    int object;
};

struct connection {
    const struct application *application;
    int index, client, server; /* its number; descriptors, -1 while there is none */
    int port;                  /* the client's */
    struct handler client_handler, server_handler;
    bool connected, awaits_room;
    nanoseconds opened;
    int64_t up_sent, up_read, down_written, down_read;
    int64_t batch;   /* the most that the server hands to TCP at once */
    int64_t wake_at; /* the client also wakes when it has this many bytes */
    int64_t lowat;   /* the client's low-water mark */
    struct marks requested, written;
    struct streams streams;
    struct records records;
    int64_t record_left; /* bytes of the record, or of the clear text, that has begun */
    struct span *spans;
    int span_count, span_room;
    uint32_t down_isn;
    struct losses losses;
};

struct connection *make_connection(const struct application *application, int iw);
void open_connection(struct connection *connection, in_addr_t server);
void send_request(struct connection *connection, int object, int64_t bytes, bool more);
void set_low_water(struct connection *connection);
void fail(struct connection *connection, const char *why);
void close_connection(struct connection *connection);
void close_all(void);
int opened_connections(void);
struct connection *connection_at(int index);
struct connection *connection_of(int port);
