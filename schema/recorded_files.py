"""What the columns mean in a release of HAR files or logs of DevTools events,
beside what schema/recorded.py says."""

from schema.recorded import NEVER_RECORDED, NOT_RECORDED, Notes

TIMES_UNKNOWN = "unknown where the recording has no times of the request"

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
