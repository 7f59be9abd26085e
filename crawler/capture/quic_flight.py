"""What came within the first round trip of a response over QUIC. Its acknowledgments are encrypted: no window follows."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.capture.packets import Packet

SHARE = 7 / 8
"""Share of the round trip within which nothing can answer the response's first datagram."""


def quic_first_flight(packets: Sequence[Packet], *, client: bytes, request_ns: int) -> tuple[int, int] | None:
    """UDP payload in bytes, and datagrams, of the first flight that answers a request; None if there is none.

    `packets` are those of one connection, in the order of their times. The round trip is the handshake's first: from the
    browser's first datagram to the server's. The request is the first datagram that the browser sends at `request_ns`
    or later; what comes a round trip later answers it, or came with the answer.
    """
    sent = [one.time_ns for one in packets if one.source == client]
    received = [one for one in packets if one.source != client]
    asked = next((time for time in sent if time >= request_ns), None)
    if asked is None or not received or received[0].time_ns <= sent[0]:
        return None
    waited = int(SHARE * (received[0].time_ns - sent[0]))
    begin = next((one.time_ns for one in received if one.time_ns >= asked + waited), None)
    if begin is None:
        return None
    flight = [one for one in received if begin <= one.time_ns < begin + waited]
    return sum(one.payload_bytes for one in flight), sum(one.segments for one in flight)
