"""Column comments in plainer words; no value changes."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

COMMENTS: dict[str, dict[str, str]] = {
    "connection": {
        "crawl_id": "crawl that the row belongs to",
        "visit_id": "visit that the row belongs to",
        "id": "number of the connection within the visit, from 1, in the order of opening",
        "host": "host that the connection was opened for; null if unknown",
        "local_port": "client port; with the server's address and port it identifies the connection in a packet capture",
        "tls_version": "TLS version, e.g. TLS 1.3; null for clear text",
        "tls_resumed": "true if the TLS session was resumed; null for clear text, or if the handshake did not complete",
        "received_bytes": "TCP payload received from the server, each byte counted once; for QUIC the UDP payload, including retransmissions and acknowledgements",
        "decrypted_bytes": "received bytes inside TLS; equal to received_bytes for clear text; for QUIC the data of all streams, each byte counted once",
        "tls_handshake_bytes": "TCP payload of the server's TLS flight, before the first response; for QUIC the UDP payload of datagrams that begin with an Initial, Handshake, Retry or Version Negotiation packet; null for clear text",
        "tls_ticket_bytes": "TCP payload of NewSessionTicket messages after the handshake, including their TLS records; for QUIC the CRYPTO data after the handshake; null for clear text",
        "frame_bytes": "bytes of H2 or H3 frames that belong to no response (SETTINGS, PING, ...); 0 for HTTP/1.1",
        "response_count": "number of responses that arrived on the connection, whole or in part",
        "opened_us": "time of the first SYN, in µs since visit.started_at",
        "connected_us": "time at which TCP was established, in µs since visit.started_at",
        "secured_us": "time at which the TLS handshake ended, in µs since visit.started_at; null for clear text",
        "last_byte_us": "time of the last byte received, in µs since visit.started_at",
    },
    "outcome": {
        "id": "stable name of the outcome",
        "description": "meaning of the outcome, in one sentence",
    },
    "response": {
        "crawl_id": "crawl that the row belongs to",
        "visit_id": "visit that the row belongs to",
        "id": "number of the response within the visit, from 1, in the order of the requests",
        "connection_id": "connection that the response came on; null if it came from a cache or its request was never sent",
        "position": "number of the response on its connection, from 1, in the order of the requests; null without a connection",
        "stream_id": "H2 or H3 stream ID; null for HTTP/1.1",
        "initiator_id": "response whose content requested this one; null if unknown, and for the page itself",
        "redirected_from_id": "redirect response that led to this one; null if none",
        "path": "path of the URL without the query, truncated to 2,048 characters",
        "resource_type": "destination of the request: document, iframe, style, script, image, font, fetch, media, worker, ... or other (Sec-Fetch-Dest, Fetch standard)",
        "from_cache": "true if no byte of the response crossed the network",
        "wire_bytes_unknown": "why wire_bytes is unknown; null if it is known",
        "header_bytes": "wire_bytes minus body_bytes: header and framing; null if unknown, and if an H3 stream was abandoned before its frames were read",
        "body_bytes": "encoded body without framing; null if unknown, and if an H3 stream was abandoned before its frames were read",
        "request_sent_us": "time at which the request was sent, in µs since visit.started_at; null if it was never sent",
        "first_byte_us": "time of the first byte of the response header, in µs since visit.started_at; null if none arrived",
        "last_byte_us": "time of the last byte received, in µs since visit.started_at; null if none arrived",
        "no_store": "true if Cache-Control has no-store, so that no cache may keep the response; null if no header came over the network, and before schema version 3",
        "no_cache": "true if a private cache must revalidate before each reuse (no-cache in Cache-Control, or * in Vary); null where no_store is null",
        "lifetime_by": "source of the freshness lifetime for a private cache (RFC 9111 §4.2.1): max-age, expires, heuristic (not stated: a tenth of the time from Last-Modified to Date) or none (not stated, and no estimate is allowed); null where no_store is null",
        "lifetime_s": "freshness lifetime in seconds from when the origin generated the response, at most 2,147,483,647; 0 also if it cannot be parsed; null where lifetime_by is null or none, or is expires without a Date",
        "age_s": "age of the response in seconds, by its Age header; null if Age is absent or cannot be parsed, and where no_store is null",
        "has_validator": "true if a cache can revalidate the response: it has an ETag, or a Last-Modified that is a date; null where no_store is null",
        "request_body_bytes": "bytes of the request's body, by its Content-Length; null if it has none, and before schema version 4",
    },
    "site_list": {
        "source": "where the list came from: tranco, crux, or a file's name",
        "entries": "number of sites in the whole list",
        "fetched_at": "when the list was read",
    },
    "crawl": {
        "id": "number of the crawl; first column of the keys of visits, connections and responses",
        "month": "month that the crawl stands for, YYYY-MM",
        "vantage": "label of the place and network that the crawl was made from",
        "list_id": "site list that the sites came from",
        "top": "number of sites planned, from the head of the list",
        "attempts": "maximum number of visits to a site",
        "budget_s": "time limit of one visit, in seconds",
        "commit": "commit of the code that planned the crawl, with -dirty if its tree had uncommitted changes",
        "planned_at": "when the crawl was planned",
        "browser_built_on": "build time of the browser, and so of its HSTS preload list; null if unknown",
        "browser_flags": "command-line flags of the browser that change what is measured, one per line",
        "user_agent": "User-Agent header that the browser sent",
        "client_hints": "client hints that the browser sent without being asked (Sec-CH-UA, Sec-CH-UA-Mobile, Sec-CH-UA-Platform), one per line; null before schema version 2",
        "user_agent_planned": "User-Agent that the plan asks for; null if the browser sends its own, as plain Chrome",
        "contact_url": "URL where a site's owner can ask about the crawl, at the end of the User-Agent; null if none was given",
        "loads": "number of loads of each home page: 1, or more for repeat loads",
        "inner_pages": "number of inner pages loaded in addition to each home page",
        "optout_checksum": "SHA-256 of the opt-out list that the crawl was planned with, lower-case hex; null without an opt-out list",
        "optout_sites": "number of sites that the opt-out list removed from the plan; null without an opt-out list",
        "sealed_at": "when the crawl was sealed, after which it is never written again; null while it is open",
    },
    "visit": {
        "crawl_id": "crawl that the row belongs to",
        "id": "number of the visit, unique within the crawl",
        "rank": "rank of the site in the list",
        "host": "host name of the site",
        "attempt": "number of the visit among all visits to its site, from 1; retries, repeat loads and inner pages count",
        "is_final": "true for the single visit that represents the site",
        "outcome": "how the visit ended: the name of an outcome",
        "stop_reason": "why recording stopped: quiet (network idle), busy (not idle long after the load event), budget (the visit's time limit) or failed",
        "scheme": "scheme by which the page was loaded: https first, http where https did not answer",
        "main_response_id": "response that is the main document; null if none arrived",
        "hsts_upgrades": "number of requests that the browser itself changed from http to https",
        "started_at": "when the visit began",
        "load_us": "time of the load event, in µs since visit.started_at; null if it never fired",
        "received_bytes": "sum of received_bytes over the visit's connections",
        "owner": "crawler process that made the visit",
        "load": "number of this load among successive loads of the page, from 1; each load has a fresh profile",
        "retry_after_s": "delay before the next visit that a 429 or 503 asked for (Retry-After), in seconds; null if none did",
        "is_covered": "true if coverage and decrypted_coverage are both at least 0.99; null if nothing was received, and before schema version 2",
        "log_lines_lost": "number of lines of the browser's log that could not be read; null before schema version 2",
        "crawler_host": "host name of the machine that made the visit; null before schema version 2",
        "unfiltered_egress": "true if the browser could reach any address, without the address guard; null before schema version 2",
    },
    "site": {
        "crawl_id": "crawl that the row belongs to",
        "rank": "rank of the site in the list, from 1",
        "host": "host name from the list, in lower-case A-label form",
        "magnitude": "rank magnitude that the site shares with others (CrUX: 1000, 5000, ...); null if the list does not rank by magnitude",
        "attempts": "number of visits begun",
        "owner": "crawler process that holds the claim on the site; null while the site is free",
        "lease_expires_at": "when the claim expires, so that another process may take the site; null while the site is free",
        "final_visit_id": "visit that represents the site; null until there is a final visit",
        "not_before": "time before which the site asked not to be visited again (Retry-After); null if it did not ask",
    },
}


def upgrade() -> None:
    """Replace the comments in the catalogue; no row is written."""
    for table, comments in COMMENTS.items():
        for column, comment in comments.items():
            quoted = comment.replace("'", "''")
            op.execute(f"COMMENT ON COLUMN {table}.\"{column}\" IS '{quoted}'")
