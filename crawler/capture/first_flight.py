"""The first flight of a server's first response, and the bounds of its initial window,
from the headers of captured packets.

The acknowledgments of QUIC are encrypted: no window follows.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from crawler.capture.initial_window import bound_initial_window
from crawler.capture.packets import Packet
from crawler.capture.tcp_exchange import read_exchange

QUIC_SHARE = 7 / 8
"""Share of the round trip within which nothing can answer the request, or the response's first datagram."""
BARE_ACK_BYTES = 50
"""Most bytes of a datagram with an ACK frame alone (RFC 9000 §19.3):
the browser's connection ID is empty, the tag has 16 bytes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CapturedFlight:
    """The bytes within the first round trip of a response, and the server's initial window as far as they
    tell it.
    """

    bytes: int
    """TCP payload from the response's first packet on, sent before any of it was acknowledged, each byte
    once.
    """
    packets: int
    segment_bytes: int
    """Payload of a full segment as the server sent it, in bytes."""
    window_segments: int
    window_most_segments: int | None = None
    """Upper bound of the initial window; None if nothing bounds it."""
    unknown: str = ""
    """Reason why the bounds differ; empty if the window is exact."""


def measure_first_flight(
    packets: Sequence[Packet], *, client: bytes, request_ns: int, answer_after: int = 0
) -> CapturedFlight | str:
    """Return the first flight of the response to the first request, or the reason why there is none.

    `packets` are one connection's, in the order of time; `client` is the browser's end as in `Packet.source`.
    The request is the first payload that the browser sends at `request_ns` or later; the response comes after
    `answer_after` bytes of TCP payload, of a handshake and its tickets.
    """
    exchange = read_exchange(packets, client=client)
    if isinstance(exchange, str):
        return exchange
    begin = exchange.find_answer(request_ns, answer_after)
    if begin is None:
        return "no_response"
    first = exchange.data[begin]
    acked = next(
        (
            n
            for n, ack in enumerate(exchange.acks)
            if ack.time_ns >= first.time_ns
            and n >= exchange.heard[begin].most  # what the first packet had heard is none of it
            and (ack.position > first.start or ack.is_selective)
        ),
        len(exchange.acks),
    )
    later = zip(exchange.data[begin:], exchange.heard[begin:], strict=True)
    response = [segment for segment, heard in later if heard.most <= acked]
    window = bound_initial_window(exchange, begin)
    return CapturedFlight(
        bytes=sum(segment.size for segment in response),
        packets=len(response),
        segment_bytes=exchange.segment_bytes,
        window_segments=window.least,
        window_most_segments=window.most,
        unknown=window.unknown,
    )


def measure_quic_first_flight(
    packets: Sequence[Packet], *, client: bytes, request_ns: int, answer_after: int | None = None
) -> tuple[int, int] | None:
    """Return UDP payload in bytes, and datagrams, of the first flight of a response; None if there is none.

    `packets` are one connection's, in the order of time. The round trip is from the browser's first datagram
    to the server's. The request is the browser's first datagram at `request_ns` or later. The response begins
    with its stream's data, after `answer_after` bytes from the server and a round trip after the request; if
    the bytes are not known, with the first datagram that is more than an ACK.
    """
    sent = [packet.time_ns for packet in packets if packet.source == client]
    received = [packet for packet in packets if packet.source != client]
    asked = next((time for time in sent if time >= request_ns), None)
    if asked is None or not received or received[0].time_ns <= sent[0]:
        return None
    waited = int(QUIC_SHARE * (received[0].time_ns - sent[0]))
    reached = itertools.accumulate(packet.payload_bytes for packet in received)
    begin = next(
        (
            packet.time_ns
            for packet, end in zip(received, reached, strict=True)
            if packet.time_ns >= asked + waited
            and (packet.payload_bytes > BARE_ACK_BYTES if answer_after is None else end > answer_after)
        ),
        None,
    )
    if begin is None:
        return None
    flight = [packet for packet in received if begin <= packet.time_ns < begin + waited]
    return sum(packet.payload_bytes for packet in flight), sum(packet.segments for packet in flight)
