"""What the browser sends: priorities and sizes of requests, and the round trip of QUIC's handshake.

A priority is in the Priority header (RFC 9218), and over HTTP/2 also in HEADERS (RFC 7540 §5.3).
"""

import dataclasses
import re
from typing import NamedTuple

from crawler.netlog import params
from crawler.netlog.event import Encoded, Event
from crawler.netlog.http2 import FRAME_HEADER_BYTES, FrameType
from crawler.netlog.params import number
from crawler.netlog.quic_overhead import varint_bytes

PREFACE_BYTES = 24
"""Bytes that a client sends before its first HTTP/2 frame (RFC 9113 §3.4)."""

PACKETS_KEPT = 64
"""Most packets of QUIC's handshake whose times are kept."""

ONE_RTT = "ENCRYPTION_FORWARD_SECURE"

DEFAULT_URGENCY = 3
"""Urgency without the parameter `u` (RFC 9218 §4.1)."""

_URGENCY = re.compile(r"u=(-?[0-9]{1,15})")
_INCREMENTAL = {"i": True, "i=?1": True, "i=?0": False}


class Signal(NamedTuple):
    """Value of a Priority header."""

    urgency: int
    """0, the most urgent, to 7."""
    is_incremental: bool


class Weight(NamedTuple):
    """Priority in a HEADERS frame of HTTP/2."""

    weight: int
    parent_stream_id: int
    """Stream that it depends on; 0 for none."""
    is_exclusive: bool


def parse_priority(header: str) -> Signal:
    """Read a Priority header; a parameter that is absent,
    unknown or out of range has its default (RFC 9218 §4).

    >>> parse_priority("u=1, i"), parse_priority("")
    (Signal(urgency=1, is_incremental=True), Signal(urgency=3, is_incremental=False))
    """
    urgency, is_incremental = DEFAULT_URGENCY, False
    for member in header.split(","):
        value = member.partition(";")[0].strip()  # parameters of a parameter have no meaning
        if match := _URGENCY.fullmatch(value):
            urgency = int(match[1]) if 0 <= int(match[1]) <= 7 else DEFAULT_URGENCY
        is_incremental = _INCREMENTAL.get(value, is_incremental)
    return Signal(urgency, is_incremental)


def read_weight(event: Event[params.Http2Request]) -> Weight | None:
    """Read the priority of a HEADERS frame; None if it has none."""
    sent = event.params
    if not sent.get("has_priority"):
        return None
    return Weight(sent.get("weight", 0), sent.get("parent_stream_id", 0), sent.get("exclusive", False))


class SentFrames:
    """Counts the header sections that the browser sends on an HTTP/2 connection."""

    def __init__(self) -> None:
        self.header_bytes: dict[int, int] = {}
        self._skipped = PREFACE_BYTES
        self._header = b""

    def feed(self, data: bytes | Encoded) -> None:
        at = 0
        while at < len(data):
            if self._skipped:
                passed = min(self._skipped, len(data) - at)
                self._skipped -= passed
                at += passed
                continue
            taken = data[at : at + FRAME_HEADER_BYTES - len(self._header)]
            if not taken:  # no Base64
                return
            self._header += taken
            at += len(taken)
            if len(self._header) == FRAME_HEADER_BYTES:
                self._frame(self._header)
                self._header = b""

    def _frame(self, header: bytes) -> None:
        self._skipped = int.from_bytes(header[:3], "big")
        if header[3] in (FrameType.HEADERS, FrameType.CONTINUATION):
            stream_id = int.from_bytes(header[5:], "big") & 0x7FFFFFFF
            before = self.header_bytes.get(stream_id, 0)
            self.header_bytes[stream_id] = before + FRAME_HEADER_BYTES + self._skipped


@dataclasses.dataclass(slots=True)
class SentStream:
    """One request stream of HTTP/3."""

    data_bytes: int = 0
    """DATA frames with their headers."""
    ends_at: int | None = None


class SentPackets:
    """The packets that one QUIC session sends: streams of its requests, and packets of its handshake."""

    def __init__(self) -> None:
        self.round_trip_ms: int | None = None
        """Shortest time from a handshake packet to its acknowledgement."""
        self._streams: dict[int, SentStream] = {}
        self._sent_ms: dict[int, int] = {}
        """Times of handshake packets by number, which the browser uses once."""

    def packet(self, event: Event[params.SentPacket]) -> None:
        if event.params.get("encryption_level") != ONE_RTT and len(self._sent_ms) < PACKETS_KEPT:
            self._sent_ms[number(event.params["packet_number"])] = event.time_ms

    def take_ack(self, largest: int, at_ms: int) -> None:
        """Take an ACK frame and its largest packet number (RFC 9002 §5.1)."""
        sent_ms = self._sent_ms.pop(largest, None)
        if sent_ms is not None:
            trip_ms = max(0, at_ms - sent_ms)
            self.round_trip_ms = trip_ms if self.round_trip_ms is None else min(self.round_trip_ms, trip_ms)

    def stream_frame(self, event: Event[params.StreamFrame]) -> None:
        if event.params["fin"]:
            stop = event.params["offset"] + event.params["length"]
            self._stream(event.params["stream_id"]).ends_at = stop

    def data_frame(self, event: Event[params.Http3Frame]) -> None:
        size = event.params["payload_length"]
        self._stream(event.params["stream_id"]).data_bytes += 1 + varint_bytes(size) + size

    def header_bytes(self, stream_id: int) -> int | None:
        """Return the HEADERS frame of a request; None if the stream's end was not sent."""
        stream = self._streams.get(stream_id)
        if stream is None or stream.ends_at is None:
            return None
        return max(0, stream.ends_at - stream.data_bytes) or None

    def _stream(self, stream_id: int) -> SentStream:
        return self._streams.setdefault(stream_id, SentStream())
