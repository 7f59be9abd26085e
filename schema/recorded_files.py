"""What the columns mean in a release of HAR files, logs of DevTools events or NetLogs,
beside what schema/recorded.py says."""

from schema.recorded import NEVER_RECORDED, NOT_RECORDED, Notes

NAMES_KEPT = "paths and queries were left out: they may hold names and secrets of the person who browsed"

FILES = Notes(
    rarely_null={
        **NOT_RECORDED,
        "crawl": {**NOT_RECORDED["crawl"], "planned_at": "nobody planned the recordings"},
        "visit": {
            **NOT_RECORDED["visit"],
            "started_at": "a log of DevTools events has the day alone",
            "ended_at": "recordings do not state their end",
        },
        "connection": {
            **NOT_RECORDED["connection"],
            "port": "unknown where the URL has none",
            "remote_address": "unknown where the recording has no address of the server",
        },
        "response": {"path": NAMES_KEPT},
    },
    always_null={
        **{
            reason: columns
            for reason, columns in NEVER_RECORDED.items()
            if not {"response.decoded_bytes", "response.query_hash"} & set(columns)
        },
        NAMES_KEPT: ("response.query_hash",),
        "recorders state priorities as Chrome names them, not as it sends them": (
            *("response.urgency", "response.is_incremental"),
        ),
        "recorders do not tell the end of TLS from the sending of the request": ("connection.secured_us",),
    },
    otherwise={
        "crawl": {
            "kind": "recorded (pages that somebody else recorded)",
            "device": "as the importer stated it, else unknown",
            "vantage": "as the importer stated it, else unknown",
            "list_id": "name of the data set, as the importer stated it",
            "commit": "unknown",
            "browser": "browsers and recording programs, as the files name them",
        },
        "site": {"rank": "number of the file; ranks are not known", "host": "host of the main document"},
        "visit": {
            "id": "number of the file",
            "rank": "number of the file; ranks are not known",
            "stop_reason": "load (the load event)",
            "load_us": "since the page's start, as the recording has it",
        },
        "connection": {
            "tls_version": "unknown for every https URL",
            "opened_us": "since the page's first request, by the request that opened the connection",
            "connected_us": "since the page's first request",
            "last_byte_us": "since the page's first request",
            "round_trip_us": "the TCP handshake as the browser timed it",
        },
        "response": {
            "connection_id": "as recorded; where recordings name no connections, rebuilt from origins, "
            "addresses and connect times",
            "initiator_id": "as recorded, else by Referer, else the main document "
            "(recording.json counts the rules)",
            "wire_bytes": "header and body as the producer counted them, repaired; Chrome's counts "
            "include the headers of frames",
            "header_bytes": "over HTTP/1.1 the text of the header where it was not counted; null over "
            "HTTP/2 and HTTP/3 where header and body were not counted together",
            "body_bytes": "as counted, or by Content-Length; known for some "
            "responses whose wire_bytes are not",
            "is_complete": "null in HAR files",
            "request_sent_us": "since the page's first request",
            "first_byte_us": "since the page's first request",
            "last_byte_us": "since the page's first request",
            "round_trip_us": "the shortest handshake with the address",
        },
    },
)
"""Of HAR files and of logs of DevTools events (docs/recorded-files.md)."""

WITHOUT_BYTES = "unknown in logs without the bytes of sockets"

OTHER_PAGE = "unknown where a connection was opened by another page of the log, or carried something for one"

NOT_IN_NETLOG: dict[str, tuple[str, ...]] = {
    "nobody planned the recordings, nor claimed or visited a site again": (
        *("crawl.planned_at", "crawl.optout_checksum", "crawl.optout_sites", "crawl.sealed_at", "site.owner"),
        *("site.lease_expires_at", "site.not_before", "visit.error", "visit.retry_after_s", "visit.owner"),
    ),
    "a log does not state the settings of the one who browsed": (
        *("crawl.top", "crawl.attempts", "crawl.budget_s"),
        *("crawl.browser_built_on", "crawl.browser_flags", "crawl.user_agent", "crawl.client_hints"),
        *("crawl.user_agent_planned", "crawl.contact_url", "visit.crawler_host", "visit.unfiltered_egress"),
    ),
    "the network stack does not see the page": (
        *("visit.stop_reason", "visit.load_us", "visit.ended_at", "visit.wall", "visit.consent"),
        *("visit.first_paint_us", "visit.first_contentful_paint_us", "visit.largest_contentful_paint_us"),
        "response.render_blocking",
    ),
    "connections and changes from http to https are of the whole log": (
        *("visit.received_bytes", "visit.hsts_upgrades", "visit.log_lines_lost"),
    ),
    NAMES_KEPT: ("response.path", "response.query_hash"),
}
"""Columns, as table.column, that are null in every release of NetLogs, by the reason."""

OFTEN_NOT_IN_NETLOG: dict[str, tuple[str, ...]] = {
    WITHOUT_BYTES: (
        *("visit.coverage", "visit.decrypted_coverage", "visit.is_covered"),
        *("connection.tls_handshake_bytes", "connection.tls_ticket_bytes", "connection.first_record_bytes"),
        *("connection.tls_resumed", "response.request_header_bytes", "response.h2_weight"),
        *("response.h2_parent_stream_id", "response.h2_is_exclusive"),
    ),
    "no capture of packets was given": (
        *("connection.packet_bytes", "connection.first_flight_bytes", "connection.first_flight_packets"),
        *("connection.segment_bytes", "connection.initial_window_segments"),
    ),
}
"""Columns that are null in releases of some NetLogs, by the reason."""

NETLOGS = Notes(
    rarely_null={
        **FILES.rarely_null,
        "visit": {
            **FILES.rarely_null["visit"],
            "started_at": "unknown where the log does not state its clock",
        },
        "connection": {
            **dict.fromkeys(FILES.rarely_null["connection"], OTHER_PAGE),
            "frame_bytes": f"{WITHOUT_BYTES}; {OTHER_PAGE}",
        },
        "response": {
            **FILES.rarely_null["response"],
            "browser_delay_first_byte_us": "unknown where the log does not tell what led to a request",
        },
    },
    always_null={**NOT_IN_NETLOG, **OFTEN_NOT_IN_NETLOG},
    otherwise={
        "crawl": {**FILES.otherwise["crawl"], "browser": "browsers, as the logs name them"},
        "site": {"rank": "number of the page; ranks are not known", "host": "host of the main document"},
        "visit": {
            "id": "number of the page",
            "rank": "number of the page; ranks are not known",
        },
        "connection": {
            "response_count": "responses of this page",
            "opened_us": "since the page's first request",
            "connected_us": "since the page's first request",
            "secured_us": "since the page's first request",
            "last_byte_us": "since the page's first request",
        },
        "response": {
            "initiator_id": "by Referer (recording.json counts the rules)",
            "wire_bytes": "in logs without the bytes of sockets what the socket received from one "
            "request to the next; unknown there over HTTP/2",
            "body_bytes": "in logs without the bytes of sockets over HTTP/2 the data of the stream's frames",
            "request_sent_us": "since the page's first request",
            "first_byte_us": "since the page's first request",
            "last_byte_us": "since the page's first request",
        },
    },
)
"""Of NetLogs (docs/recorded-files.md)."""
