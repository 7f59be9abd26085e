"""Columns of a connection that its packets alone can tell: the server's first flight and its initial window."""

from __future__ import annotations

from typing import Any

from crawler.capture.connections import CapturedConnection
from crawler.capture.first_flight import first_flight
from crawler.capture.quic_flight import quic_first_flight
from crawler.netlog.exchange import Transport

COLUMNS = (
    "first_flight_bytes",
    "first_flight_packets",
    "segment_bytes",
    "initial_window_segments",
    "initial_window_unknown",
)


def first_flight_columns(transport: Transport, captured: CapturedConnection | None) -> dict[str, Any]:
    """The columns of the connection's first flight; without an estimate, `initial_window_unknown` says why there is none."""
    asked = min((one.sent_ms for one in transport.exchanges if one.sent_ms is not None), default=None)
    if captured is None or captured.is_lost:
        return _columns(unknown="not_captured")
    if asked is None:
        return _columns(unknown="no_response")
    if transport.protocol == "h3":
        found = quic_first_flight(captured.packets, client=captured.client, request_ns=asked * 1_000_000)
        return _columns(*(found or (None, None)), unknown="quic")
    flight = first_flight(captured.packets, client=captured.client, request_ns=asked * 1_000_000)
    if isinstance(flight, str):
        return _columns(unknown=flight)
    return _columns(
        flight.bytes,
        flight.packets,
        flight.segment_bytes,
        flight.window_segments,
        unknown=flight.unknown or None,
    )


def _columns(
    size: int | None = None,
    packets: int | None = None,
    segment: int | None = None,
    window: int | None = None,
    *,
    unknown: str | None,
) -> dict[str, Any]:
    return dict(zip(COLUMNS, (size, packets, segment, window, unknown), strict=True))
