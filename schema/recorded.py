"""What a release of other people's recordings holds: the tables of a crawl,
with null for what no recording tells."""

import dataclasses
from collections.abc import Mapping

import pyarrow as pa

from schema.released_tables import definition, released_tables

RECORDED = "recorded"
"""Kind of a crawl whose pages somebody else recorded, and its quality level."""

NOT_RECORDED: dict[str, dict[str, str]] = {
    "crawl": {
        "top": "how many sites were tried is not stated",
        "attempts": "how often a site was tried is not stated",
        "budget_s": "the recorder's time limit is not stated",
        "planned_at": "the day is known, the time is not",
    },
    "site": {},
    "visit": {
        "stop_reason": "unknown where no load event was recorded",
        "hsts_upgrades": "the recorder does not tell its own redirects from a server's",
        "started_at": "the day is known, the time of each page is not",
        "ended_at": "the day is known, the time of each page is not",
        "received_bytes": "the recorder counts responses, and nothing else that a connection carries",
        "owner": "no crawler of this project made the visit",
    },
    "connection": {
        "port": "ports were left out with the names",
        "protocol": "unknown where the recording names none",
        "remote_address": "unknown where none of the connection's responses names its server's address",
        "local_port": "the recorder does not see ports of the client",
        "received_bytes": "the recorder counts responses, and nothing else that a connection carries",
        "decrypted_bytes": "the recorder counts responses, and nothing else that a connection carries",
        "frame_bytes": "the recorder counts responses, and nothing else that a connection carries",
        "opened_us": "unknown where no recorded request opened the connection",
        "connected_us": "unknown where no recorded request opened the connection",
        "last_byte_us": "unknown where no response on the connection has both its times",
    },
    "response": {
        "path": "paths were left out with the names",
    },
}
"""Columns that are never null in a crawl of ours and may be in a recorded release, by table,
with the reason."""


NEVER_RECORDED: dict[str, tuple[str, ...]] = {
    "the recorder does not state its own settings": (
        *("crawl.browser_built_on", "crawl.browser_flags", "crawl.user_agent", "crawl.client_hints"),
        *("crawl.user_agent_planned", "crawl.contact_url", "visit.crawler_host", "visit.unfiltered_egress"),
    ),
    "recorded pages are no plan of a crawl, and are never claimed or visited again": (
        *("crawl.optout_checksum", "crawl.optout_sites", "crawl.sealed_at", "site.owner"),
        *("site.lease_expires_at", "site.not_before", "visit.error", "visit.retry_after_s"),
    ),
    "the recorder counts responses, and nothing else that a connection carries": (
        *("visit.coverage", "visit.decrypted_coverage", "visit.is_covered", "visit.log_lines_lost"),
        *("connection.tls_handshake_bytes", "connection.tls_ticket_bytes", "connection.first_record_bytes"),
    ),
    "no packet was captured": (
        *("connection.packet_bytes", "connection.first_flight_bytes", "connection.first_flight_packets"),
        *("connection.segment_bytes", "connection.initial_window_segments"),
        "connection.initial_window_most_segments",
    ),
    "the recorder does not tell of a connection or stream more than its times": (
        *("connection.tls_resumed", "response.stream_id", "response.h2_weight"),
        *("response.h2_parent_stream_id", "response.h2_is_exclusive"),
    ),
    "nothing of the content of pages was kept": ("visit.wall", "visit.consent"),
    "no paint was recorded": (
        *("visit.first_paint_us", "visit.first_contentful_paint_us", "visit.largest_contentful_paint_us"),
    ),
    "paths and queries were left out with the names": ("response.query_hash",),
    "errors were left out": ("response.failure",),
    "the size of bodies after decompression was not kept": ("response.decoded_bytes",),
    "headers of requests were counted as text, and not as sent": ("response.request_header_bytes",),
    "it hangs on the page's markup, which was not kept": ("response.render_blocking",),
}
"""Columns, as table.column, that may be null in a crawl of ours and always are in a recorded release,
by the reason."""


