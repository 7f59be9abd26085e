"""Rows of one visit, made of what crossed the network and what the page's own events say."""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence

from crawler.capture.connections import CapturedConnection
from crawler.capture.first_flight import measure_first_flight, measure_quic_first_flight
from crawler.devtools.initiators import PageRequest
from crawler.netlog.assembler import Traffic
from crawler.netlog.exchange import Exchange, Transport
from crawler.visit.observation import Row
from crawler.visit.response_rows import ResponseRows, match_requests
from crawler.visit.row_values import VisitClock, text
from schema.server_delay import fastest, server_delays

FIRST_FLIGHT_COLUMNS = (
    "first_flight_bytes",
    "first_flight_packets",
    "segment_bytes",
    "initial_window_segments",
    "initial_window_most_segments",
    "initial_window_unknown",
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class VisitRows:
    """Rows of one visit, without the columns that the visit writer adds."""

    connections: list[Row]
    responses: list[Row]
    received_bytes: int
    coverage: float | None
    decrypted_coverage: float | None


def make_rows(
    traffic: Traffic,
    requests: Sequence[PageRequest],
    *,
    start_ms: int,
    salt: bytes,
    error_name: Callable[[int], str],
    captured: Sequence[CapturedConnection | None] = (),
    unnamed_bytes: int = 0,
    stop_ms: int = 0,
) -> VisitRows:
    """Make the rows of all connections that received bytes, and of all requests, numbered from 1.

    `captured` has what a capture has of each connection, and is empty without one; `unnamed_bytes` came on
    connections that the log does not name. The recording ended at `stop_ms`.
    """
    times = VisitClock(start_ms)
    connection_ids = {id(transport): n for n, transport in enumerate(traffic.transports, 1)}
    positions = {
        id(exchange): number
        for transport in traffic.transports
        if not transport.is_late
        for number, exchange in enumerate(transport.exchanges, 1)
    }
    joined = match_requests(traffic.exchanges, requests)
    mapping = ResponseRows(traffic.exchanges, joined, connection_ids, positions, times, salt, error_name)
    received = sum(transport.received_bytes for transport in traffic.transports)
    decrypted = sum(transport.decrypted_bytes for transport in traffic.transports)
    seen = [
        # Packets are kept by their ends, so those of a connection that migrated are not whole.
        (transport, None if transport.has_migrated else packets)
        for transport, packets in itertools.zip_longest(traffic.transports, captured)
    ]
    connections: list[Row] = [
        {
            **_connection(transport, number, times),
            **first_flight_columns(transport, packets),
            "packet_bytes": _packet_bytes(packets, stop_ms),
            "round_trip_us": _round_trip_us(transport, packets),
        }
        for number, (transport, packets) in enumerate(seen, 1)
    ]
    responses = [mapping.row(n) for n in range(len(traffic.exchanges))]
    unseen = sum(row["wire_bytes_unknown"] == "unseen" for row in responses)
    return VisitRows(
        connections=connections,
        responses=_add_server_delay(connections, responses),
        received_bytes=received,
        **_coverage(traffic, received, decrypted, unnamed_bytes, unseen),
    )


def add_reused(traffic: Traffic, requests: Iterable[PageRequest]) -> Traffic:
    """Add the resources that the renderer took from its own memory:
    the network stack never saw those requests."""
    reused = [
        Exchange(request.url, "GET", "other", request.asked_ms, cached=True, reused=True)
        for request in requests
        if request.in_memory
    ]
    exchanges = (
        sorted([*traffic.exchanges, *reused], key=lambda exchange: exchange.asked_ms) if reused else None
    )
    return dataclasses.replace(traffic, exchanges=exchanges) if exchanges else traffic


def _coverage(
    traffic: Traffic, received: int, decrypted: int, unnamed: int, unseen: int
) -> dict[str, float | None]:
    """Compute the shares of all bytes that came, and of those inside TLS, that are accounted for.

    Of a connection whose beginning is not in the log, a byte at least is missing;
    of a response that the log does not place on a connection, a byte at least counts as something else.
    """
    inside = sum(_count_accounted(transport) for transport in traffic.transports)
    outside = sum(transport.overhead_bytes for transport in traffic.transports)
    missing = sum(transport.is_late for transport in traffic.transports) + unseen
    came = received + missing + unnamed
    return {
        "coverage": (inside + outside) / came if came else None,
        "decrypted_coverage": inside / (decrypted + missing) if decrypted else None,
    }


def _count_accounted(transport: Transport) -> int:
    """Count the accounted bytes of a connection inside TLS."""
    responses = (exchange for exchange in transport.exchanges if not exchange.is_hidden)
    sizes = sum(exchange.sizes()[0] - exchange.contradicted_bytes for exchange in responses)
    return max(0, sizes + transport.frame_bytes)


def _connection(transport: Transport, number: int, times: VisitClock) -> Row:
    return {
        "id": number,
        "host": None if transport.host is None else text(transport.host.strip("[]").lower()),
        "port": transport.remote_port,
        "remote_address": text(transport.remote_address),
        "local_port": transport.local_port,
        "protocol": transport.protocol,
        "tls_version": text(transport.tls_version),
        "tls_resumed": transport.tls_resumed,
        "received_bytes": transport.received_bytes,
        "decrypted_bytes": transport.decrypted_bytes,
        "tls_handshake_bytes": transport.handshake_bytes,
        "tls_ticket_bytes": transport.ticket_bytes,
        "frame_bytes": transport.frame_bytes,
        "response_count": sum(exchange.sizes()[0] > 0 for exchange in transport.exchanges),
        "opened_us": times.us(transport.opened_ms),
        "connected_us": times.us(transport.connected_ms or transport.opened_ms),
        "secured_us": times.us(transport.secured_ms),
        "last_byte_us": times.us(transport.last_byte_ms),
        "first_record_bytes": transport.first_record_bytes or None,
    }


def _packet_bytes(captured: CapturedConnection | None, stop_ms: int) -> int | None:
    """Return the payload of a connection by its packets.

    None if it is unknown, or went on after the recording.
    """
    if captured is None or (captured.last_ns or 0) // 1_000_000 > stop_ms:
        return None
    return captured.received_bytes


def _round_trip_us(transport: Transport, captured: CapturedConnection | None) -> int | None:
    captured_us = None if captured is None else captured.round_trip_us
    return transport.round_trip_us if captured_us is None else captured_us


def _add_server_delay(connections: Sequence[Row], responses: Sequence[Row]) -> list[Row]:
    """Add the server's delay, and the round trip that it was computed with."""
    trips = fastest(
        connections, {connection["id"]: connection["round_trip_us"] for connection in connections}
    )
    delays = server_delays(connections, responses, trips)
    return [
        {
            **row,
            "server_delay_us": delays[row["id"]],
            "round_trip_us": None if delays[row["id"]] is None else trips[row["connection_id"]],
        }
        for row in responses
    ]


def first_flight_columns(transport: Transport, captured: CapturedConnection | None) -> Row:
    """Return the columns of the connection's first flight.

    Without an estimate, `initial_window_unknown` says why there is none.
    """
    asked = min(
        (exchange.sent_ms for exchange in transport.exchanges if exchange.sent_ms is not None), default=None
    )
    if captured is None or captured.is_lost:
        return _first_flight(unknown="not_captured")
    if asked is None:
        return _first_flight(unknown="no_response")
    client, packets, asked_ns = captured.client, captured.packets, asked * 1_000_000
    if transport.protocol == "h3":
        quic_flight = measure_quic_first_flight(
            packets, client=client, request_ns=asked_ns, answer_after=transport.answer_after
        )
        return _first_flight(*(quic_flight or (None, None)), unknown="quic")
    flight = measure_first_flight(
        packets, client=client, request_ns=asked_ns, answer_after=transport.answer_after or 0
    )
    if isinstance(flight, str):
        return _first_flight(unknown=flight)
    return _first_flight(
        flight.bytes,
        flight.packets,
        flight.segment_bytes,
        flight.window_segments,
        flight.window_most_segments,
        unknown=flight.unknown or None,
    )


def _first_flight(
    size: int | None = None,
    packets: int | None = None,
    segment: int | None = None,
    window: int | None = None,
    most: int | None = None,
    *,
    unknown: str | None,
) -> Row:
    return dict(zip(FIRST_FLIGHT_COLUMNS, (size, packets, segment, window, most, unknown), strict=True))
