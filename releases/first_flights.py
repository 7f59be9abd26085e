"""Derives first flights and IW-limited responses: the data that the initial window acts on.

Both follow from a connection's row and the rows of its responses, on the client's clock, for TCP only. The
assumed sender is Linux in slow start without loss, limited only by its window.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from releases.slow_start import MSS_TIMESTAMPS, segments
from schema.vocabulary import IN_PART

RTO_MIN_US = 200_000
"""Linux's TCP_RTO_MIN, in µs: its retransmission timeout is the round-trip time plus at least this."""


class FlightConnection(NamedTuple):
    """The columns of `connection` that the derivation needs."""

    id: int
    protocol: str
    tls_version: str | None
    received_bytes: int | None
    decrypted_bytes: int | None
    tls_handshake_bytes: int | None
    tls_ticket_bytes: int | None
    frame_bytes: int | None
    opened_us: int | None
    connected_us: int | None
    secured_us: int | None

    @property
    def rtt_us(self) -> int | None:
        """Round trip of the TCP handshake."""
        if self.opened_us is None or self.connected_us is None:
            return None
        return self.connected_us - self.opened_us

    @property
    def tls_bytes(self) -> int | None:
        """Server's TLS flight; 0 for clear text."""
        return 0 if self.tls_version is None else self.tls_handshake_bytes

    @property
    def overhead(self) -> float | None:
        """TCP payload per byte inside TLS, i.e. the overhead of records."""
        if self.tls_version is None:
            return 1.0
        if self.tls_handshake_bytes is None or self.tls_ticket_bytes is None:
            return None
        if self.received_bytes is None or not self.decrypted_bytes:
            return None
        return (self.received_bytes - self.tls_handshake_bytes - self.tls_ticket_bytes) / self.decrypted_bytes

    def payload_bytes(self, inside: int | None) -> int | None:
        """Return the TCP payload of `inside` bytes inside TLS; None if unknown."""
        return None if inside is None or self.overhead is None else round(inside * self.overhead)

    @property
    def extra_bytes(self) -> int | None:
        """TCP payload of tickets and connection frames, which arrive with the first response."""
        frames = self.payload_bytes(self.frame_bytes)
        if frames is None:
            return None
        return frames + (self.tls_ticket_bytes or 0)


class FlightResponse(NamedTuple):
    """The columns of `response` that the derivation needs."""

    id: int
    wire_bytes: int | None
    request_sent_us: int | None
    first_byte_us: int | None
    last_byte_us: int | None
    is_complete: bool | None = None
    size_basis: str | None = None

    @property
    def full_bytes(self) -> int | None:
        """None if unknown or derived, or if the response broke off."""
        return None if self.is_complete is False or self.size_basis in IN_PART else self.wire_bytes


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FirstFlight:
    """The data that a server sent before the first acknowledgement of response data could reach it."""

    response_ids: tuple[int, ...]
    tls_bytes: int | None
    """The TLS flight, which is acknowledged before the first request but is the
    first data that the window limits."""
    answer_bytes: int | None
    """Everything else: responses, TLS records, tickets and connection frames."""

    @property
    def size_bytes(self) -> int | None:
        """None if a part is unknown, without which a flight would look smaller."""
        if self.tls_bytes is None or self.answer_bytes is None:
            return None
        return self.tls_bytes + self.answer_bytes


def first_flight(connection: FlightConnection, responses: Sequence[FlightResponse]) -> FirstFlight | None:
    """Return the first flight of a connection; None if no response began to arrive on it.

    Let the first byte of the first response reach the client at time t, when its acknowledgement leaves.
    Requests and acknowledgements travel the same path in order. A request sent before t therefore reaches
    the server before that acknowledgement, and its response belongs to the first flight; a request sent at
    t or later reaches the server afterwards, and may find a larger window. Only the client's clock is
    needed, and no one-way delay. A redirect that precedes other requests is therefore a first flight by
    itself.

    Frames and tickets are known only as sums over the connection; nearly all arrive at its beginning.
    """
    begun = _begun(responses)
    if not begun:
        return None
    first = begun[0]
    start_us = _arrival(first)
    members = [first] + [
        response
        for response in responses
        if response.id != first.id
        and response.request_sent_us is not None
        and response.request_sent_us < start_us
    ]
    payload = connection.payload_bytes(_total(member.full_bytes for member in members))
    return FirstFlight(
        response_ids=tuple(sorted(member.id for member in members)),
        tls_bytes=connection.tls_bytes,
        answer_bytes=_total((payload, connection.extra_bytes)),
    )