OTHERWISE: dict[str, dict[str, str]] = {
    "crawl": {
        "kind": "recorded (pages that somebody else recorded)",
        "list_id": "name of the data set",
        "commit": "commit of the repository that holds the recordings",
    },
    "site": {"rank": "number of the page; ranks are not known", "host": "made up"},
    "visit": {
        "id": "number of the page",
        "rank": "number of the page; ranks are not known",
        "host": "made up",
        "stop_reason": "load (the load event)",
        "final_host": "made up",
        "load_us": "since the page's first request",
    },
    "connection": {
        "host": "made up, one for each scheme, host and port of a page",
        "remote_address": "made up, one for each address of a page",
        "tls_version": "unknown where no response on the connection names it",
        "opened_us": "since the page's first request, by the request that opened the connection",
        "connected_us": "since the page's first request",
        "secured_us": "since the page's first request",
        "last_byte_us": "since the page's first request",
        "round_trip_us": "the longer of the TCP handshake and a round trip of the TLS handshake; "
        "of QUIC its handshake",
    },
    "response": {
        "connection_id": "rebuilt from origins, addresses and connect times",
        "initiator_id": "inferred, but for what Referer says of style sheets "
        "(recording.json counts the rules)",
        "host": "made up, one for each scheme, host and port of a page",
        "wire_bytes": "as Chromium counts a response, and the headers of as few frames as may be",
        "header_bytes": "null without Content-Length",
        "body_bytes": "by Content-Length",
        "is_complete": "by Content-Length; null without it",
        "request_sent_us": "since the page's first request; time in the browser's queue counts as 0 "
        "beyond the wait for a connection",
        "first_byte_us": "since the page's first request",
        "last_byte_us": "since the page's first request",
        "lifetime_by": "max-age, or not_recorded",
        "round_trip_us": "the shortest handshake with the address (connection.round_trip_us), and no "
        "longer than any of its responses was waited for",
        "urgency": "inferred from the type where it alone decides, else null",
        "is_incremental": "inferred as urgency",
    },
}
"""What columns mean in a recorded release beyond their definition, by table."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Notes:
    """What the columns of a recorded release mean, by the form of its recording."""

    rarely_null: Mapping[str, Mapping[str, str]]
    """Why columns that a crawl always fills may be null, by table; the same columns in every form."""
    always_null: Mapping[str, tuple[str, ...]]
    """Columns, as table.column, that are null throughout, or may be, by the reason."""
    otherwise: Mapping[str, Mapping[str, str]]
    """Meaning of columns beyond their definition, by table."""


PAGES = Notes(rarely_null=NOT_RECORDED, always_null=NEVER_RECORDED, otherwise=OTHERWISE)
"""Of nameless pages (docs/recorded-pages.md)."""


OTHER_YEARS = Notes(
    rarely_null=NOT_RECORDED,
    always_null={
        **NEVER_RECORDED,
        "the recording of this year does not hold it": (
            *("site.magnitude", "visit.status", "visit.main_response_id", "visit.final_scheme"),
            *("visit.final_host", "visit.load_us", "connection.tls_version", "connection.secured_us"),
            *("connection.round_trip_us", "connection.host", "response.connection_id", "response.position"),
            *("response.initiator_id", "response.redirected_from_id", "response.protocol", "response.status"),
            *("response.mime_type", "response.content_encoding", "response.header_bytes"),
            *("response.body_bytes", "response.is_complete", "response.request_sent_us"),
            *("response.first_byte_us", "response.last_byte_us", "response.no_store", "response.no_cache"),
            *("response.lifetime_by", "response.lifetime_s", "response.age_s", "response.has_validator"),
            *("response.server_delay_us", "response.round_trip_us", "response.browser_delay_us"),
            *("response.browser_delay_first_byte_us", "response.urgency", "response.is_incremental"),
            *("response.request_body_bytes", "response.wire_bytes_unknown"),
        ),
    },
    otherwise={
        **OTHERWISE,
        "response": {
            **OTHERWISE["response"],
            "connection_id": "as recorded; null where the recording names no connections",
            "initiator_id": "as recorded; null where the recording names no initiators",
            "status": "null where not recorded",
            "scheme": "unknown where not recorded",
            "method": "unknown where not recorded",
            "resource_type": "as recorded, else by the media type",
            "wire_bytes": "as Chromium counts a response; where it was not counted whole, the body and the "
            "header's text, over HTTP/2 half of it",
            "header_bytes": "the header's text, over HTTP/2 half of it; "
            "null where it was counted with the body",
            "body_bytes": "as counted; null where it was counted with the header",
            "request_sent_us": "since the page's first request",
        },
    },
)
"""Of the sets of other years (docs/recorded-pages.md)."""


def null_reasons(notes: Notes) -> dict[str, str]:
    """Return why a column of a recorded release may be null throughout, by table.column."""
    rare = {
        f"{table}.{name}": reason
        for table, columns in notes.rarely_null.items()
        for name, reason in columns.items()
    }
    return rare | {column: reason for reason, columns in notes.always_null.items() for column in columns}


def is_recorded(kind: str) -> bool:
    """Return whether a release of this kind is of recordings that somebody else made."""
    return kind == RECORDED


def released_schema(table: str, kind: str, notes: Notes = PAGES) -> pa.Schema:
    """Return the Arrow schema of a table in a release of this kind;
    its comments say what is null in a recorded release."""
    schema = released_tables()[table].schema
    if not is_recorded(kind):
        return schema
    for name, meaning in notes.otherwise[table].items():
        schema = add_note(schema, name, f"in a recorded release: {meaning}")
    for name, reason in notes.rarely_null[table].items():
        schema = add_note(schema, name, f"null in a recorded release: {reason}", nullable=True)
    return schema


def add_note(schema: pa.Schema, name: str, note: str, *, nullable: bool = False) -> pa.Schema:
    """Return the schema with a note at the end of a field's comment."""
    place = schema.get_field_index(name)
    field = schema.field(place)
    comment = f"{definition(field)}; {note}"
    return schema.set(
        place, field.with_nullable(nullable or field.nullable).with_metadata({"comment": comment})
    )
