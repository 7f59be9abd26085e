"""What a round trip is: the smallest that the kernel measured, where it is known. Sealed rows are not written."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

ROUND_TRIP_US = "round trip in µs: over TCP the smaller of the time from SYN to SYN-ACK in captured packets and of the smallest that the browser's kernel measured until recording stopped (tcpi_min_rtt of TCP_INFO), or without a capture the time that the handshake took the browser, in whole milliseconds; for QUIC the shortest time from sending a packet of the handshake to its acknowledgement, in whole milliseconds; null if SYN was sent twice and TCP_INFO is not known, or the handshake took a second without packets to tell (RFC 6298 §2), if QUIC acknowledged no packet of the handshake by itself, and before schema version 6"


def upgrade() -> None:
    """Replace the comment of the column."""
    op.alter_column("connection", "round_trip_us", comment=ROUND_TRIP_US)
