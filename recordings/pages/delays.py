"""Round trips, and delays of servers and of the browser, from a recording's times."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from recordings.pages.connections import Connection, Traffic, duration
from recordings.pages.request import microseconds
from schema.server_delay import fastest

Row: TypeAlias = "dict[str, Any]"

TLS_ROUND_TRIPS = {"TLS 1.2": 2}
"""Round trips of a full handshake (RFC 5246 §7.3);
one for every other version (RFC 8446 §2, RFC 9001 §4.1)."""


def handshake_round_trip(connection: Connection) -> int | None:
    """Round trip that a connection's handshakes show, in µs.

    None if it was opened unseen or without a round trip. A proxy on the way may answer a TCP handshake
    itself, as the VPN of the bundled pages did: the TLS handshake is what went to the server and back, and
    the longer of both is nearer to the truth. It includes the server's cryptography. A resumed TLS 1.2
    handshake takes one round trip, and is taken for half of it.
    """
    opener = connection.opener
    if opener is None or connection.connected_us is None or connection.opened_us is None:
        return None
    tcp = connection.connected_us - connection.opened_us
    secure = duration(opener.ssl_ms) if connection.is_secure else 0
    return max(tcp, secure // TLS_ROUND_TRIPS.get(connection.tls or "", 1)) or None


def round_trips(connections: Sequence[Row], traffic: Traffic) -> dict[int, int]:
    """The path's round trip in µs by connection id: the shortest handshake with its address,
    and no longer than a wait.

    No response can come sooner than a round trip after its request,
    so the shortest wait at an address bounds it.
    """
    shown = {row["id"]: row["round_trip_us"] for row in connections}
    waits = {
        row["id"]: min(
            (
                microseconds(one.wait_ms)
                for one in connection.requests
                if one.wait_ms is not None and one.transfer_bytes is not None
            ),
            default=None,
        )
        for row, connection in zip(connections, traffic.connections, strict=True)
    }
    named = [row for row in connections if row["remote_address"] is not None]
    trips, bounds = fastest(named, shown), fastest(named, waits)
    return {number: min(trip, bounds.get(number, trip)) for number, trip in trips.items()}


def browser_delays(
    row: Mapping[str, Any], leading: Mapping[str, Any] | None, began_us: int
) -> tuple[int | None, int | None]:
    """Time from the leading response's last and first byte until the browser began a request, in µs.

    None if negative.
    """
    if leading is None or row["request_sent_us"] is None:
        return None, None
    after_last, after_first = (
        None if leading[name] is None or began_us < leading[name] else began_us - leading[name]
        for name in ("last_byte_us", "first_byte_us")
    )
    return after_last, after_first