@dataclasses.dataclass(slots=True)
class _Sender:
    """Linux's congestion window, updated response by response; `cwnd` is None when no longer known."""

    iw: int
    mss: int
    rtt_us: int
    cwnd: int | None
    last_sent_us: int
    """Arrival of the last data at the client, a constant delay after it was sent."""
    burst_us: int | None = None
    """Arrival of the first byte that is not acknowledged; None if all are."""
    burst_bytes: int | None = 0

    def acknowledge(self) -> None:
        """Grow the window by the acknowledged segments,
        if cwnd < 2 * max_packets_out (slow start, tcp_is_cwnd_limited)."""
        if self.cwnd is not None:
            if self.burst_bytes is None:
                self.cwnd = None
            else:
                outstanding = segments(self.burst_bytes, mss=self.mss)
                self.cwnd += outstanding if 2 * outstanding > self.cwnd else 0
        self.burst_us, self.burst_bytes = None, 0

    def restart(self, idle_us: int) -> None:
        """Halve the window for each RTO of idle time after the first, down to the IW (tcp_cwnd_restart)."""
        rto_us = self.rtt_us + RTO_MIN_US
        if self.cwnd is None or idle_us <= rto_us:
            return
        idle_us -= rto_us
        while idle_us > 0 and self.cwnd > self.iw:
            self.cwnd >>= 1
            idle_us -= rto_us
        self.cwnd = max(self.cwnd, self.iw)

    def begin(self, response: FlightResponse) -> None:
        at_us = _arrival(response)
        if self.burst_us is not None and (
            at_us >= self.burst_us + self.rtt_us  # enough time for the acknowledgement,
            or (response.request_sent_us or 0) >= self.burst_us  # or the request itself followed it
        ):
            self.acknowledge()
        if self.burst_us is None:
            self.restart(at_us - self.last_sent_us)

    def send(self, response: FlightResponse, payload_bytes: int | None) -> None:
        at_us = _arrival(response)
        if self.burst_us is None:
            self.burst_us = at_us
        self.burst_bytes = _total((self.burst_bytes, payload_bytes))
        self.last_sent_us = max(self.last_sent_us, at_us, response.last_byte_us or 0)


def iw_limited(
    connection: FlightConnection, responses: Sequence[FlightResponse], *, iw: int, mss: int = MSS_TIMESTAMPS
) -> dict[int, bool | None]:
    """Return, by response id, whether the window was still `iw` segments when the response began.

    Responses of which nothing arrived are left out: they did not grow the window. The server's TLS flight
    is data like any other: six segments of it grow a window of ten.
    """
    begun = _begun(responses)
    limited: dict[int, bool | None] = {
        response.id: None
        for response in responses
        if response.wire_bytes is not None and response.first_byte_us is None
    }
    rtt_us, connected_us = connection.rtt_us, connection.connected_us
    if limited or rtt_us is None or connected_us is None:  # their effect on the window is unknown
        return limited | {response.id: None for response in begun}
    sender = _Sender(
        iw=iw,
        mss=mss,
        rtt_us=rtt_us,
        cwnd=iw,
        last_sent_us=connection.secured_us or connected_us,
        burst_bytes=connection.tls_bytes,
    )
    sender.acknowledge()  # the client's Finished acknowledges the TLS flight: Chromium sends no request before it  # noqa: E501
    extra = connection.extra_bytes
    for response in begun:
        sender.begin(response)
        limited[response.id] = None if sender.cwnd is None else sender.cwnd <= iw
        sender.send(response, _total((connection.payload_bytes(response.wire_bytes), extra)))
        extra = 0
    return limited


def _begun(responses: Iterable[FlightResponse]) -> list[FlightResponse]:
    arrived = [response for response in responses if response.first_byte_us is not None]
    return sorted(arrived, key=lambda response: (_arrival(response), response.id))


def _arrival(response: FlightResponse) -> int:
    assert response.first_byte_us is not None  # callers pass only responses from `_begun`
    return response.first_byte_us


def _total(parts: Iterable[int | None]) -> int | None:
    total = 0
    for part in parts:
        if part is None:
            return None
        total += part
    return total
