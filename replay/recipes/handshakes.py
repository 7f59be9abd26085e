"""TLS handshakes of a page's connections: their round trips, as recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Row: TypeAlias = "Mapping[str, Any]"

TWO_TRIPS = 1.5
"""Round trips from which a handshake is taken for two: cryptography and waiting take less than half a round trip. Our choice."""


def tls_trips(connection: Row) -> int:
    """Round trips of a connection's TLS handshake before its first request.

    TLS 1.2 takes two (RFC 5246 §7.3), unless the client sends its request without waiting for the server's Finished (False Start,
    RFC 7918), as Chromium does with most servers: so the recorded time decides. All else takes one (RFC 8446 §2).

    >>> slow = {"tls_version": "TLS 1.2", "connected_us": 50_000, "secured_us": 155_000, "round_trip_us": 50_000}
    >>> tls_trips(slow), tls_trips(slow | {"secured_us": 110_000}), tls_trips(slow | {"tls_version": "TLS 1.3"})
    (2, 1, 1)
    """
    times = [connection.get(name) for name in ("connected_us", "secured_us", "round_trip_us")]
    if connection["tls_version"] != "TLS 1.2" or None in times:
        return 1
    connected_us, secured_us, round_trip_us = (int(time) for time in times if time is not None)
    return 2 if secured_us - connected_us >= TWO_TRIPS * round_trip_us else 1
