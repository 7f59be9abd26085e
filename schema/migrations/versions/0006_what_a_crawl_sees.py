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
    ],
    "response": [
        (
            "is_complete",
            sa.Boolean(),
            "true if all of the response arrived, by its framing (RFC 9112 §8, RFC 9113 §8.1, RFC 9114 §4.1): Content-Length or last chunk, a clean close where only the close ends it, END_STREAM, or FIN; false if it broke off, or was still arriving when recording stopped; null if wire_bytes is null, and before schema version 6",
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
