"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The first tables."""
    op.create_table(
        "connection",
        sa.Column(
            "crawl_id",
            sa.SmallInteger(),
            autoincrement=False,
            nullable=False,
            comment="crawl that the row belongs to",
        ),
        sa.Column(
            "visit_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="visit that the row belongs to",
        ),
        sa.Column(
            "id",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="number of the connection within the visit, from 1, in the order of opening",
        ),
        sa.Column(
            "host",
            sa.Text(),
            nullable=True,
            comment="host that the connection was opened for; null if unknown",
        ),
        sa.Column("port", sa.Integer(), nullable=False, comment="server port"),
        sa.Column("remote_address", sa.Text(), nullable=False, comment="server address, without port"),
        sa.Column(
            "local_port",
            sa.Integer(),
            nullable=False,
            comment="client port; with the server's address and port it identifies the "
            "connection in a packet capture",
        ),
        sa.Column(
            "protocol",
            sa.Text(),
            nullable=False,
            comment="http/1.1, h2 or h3 (ALPN names, RFC 7301); udp for datagrams that are no QUIC, as "
            "WebRTC's; unknown if the browser's log has no beginning of the "
            "connection and no request on it",
        ),
        sa.Column(
            "tls_version",
            sa.Text(),
            nullable=True,
            comment="TLS version, e.g. TLS 1.3; null for clear text, and for datagrams that are no QUIC; "
            "unknown if the browser's log has no beginning of the connection",
        ),
        sa.Column(
            "tls_resumed",
            sa.Boolean(),
            nullable=True,
            comment="true if the TLS session was resumed; null for clear text, "
            "or if the handshake did not complete",
        ),
        sa.Column(
            "received_bytes",
            sa.BigInteger(),
            nullable=False,
            comment="TCP payload received from the server, each byte counted once; for QUIC the UDP "
            "payload, including retransmissions and acknowledgements",
        ),
        sa.Column(
            "decrypted_bytes",
            sa.BigInteger(),
            nullable=False,
            comment="received bytes inside TLS; equal to received_bytes for clear text; for QUIC the "
            "data of all streams, each byte counted once",
        ),
        sa.Column(
            "tls_handshake_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="TCP payload of the server's TLS flight, before the first response; for QUIC the UDP "
            "payload of datagrams that begin with an Initial, Handshake, Retry or Version Negotiation "
            "packet; null for clear text, where the browser's log has no beginning of it, and where "
            "padded records (RFC 8446 §5.4) hide where it ends",
        ),
        sa.Column(
            "tls_ticket_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="TCP payload of NewSessionTicket and KeyUpdate messages after the handshake, "
            "including their TLS records; for QUIC the CRYPTO data after the handshake; null for clear "
            "text, where the browser's log has no beginning of the connection, and where other records "
            "of the same read may as well have carried them",
        ),
        sa.Column(
            "frame_bytes",
            sa.BigInteger(),
            nullable=False,
            comment="bytes inside TLS that belong to no response: H2 or H3 frames (SETTINGS, PING, ...), "
            "all streams of a WebTransport session, datagrams that are no QUIC, and what HTTP/1.1 sent "
            "after the end of a response (RFC 9112 §6.3)",
        ),
        sa.Column(
            "response_count",
            sa.Integer(),
            nullable=False,
            comment="number of responses that arrived on the connection, whole or in part",
        ),
        sa.Column(
            "opened_us",
            sa.BigInteger(),
            nullable=False,
            comment="time of the first SYN, in µs since visit.started_at",
        ),
        sa.Column(
            "connected_us",
            sa.BigInteger(),
            nullable=False,
            comment="time at which TCP was established, in µs since visit.started_at",
        ),
        sa.Column(
            "secured_us",
            sa.BigInteger(),
            nullable=True,
            comment="time at which the TLS handshake ended, in µs since visit.started_at; "
            "null for clear text",
        ),
        sa.Column(
            "last_byte_us",
            sa.BigInteger(),
            nullable=False,
            comment="time of the last byte received, in µs since visit.started_at",
        ),
        sa.Column(
            "packet_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="TCP payload that arrived from the server before recording stopped, counted in "
            "captured packets, each byte once by its sequence number; for QUIC the UDP payload; compare "
            "received_bytes, which the browser's log counts; null if the connection was not captured "
            "whole or went on after recording stopped",
        ),
        sa.Column(
            "first_flight_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="payload that the server sent, from the first packet of the connection's first "
            "response on, before an acknowledgment of any of it can have reached the server: TCP "
            "payload, each byte once, or UDP payload; by captured packets; null where "
            "initial_window_unknown says that there is no first flight",
        ),
        sa.Column(
            "first_flight_packets",
            sa.Integer(),
            nullable=True,
            comment="TCP segments, or UDP datagrams, of first_flight_bytes; segments that Linux merged "
            "are counted one by one; null where first_flight_bytes is",
        ),
        sa.Column(
            "segment_bytes",
            sa.Integer(),
            nullable=True,
            comment="payload of a full TCP segment from the server: the largest that it sent, if its TCP "
            "cut it to that size; else the largest that the client allows; "
            "null for QUIC and where first_flight_bytes is",
        ),
        sa.Column(
            "initial_window_segments",
            sa.Integer(),
            nullable=True,
            comment="initial congestion window of the server (RFC 6928), in full segments: exact if "
            "initial_window_unknown is null, else a lower bound; null where segment_bytes is",
        ),
        sa.Column(
            "initial_window_most_segments",
            sa.Integer(),
            nullable=True,
            comment="upper bound of the initial window, in full segments: the same as "
            "initial_window_segments if the window is exact; null if nothing bounds it from above",
        ),
        sa.Column(
            "initial_window_unknown",
            sa.Text(),
            nullable=True,
            comment="why the bounds of the initial window differ, or why nothing is known of it; "
            "null if it is exact",
        ),
        sa.Column(
            "round_trip_us",
            sa.BigInteger(),
            nullable=True,
            comment="round trip in µs: over TCP the smaller of the time from SYN to SYN-ACK in captured "
            "packets and of the smallest that the browser's kernel measured until recording stopped "
            "(tcpi_min_rtt of TCP_INFO), or without a capture the time that the handshake took the "
            "browser, in whole milliseconds; for QUIC the shortest time from sending a packet of the "
            "handshake to its acknowledgement, in whole milliseconds; null if SYN was sent twice and "
            "TCP_INFO is not known, or the handshake took a second without packets to tell (RFC 6298 "
            "§2), or if QUIC acknowledged no packet of the handshake by itself",
        ),
        sa.Column(
            "first_record_bytes",
            sa.ARRAY(sa.Integer()),
            nullable=True,
            comment="TCP payload of each of the first 10 TLS records from which the browser read "
            "application data, record header and tag included, in order (RFC 8446 §5.1); a browser can "
            "use nothing of a record before all of it has arrived; null for clear text and QUIC, if it "
            "read none, and where it is not known which they are",
        ),
        sa.PrimaryKeyConstraint("crawl_id", "visit_id", "id", name=op.f("connection_pkey")),
        postgresql_partition_by="LIST (crawl_id)",
    )
    op.create_table(
        "outcome",
        sa.Column("id", sa.Text(), nullable=False, comment="stable name of the outcome"),
        sa.Column(
            "description", sa.Text(), nullable=False, comment="meaning of the outcome, in one sentence"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("outcome_pkey")),
    )
    op.create_table(
        "response",
        sa.Column(
            "crawl_id",
            sa.SmallInteger(),
            autoincrement=False,
            nullable=False,
            comment="crawl that the row belongs to",
        ),
        sa.Column(
            "visit_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="visit that the row belongs to",
        ),
        sa.Column(
            "id",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="number of the response within the visit, from 1, in the order of the requests",
        ),
        sa.Column(
            "connection_id",
            sa.Integer(),
            nullable=True,
            comment="connection that the response came on; "
            "null if it came from a cache or its request was never sent",
        ),
        sa.Column(
            "position",
            sa.Integer(),
            nullable=True,
            comment="number of the response on its connection, from 1, in the order of the requests; "
            "null without a connection, and if the browser's log has no beginning of the connection",
        ),
        sa.Column(
            "stream_id", sa.BigInteger(), nullable=True, comment="H2 or H3 stream ID; null for HTTP/1.1"
        ),
        sa.Column(
            "initiator_id",
            sa.Integer(),
            nullable=True,
            comment="response whose content requested this one; null if unknown, and for the page itself",
        ),
        sa.Column(
            "redirected_from_id",
            sa.Integer(),
            nullable=True,
            comment="redirect response that led to this one; null if none",
        ),
        sa.Column("method", sa.Text(), nullable=False, comment="request method"),
        sa.Column("scheme", sa.Text(), nullable=False, comment="scheme of the URL"),
        sa.Column("host", sa.Text(), nullable=False, comment="host of the URL"),
        sa.Column(
            "path",
            sa.Text(),
            nullable=False,
            comment="path of the URL without the query, truncated to 2,048 characters",
        ),
        sa.Column(
            "query_hash",
            sa.Text(),
            nullable=True,
            comment="salted SHA-256 of the query, first 16 hex digits; null without a query",
        ),
        sa.Column(
            "protocol",
            sa.Text(),
            nullable=True,
            comment="http/1.1, h2 or h3; null if it came from a cache or never arrived",
        ),
        sa.Column(
            "resource_type",
            sa.Text(),
            nullable=False,
            comment="destination of the request: document, iframe, style, script, image, font, fetch, "
            "media, worker, ... or other (Sec-Fetch-Dest, Fetch standard)",
        ),
        sa.Column(
            "status", sa.SmallInteger(), nullable=True, comment="HTTP status; null if no response arrived"
        ),
        sa.Column(
            "mime_type",
            sa.Text(),
            nullable=True,
            comment="media type without parameters, lower case; null if absent",
        ),
        sa.Column("content_encoding", sa.Text(), nullable=True, comment="Content-Encoding; null if absent"),
        sa.Column(
            "failure",
            sa.Text(),
            nullable=True,
            comment="the browser's error for this request, e.g. net::ERR_ABORTED; null if none",
        ),
        sa.Column(
            "from_cache",
            sa.Boolean(),
            nullable=False,
            comment="true if no byte of the response crossed the network",
        ),
        sa.Column(
            "wire_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="header, framing and encoded body, as sent inside TLS; null if unknown",
        ),
        sa.Column(
            "wire_bytes_unknown",
            sa.Text(),
            nullable=True,
            comment="why wire_bytes is unknown; null if it is known",
        ),
        sa.Column(
            "size_basis",
            sa.Text(),
            nullable=True,
            comment="what wire_bytes rests on: counted, stated or derived; null if wire_bytes is unknown",
        ),
        sa.Column(
            "header_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="wire_bytes minus body_bytes: header and framing; null if unknown, and if an H3 "
            "stream was abandoned before its frames were read",
        ),
        sa.Column(
            "body_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="encoded body without framing; null if unknown, and if an H3 stream was abandoned "
            "before its frames were read",
        ),
        sa.Column(
            "decoded_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="body after decompression; null if unknown",
        ),
        sa.Column(
            "request_sent_us",
            sa.BigInteger(),
            nullable=True,
            comment="time at which the request was sent, in µs since visit.started_at; "
            "null if it was never sent",
        ),
        sa.Column(
            "first_byte_us",
            sa.BigInteger(),
            nullable=True,
            comment="time of the first byte of the response header, in µs since visit.started_at; "
            "null if none arrived",
        ),
        sa.Column(
            "last_byte_us",
            sa.BigInteger(),
            nullable=True,
            comment="time of the last byte received, in µs since visit.started_at; null if none arrived",
        ),
        sa.Column(
            "no_store",
            sa.Boolean(),
            nullable=True,
            comment="true if Cache-Control has no-store, so that no cache may keep the response; null if "
            "no header came over the network",
        ),
        sa.Column(
            "no_cache",
            sa.Boolean(),
            nullable=True,
            comment="true if a private cache must revalidate before each reuse (no-cache in "
            "Cache-Control, or * in Vary); null where no_store is null",
        ),
        sa.Column(
            "lifetime_by",
            sa.Text(),
            nullable=True,
            comment="source of the freshness lifetime for a private cache (RFC 9111 §4.2.1): max-age, "
            "expires, heuristic (not stated: a tenth of the time from Last-Modified to Date) or none "
            "(not stated, and no estimate is allowed); null where no_store is null",
        ),
        sa.Column(
            "lifetime_s",
            sa.Integer(),
            nullable=True,
            comment="freshness lifetime in seconds from when the origin generated the response, at most "
            "2,147,483,647; 0 also if it cannot be parsed; null where lifetime_by is null or none, or "
            "is expires without a Date",
        ),
        sa.Column(
            "age_s",
            sa.Integer(),
            nullable=True,
            comment="age of the response in seconds, by its Age header; null if Age is absent or cannot "
            "be parsed, and where no_store is null",
        ),
        sa.Column(
            "has_validator",
            sa.Boolean(),
            nullable=True,
            comment="true if a cache can revalidate the response: it has an ETag, or a Last-Modified "
            "that is a date; null where no_store is null",
        ),
        sa.Column(
            "request_body_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="bytes of the request's body, by its Content-Length; null if it has none",
        ),
        sa.Column(
            "is_complete",
            sa.Boolean(),
            nullable=True,
            comment="true if all of the response arrived (RFC 9112 §8, RFC 9113 §8.1, RFC 9114 §4.1): as "
            "much body as Content-Length states, and the last chunk, END_STREAM or FIN, or a clean "
            "close where only the close ends it; false if it broke off, ended short of its "
            "Content-Length, or was still arriving when recording stopped; null if wire_bytes is null",
        ),
        sa.Column(
            "server_delay_us",
            sa.BigInteger(),
            nullable=True,
            comment="time in µs from sending the request to the first byte that the browser could use, "
            "less round_trip_us, at least 0; waiting in the network or for the crawler's CPU is part of "
            "it, and the error is up to 2 ms; null without a round trip or either time, if the "
            "request's body has more than 14,000 bytes (a flight), or if another response was arriving "
            "on the H2 or H3 connection",
        ),
        sa.Column(
            "round_trip_us",
            sa.BigInteger(),
            nullable=True,
            comment="round trip in µs that server_delay_us was computed with: the shortest "
            "connection.round_trip_us of the visit to the server's address, over TCP or QUIC as the "
            "response's; null where server_delay_us is null",
        ),
        sa.Column(
            "browser_delay_us",
            sa.BigInteger(),
            nullable=True,
            comment="time in µs from the last byte of the response that led to this one "
            "(redirected_from_id, else initiator_id) until the browser began this request, before name "
            "resolution, connecting and queueing; null if it began before that byte came, if either "
            "time is unknown or no request was sent, and for the document",
        ),
        sa.Column(
            "browser_delay_first_byte_us",
            sa.BigInteger(),
            nullable=True,
            comment="as browser_delay_us, from the first byte of the response that led to this one; also "
            "known if the request began while that response was arriving",
        ),
        sa.Column(
            "request_header_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="bytes of the request's header as sent, inside TLS or QUIC: request line and header "
            "section of HTTP/1.1 (RFC 9112 §2.1); HEADERS and CONTINUATION frames of H2 with their "
            "frame headers (RFC 9113 §6.2); the HEADERS frame of H3, without what its compression put "
            "on QPACK's own stream (RFC 9204 §4.2); null if the request was not sent whole",
        ),
        sa.Column(
            "urgency",
            sa.SmallInteger(),
            nullable=True,
            comment="urgency that the request's Priority header states, 0 (most urgent) to 7; 3 over H2 "
            "and H3 if it states none (RFC 9218 §4.1); null over HTTP/1.1 without the header, "
            "and if no request was sent",
        ),
        sa.Column(
            "is_incremental",
            sa.Boolean(),
            nullable=True,
            comment="true if the request's Priority header states that parts of the response are of use "
            "(i, RFC 9218 §4.2); null where urgency is null",
        ),
        sa.Column(
            "h2_weight",
            sa.SmallInteger(),
            nullable=True,
            comment="weight in the request's HEADERS frame, 1 to 256 (RFC 7540 §5.3.2); null if the "
            "frame has no priority, and over other protocols than H2",
        ),
        sa.Column(
            "h2_parent_stream_id",
            sa.BigInteger(),
            nullable=True,
            comment="stream that the request's HEADERS frame makes this one depend on, 0 for none (RFC "
            "7540 §5.3.1); null where h2_weight is null",
        ),
        sa.Column(
            "h2_is_exclusive",
            sa.Boolean(),
            nullable=True,
            comment="true if that dependency is exclusive (RFC 7540 §5.3.1); null where h2_weight is null",
        ),
        sa.Column(
            "render_blocking",
            sa.Text(),
            nullable=True,
            comment="whether the page could be painted before the response was there, as the browser "
            "decided when it asked: blocking, in_body (blocks what comes after it in the body), "
            "potentially_blocking (an async script: if it comes before the first paint), non_blocking, "
            "or dynamic (not blocking, inserted by a script); null where the browser decides nothing "
            "(documents, images, fonts and fetches that were not preloaded)",
        ),
        sa.CheckConstraint(
            "(wire_bytes IS NULL) = (wire_bytes_unknown IS NOT NULL)", name=op.f("response_wire_bytes_check")
        ),
        sa.CheckConstraint(
            "(wire_bytes IS NULL) = (size_basis IS NULL)", name=op.f("response_size_basis_check")
        ),
        sa.PrimaryKeyConstraint("crawl_id", "visit_id", "id", name=op.f("response_pkey")),
        postgresql_partition_by="LIST (crawl_id)",
    )
    op.create_table(
        "site_list",
        sa.Column("id", sa.Text(), nullable=False, comment="source and version, e.g. tranco:K2LPW"),
        sa.Column(
            "source",
            sa.Text(),
            nullable=False,
            comment="where the list came from: tranco, crux, or a file's name",
        ),
        sa.Column(
            "checksum", sa.Text(), nullable=False, comment="SHA-256 of the list's bytes, lower-case hex"
        ),
        sa.Column("entries", sa.Integer(), nullable=False, comment="number of sites in the whole list"),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=False, comment="when the list was read"),
        sa.PrimaryKeyConstraint("id", name=op.f("site_list_pkey")),
    )
    op.create_table(
        "crawl",
        sa.Column(
            "id",
            sa.SmallInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="number of the crawl; first column of the keys of visits, connections and responses",
        ),
        sa.Column("month", sa.Text(), nullable=False, comment="month that the crawl stands for, YYYY-MM"),
        sa.Column("device", sa.Text(), nullable=False, comment="device profile: desktop or mobile"),
        sa.Column(
            "vantage",
            sa.Text(),
            nullable=False,
            comment="label of the place and network that the crawl was made from",
        ),
        sa.Column("arm", sa.Text(), nullable=False, comment="protocol arm: tcp (QUIC off) or quic (QUIC on)"),
        sa.Column(
            "kind",
            sa.Text(),
            nullable=False,
            comment="what was crawled: web (live sites) or localweb (the bundled local web)",
        ),
        sa.Column("list_id", sa.Text(), nullable=False, comment="site list that the sites came from"),
        sa.Column(
            "top", sa.Integer(), nullable=False, comment="number of sites planned, from the head of the list"
        ),
        sa.Column(
            "attempts", sa.SmallInteger(), nullable=False, comment="maximum number of visits to a site"
        ),
        sa.Column("budget_s", sa.Double(), nullable=False, comment="time limit of one visit, in seconds"),
        sa.Column(
            "method_version",
            sa.Text(),
            nullable=False,
            comment="version of the measuring method; a change is a method break",
        ),
        sa.Column(
            "commit",
            sa.Text(),
            nullable=False,
            comment="commit of the code that planned the crawl, "
            "with -dirty if its tree had uncommitted changes",
        ),
        sa.Column(
            "planned_at", sa.DateTime(timezone=True), nullable=False, comment="when the crawl was planned"
        ),
        sa.Column(
            "browser",
            sa.Text(),
            nullable=True,
            comment="browser product and build; null until the first visit",
        ),
        sa.Column(
            "browser_built_on",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="build time of the browser, and so of its HSTS preload list; null if unknown",
        ),
        sa.Column(
            "browser_flags",
            sa.Text(),
            nullable=True,
            comment="command-line flags of the browser that change what is measured, one per line",
        ),
        sa.Column("user_agent", sa.Text(), nullable=True, comment="User-Agent header that the browser sent"),
        sa.Column(
            "sealed_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when the crawl was sealed, after which it is never written again; null while it is open",
        ),
        sa.Column(
            "client_hints",
            sa.Text(),
            nullable=True,
            comment="client hints that the browser sent without being asked (Sec-CH-UA, "
            "Sec-CH-UA-Mobile, Sec-CH-UA-Platform), one per line; null if it sent none",
        ),
        sa.Column(
            "user_agent_planned",
            sa.Text(),
            nullable=True,
            comment="User-Agent that the plan asks for; null if the browser sends its own, as plain Chrome",
        ),
        sa.Column(
            "contact_url",
            sa.Text(),
            nullable=True,
            comment="URL where a site's owner can ask about the crawl, "
            "at the end of the User-Agent; null if none was given",
        ),
        sa.Column(
            "loads",
            sa.SmallInteger(),
            server_default="1",
            nullable=False,
            comment="number of loads of each home page: 1, or more for repeat loads",
        ),
        sa.Column(
            "inner_pages",
            sa.SmallInteger(),
            server_default="0",
            nullable=False,
            comment="number of inner pages loaded in addition to each home page",
        ),
        sa.Column(
            "optout_checksum",
            sa.Text(),
            nullable=True,
            comment="SHA-256 of the opt-out list that the crawl was planned with, lower-case hex; "
            "null without an opt-out list",
        ),
        sa.Column(
            "optout_sites",
            sa.Integer(),
            nullable=True,
            comment="number of sites that the opt-out list removed from the plan; "
            "null without an opt-out list",
        ),
        sa.CheckConstraint("month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'", name=op.f("crawl_month_check")),
        sa.ForeignKeyConstraint(["list_id"], ["site_list.id"], name=op.f("crawl_list_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("crawl_pkey")),
        sa.UniqueConstraint(
            "month", "device", "vantage", "arm", "kind", name=op.f("crawl_month_device_vantage_arm_kind_key")
        ),
    )
    op.create_table(
        "visit",
        sa.Column(
            "crawl_id",
            sa.SmallInteger(),
            autoincrement=False,
            nullable=False,
            comment="crawl that the row belongs to",
        ),
        sa.Column(
            "id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="number of the visit, unique within the crawl",
        ),
        sa.Column("rank", sa.Integer(), nullable=False, comment="rank of the site in the list"),
        sa.Column("host", sa.Text(), nullable=False, comment="host name of the site"),
        sa.Column(
            "attempt",
            sa.SmallInteger(),
            nullable=False,
            comment="number of the visit among all visits to its site, from 1; retries, "
            "repeat loads and inner pages count",
        ),
        sa.Column(
            "is_final",
            sa.Boolean(),
            nullable=False,
            comment="true for the single visit that represents the site",
        ),
        sa.Column(
            "outcome", sa.Text(), nullable=False, comment="how the visit ended: the name of an outcome"
        ),
        sa.Column(
            "stop_reason",
            sa.Text(),
            nullable=False,
            comment="why recording stopped: quiet (network idle: no request is open, or those that are "
            "have stood still for 2 s unread, or for 5 s in wait for the server), busy (not idle 10 s "
            "after the load event), budget (the visit's time limit) or failed",
        ),
        sa.Column(
            "error",
            sa.Text(),
            nullable=True,
            comment="the browser's error, e.g. net::ERR_NAME_NOT_RESOLVED; null if none",
        ),
        sa.Column(
            "scheme",
            sa.Text(),
            nullable=False,
            comment="scheme by which the page was loaded: https first, http where https did not answer",
        ),
        sa.Column(
            "status",
            sa.SmallInteger(),
            nullable=True,
            comment="HTTP status of the main document; null if none arrived",
        ),
        sa.Column(
            "main_response_id",
            sa.Integer(),
            nullable=True,
            comment="response that is the main document; null if none arrived",
        ),
        sa.Column(
            "final_scheme",
            sa.Text(),
            nullable=True,
            comment="scheme of the main document after redirects; null if none arrived",
        ),
        sa.Column(
            "final_host",
            sa.Text(),
            nullable=True,
            comment="host of the main document after redirects; null if none arrived",
        ),
        sa.Column(
            "hsts_upgrades",
            sa.Integer(),
            nullable=False,
            comment="number of requests that the browser itself changed from http to https",
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False, comment="when the visit began"),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False, comment="when recording stopped"),
        sa.Column(
            "load_us",
            sa.BigInteger(),
            nullable=True,
            comment="time of the load event, in µs since visit.started_at; null if it never fired",
        ),
        sa.Column(
            "received_bytes",
            sa.BigInteger(),
            nullable=False,
            comment="sum of received_bytes over the visit's connections",
        ),
        sa.Column(
            "coverage",
            sa.Double(),
            nullable=True,
            comment="share of the bytes that came which is accounted for by responses, connection "
            "frames, TLS handshake, tickets and records; beside received_bytes these are the bytes of "
            "connections that captured packets show and the browser's log does not name, and a byte for "
            "each connection of which the log has no beginning; what the browser itself counted "
            "otherwise is not accounted for; null if nothing came",
        ),
        sa.Column(
            "decrypted_coverage",
            sa.Double(),
            nullable=True,
            comment="share of decrypted bytes accounted for by responses and connection frames; "
            "null if nothing was received",
        ),
        sa.Column("owner", sa.Text(), nullable=False, comment="crawler process that made the visit"),
        sa.Column(
            "page_kind",
            sa.Text(),
            server_default="home",
            nullable=False,
            comment="home (the site's home page) or inner (a page of the same site "
            "that the home page links to)",
        ),
        sa.Column(
            "load",
            sa.SmallInteger(),
            server_default="1",
            nullable=False,
            comment="number of this load among successive loads of the page, from 1; "
            "each load has a fresh profile",
        ),
        sa.Column(
            "wall",
            sa.Text(),
            nullable=True,
            comment="bot wall that answered in place of the page; null if none was recognised",
        ),
        sa.Column(
            "consent",
            sa.Text(),
            nullable=True,
            comment="consent platform that the page loaded; null if none was recognised",
        ),
        sa.Column(
            "retry_after_s",
            sa.Integer(),
            nullable=True,
            comment="delay before the next visit that a 429 or 503 asked for (Retry-After), "
            "in seconds; null if none did",
        ),
        sa.Column(
            "is_covered",
            sa.Boolean(),
            nullable=True,
            comment="true if coverage and decrypted_coverage are both at least 0.99; "
            "null if nothing was received",
        ),
        sa.Column(
            "log_lines_lost",
            sa.Integer(),
            nullable=True,
            comment="number of lines of the browser's log that could not be read",
        ),
        sa.Column(
            "crawler_host",
            sa.Text(),
            nullable=True,
            comment="host name of the machine that made the visit",
        ),
        sa.Column(
            "unfiltered_egress",
            sa.Boolean(),
            nullable=True,
            comment="true if the browser could reach any address, without the address guard",
        ),
        sa.Column(
            "first_paint_us",
            sa.BigInteger(),
            nullable=True,
            comment="time of the main document's first paint (Paint Timing), in µs since "
            "visit.started_at; null if it painted nothing by the end of the recording",
        ),
        sa.Column(
            "first_contentful_paint_us",
            sa.BigInteger(),
            nullable=True,
            comment="time of the main document's first paint of text or an image (Paint Timing), in µs "
            "since visit.started_at; null if it painted none by the end of the recording",
        ),
        sa.Column(
            "largest_contentful_paint_us",
            sa.BigInteger(),
            nullable=True,
            comment="time of the last candidate for the main document's largest contentful paint by the "
            "end of the recording (Largest Contentful Paint), in µs since visit.started_at; "
            "null if there was none",
        ),
        sa.ForeignKeyConstraint(["outcome"], ["outcome.id"], name=op.f("visit_outcome_fkey")),
        sa.PrimaryKeyConstraint("crawl_id", "id", name=op.f("visit_pkey")),
        sa.UniqueConstraint("crawl_id", "rank", "attempt", name=op.f("visit_crawl_id_rank_attempt_key")),
        postgresql_partition_by="LIST (crawl_id)",
    )
    op.create_table(
        "site",
        sa.Column(
            "crawl_id",
            sa.SmallInteger(),
            autoincrement=False,
            nullable=False,
            comment="crawl that the row belongs to",
        ),
        sa.Column(
            "rank",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="rank of the site in the list, from 1",
        ),
        sa.Column(
            "host", sa.Text(), nullable=False, comment="host name from the list, in lower-case A-label form"
        ),
        sa.Column(
            "attempts",
            sa.SmallInteger(),
            server_default="0",
            nullable=False,
            comment="number of visits begun",
        ),
        sa.Column(
            "owner",
            sa.Text(),
            nullable=True,
            comment="crawler process that holds the claim on the site; null while the site is free",
        ),
        sa.Column(
            "lease_expires_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when the claim expires, so that another process may take the site; "
            "null while the site is free",
        ),
        sa.Column(
            "final_visit_id",
            sa.BigInteger(),
            nullable=True,
            comment="visit that represents the site; null until there is a final visit",
        ),
        sa.Column(
            "magnitude",
            sa.Integer(),
            nullable=True,
            comment="rank magnitude that the site shares with others (CrUX: 1000, 5000, ...); null if "
            "the list does not rank by magnitude",
        ),
        sa.Column(
            "not_before",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="time before which the site asked not to be visited again (Retry-After); "
            "null if it did not ask",
        ),
        sa.CheckConstraint("(owner IS NULL) = (lease_expires_at IS NULL)", name=op.f("site_lease_check")),
        sa.ForeignKeyConstraint(["crawl_id"], ["crawl.id"], name=op.f("site_crawl_id_fkey")),
        sa.PrimaryKeyConstraint("crawl_id", "rank", name=op.f("site_pkey")),
    )
    op.create_index(
        op.f("site_crawl_id_attempts_rank_idx"),
        "site",
        ["crawl_id", "attempts", "rank"],
        unique=False,
        postgresql_where=sa.text("final_visit_id IS NULL"),
    )
    # Sealed partitions get triggers that call it (storage.partitions).
    op.execute(
        """
        CREATE FUNCTION refuse_sealed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'table % belongs to a sealed crawl, which is never written again', TG_TABLE_NAME
                USING ERRCODE = 'object_not_in_prerequisite_state';
        END $$
        """
    )
