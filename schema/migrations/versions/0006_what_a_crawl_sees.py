"""What only a live crawl can see. Null in the rows that are there: sealed rows are not written."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

COLUMNS: dict[str, list[tuple[str, Any, str]]] = {
    "visit": [
        (
            "first_paint_us",
            sa.BigInteger(),
            "time of the main document's first paint (Paint Timing), in µs since visit.started_at; null if it painted nothing by the end of the recording, and before schema version 6",
        ),
        (
            "first_contentful_paint_us",
            sa.BigInteger(),
            "time of the main document's first paint of text or an image (Paint Timing), in µs since visit.started_at; null if it painted none by the end of the recording, and before schema version 6",
        ),
        (
            "largest_contentful_paint_us",
            sa.BigInteger(),
            "time of the last candidate for the main document's largest contentful paint by the end of the recording (Largest Contentful Paint), in µs since visit.started_at; null if there was none, and before schema version 6",
        ),
    ],
    "connection": [
        (
            "packet_bytes",
            sa.BigInteger(),
            "TCP payload that arrived from the server before recording stopped, counted in captured packets, each byte once by its sequence number; for QUIC the UDP payload; compare received_bytes, which the browser's log counts; null if the connection was not captured whole or went on after recording stopped, and before schema version 6",
        ),
        (
            "first_flight_bytes",
            sa.BigInteger(),
            "payload that the server sent, from the first packet of the connection's first response on, before an acknowledgment of any of it can have reached the server: TCP payload, each byte once, or UDP payload; by captured packets; null where initial_window_unknown says that there is no first flight, and before schema version 6",
        ),
        (
            "first_flight_packets",
            sa.Integer(),
            "TCP segments, or UDP datagrams, of first_flight_bytes; segments that Linux merged are counted one by one; null where first_flight_bytes is",
        ),
        (
            "segment_bytes",
            sa.Integer(),
            "payload of a full TCP segment from the server: the largest that it sent, if its TCP cut it to that size; else the largest that the client allows; null for QUIC and where first_flight_bytes is",
        ),
        (
            "initial_window_segments",
            sa.Integer(),
            "initial congestion window of the server (RFC 6928), in full segments: exact if initial_window_unknown is null, else a lower bound; null where segment_bytes is",
        ),
        (
            "initial_window_unknown",
            sa.Text(),
            "why the initial window may be larger than initial_window_segments, or why nothing is known of it; null if it is exact, and before schema version 6",
        ),
        (
            "round_trip_us",
            sa.BigInteger(),
            "round trip in µs: over TCP from SYN to SYN-ACK in captured packets, or without them the time that the handshake took the browser, in whole milliseconds; for QUIC the shortest time from sending a packet of the handshake to its acknowledgement, in whole milliseconds; null if SYN was sent twice, or the handshake took a second without packets to tell (RFC 6298 §2), if QUIC acknowledged no packet of the handshake by itself, and before schema version 6",
        ),
        (
            "first_record_bytes",
            sa.ARRAY(sa.Integer()),
            "TCP payload of each of the first 10 TLS records from which the browser read application data, record header and tag included, in order (RFC 8446 §5.1); a browser can use nothing of a record before all of it has arrived; null for clear text and QUIC, if it read none, where it is not known which they are, and before schema version 6",
        ),
    ],
    "response": [
        (
            "is_complete",
            sa.Boolean(),
            "true if all of the response arrived, by its framing (RFC 9112 §8, RFC 9113 §8.1, RFC 9114 §4.1): Content-Length or last chunk, a clean close where only the close ends it, END_STREAM, or FIN; false if it broke off, or was still arriving when recording stopped; null if wire_bytes is null, and before schema version 6",
        ),
        (
            "server_delay_us",
            sa.BigInteger(),
            "time in µs from sending the request to the first byte that the browser could use, less round_trip_us, at least 0; waiting in the network or for the crawler's CPU is part of it, and the error is up to 2 ms; null without a round trip or either time, if the request's body has more than 14,000 bytes (a flight), if another response was arriving on the H2 or H3 connection, and before schema version 6",
        ),
        (
            "round_trip_us",
            sa.BigInteger(),
            "round trip in µs that server_delay_us was computed with: the shortest connection.round_trip_us of the visit to the server's address, over TCP or QUIC as the response's; null where server_delay_us is null",
        ),
        (
            "browser_delay_us",
            sa.BigInteger(),
            "time in µs from the last byte of the response that led to this one (redirected_from_id, else initiator_id) until the browser began this request, before name resolution, connecting and queueing; null if it began before that byte came, if either time is unknown or no request was sent, for the document, and before schema version 6",
        ),
        (
            "browser_delay_first_byte_us",
            sa.BigInteger(),
            "as browser_delay_us, from the first byte of the response that led to this one; also known if the request began while that response was arriving",
        ),
        (
            "request_header_bytes",
            sa.BigInteger(),
            "bytes of the request's header as sent, inside TLS or QUIC: request line and header section of HTTP/1.1 (RFC 9112 §2.1); HEADERS and CONTINUATION frames of H2 with their frame headers (RFC 9113 §6.2); the HEADERS frame of H3, without what its compression put on QPACK's own stream (RFC 9204 §4.2); null if the request was not sent whole, and before schema version 6",
        ),
        (
            "urgency",
            sa.SmallInteger(),
            "urgency that the request's Priority header states, 0 (most urgent) to 7; 3 over H2 and H3 if it states none (RFC 9218 §4.1); null over HTTP/1.1 without the header, if no request was sent, and before schema version 6",
        ),
        (
            "is_incremental",
            sa.Boolean(),
            "true if the request's Priority header states that parts of the response are of use (i, RFC 9218 §4.2); null where urgency is null",
        ),
        (
            "h2_weight",
            sa.SmallInteger(),
            "weight in the request's HEADERS frame, 1 to 256 (RFC 7540 §5.3.2); null if the frame has no priority, except over H2, and before schema version 6",
        ),
        (
            "h2_parent_stream_id",
            sa.BigInteger(),
            "stream that the request's HEADERS frame makes this one depend on, 0 for none (RFC 7540 §5.3.1); null where h2_weight is null",
        ),
        (
            "h2_is_exclusive",
            sa.Boolean(),
            "true if that dependency is exclusive (RFC 7540 §5.3.1); null where h2_weight is null",
        ),
        (
            "render_blocking",
            sa.Text(),
            "whether the page could be painted before the response was there, as the browser decided when it asked: blocking, in_body (blocks what comes after it in the body), potentially_blocking (an async script: if it comes before the first paint), non_blocking, or dynamic (not blocking, inserted by a script); null where the browser decides nothing (documents, images, fonts and fetches that were not preloaded), and before schema version 6",
        ),
    ],
}
"""Name, type and comment of each new column, by table; all are nullable."""

REDEFINED: dict[str, dict[str, str]] = {
    "visit": {
        "stop_reason": "why recording stopped: quiet (network idle: no request is open, or those that are have stood still for 2 s unread, or for 5 s in wait for the server), busy (not idle 10 s after the load event), budget (the visit's time limit) or failed; before schema version 6, quiet only without an open request",
    },
    "connection": {
        "tls_handshake_bytes": "TCP payload of the server's TLS flight, before the first response; for QUIC the UDP payload of datagrams that begin with an Initial, Handshake, Retry or Version Negotiation packet; null for clear text, and, since schema version 6, where padded records (RFC 8446 §5.4) hide where it ends",
        "tls_ticket_bytes": "TCP payload of NewSessionTicket and KeyUpdate messages after the handshake, including their TLS records; for QUIC the CRYPTO data after the handshake; null for clear text, and, since schema version 6, where other records of the same read may as well have carried them",
        "frame_bytes": "bytes inside TLS that belong to no response: H2 or H3 frames (SETTINGS, PING, ...), and what HTTP/1.1 sent after the end of a response (RFC 9112 §6.3), which was 0 before schema version 6",
    },
}
"""Comments of columns whose meaning grew, by table and column."""


def upgrade() -> None:
    """Add the columns with their comments, and replace the comments that change."""
    for table, columns in COLUMNS.items():
        for name, kind, comment in columns:
            op.add_column(table, sa.Column(name, kind, nullable=True, comment=comment))
    for table, comments in REDEFINED.items():
        for column, comment in comments.items():
            op.alter_column(table, column, comment=comment)
