"""Reassembles the bytes that TCP connections receive from segments (RFC 9293 §3.4, §3.10.7.4). No I/O.

All input is accepted, and memory is bounded. Bytes in order are never replaced by later ones, as a receiver does not
replace bytes that it acknowledged. Not thread-safe.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict, deque
from typing import TYPE_CHECKING

from crawler.capture.segments import ACK, RST, SYN

if TYPE_CHECKING:
    from crawler.capture.segments import Segment

UNCLAIMED_BYTES = 64 * 1024 * 1024
UNCLAIMED_STREAMS = 10_000
"""Most bytes that all unclaimed streams may hold together, and most unclaimed streams."""

UNREAD_BYTES = 256 * 1024 * 1024
"""Most bytes of one stream that wait to be taken."""
AHEAD_BYTES = 16 * 1024 * 1024
"""Most bytes that a stream holds after a gap: more than a connection of Linux (tcp_rmem), so that the capture is at fault."""
CHUNK_BYTES = 64 * 1024
"""Size from which a chunk of ready bytes is not extended."""
PIECE_BYTES = 256
"""Memory that a piece takes besides its bytes: a sender may make pieces of one byte."""

SEQUENCES = 1 << 32
WINDOW = 1 << 30
"""Largest window (RFC 7323 §2.3): segments further ahead are not part of the stream."""


class TcpStream:
    """The bytes that one connection receives, in order, each once."""

    __slots__ = (
        "_ahead",
        "_first",
        "_position",
        "_ready",
        "_starts",
        "_taken",
        "connection",
        "is_lost",
        "kept",
        "unread",
    )

    def __init__(self, first: int, connection: int) -> None:
        self.connection = connection
        """Acknowledgment number of the SYN-ACK, the same in its repetitions."""
        self.is_lost = False
        """True once the stream exceeded its limits, and dropped all bytes."""
        self.kept = 0
        """Memory in use, in bytes."""
        self.unread = 0
        """Bytes that can be taken."""
        self._first = first
        self._position = 0
        """Bytes in order so far; does not wrap around."""
        self._ready: deque[bytearray] = deque()
        """Bytes in order, in chunks: one array would be copied as it grows while its front is taken."""
        self._taken = 0
        """Bytes taken from the first chunk."""
        self._ahead: dict[int, bytes] = {}
        """Pieces after a gap, by position."""
        self._starts: list[int] = []
        """Positions of these pieces, a heap."""

    def take(self, size: int) -> bytes | None:
        """The next `size` bytes; None if they are not all there yet, or the stream is lost."""
        if size > self.unread or self.is_lost:
            return None
        pieces = []
        left = size
        while left > 0:
            chunk = self._ready[0]
            piece = bytes(memoryview(chunk)[self._taken : self._taken + left])
            pieces.append(piece)
            left -= len(piece)
            self._taken += len(piece)
            if self._taken == len(chunk):
                self._ready.popleft()
                self._taken = 0
        self.unread -= size
        self.kept -= size
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def add(self, sequence: int, payload: memoryview | bytes) -> None:
        """Add a segment's payload, in any order, and repeated or not."""
        if self.is_lost:
            return
        offset = (sequence - self._first - self._position) % SEQUENCES
        if offset >= SEQUENCES // 2:
            payload = payload[SEQUENCES - offset :]
        elif offset:
            if offset < WINDOW:
                self._hold(self._position + offset, payload)
            return
        self._append(payload)
        if self._starts:
            self._join()
        if self.unread > UNREAD_BYTES:
            self._lose()

    def _append(self, payload: memoryview | bytes) -> None:
        size = len(payload)
        if not self._ready or len(self._ready[-1]) >= CHUNK_BYTES:
            self._ready.append(bytearray())
        self._ready[-1] += payload
        self.unread += size
        self._position += size
        self.kept += size

    def _hold(self, start: int, payload: memoryview | bytes) -> None:
        held = self._ahead.get(start)
        if held is None:
            heapq.heappush(self._starts, start)
            self.kept += PIECE_BYTES
        elif len(payload) <= len(held):
            return
        self._ahead[start] = bytes(payload)
        self.kept += len(payload) - len(held or b"")
        if self.kept - self.unread > AHEAD_BYTES:
            self._lose()

    def _join(self) -> None:
        while self._starts and self._starts[0] <= self._position:
            start = heapq.heappop(self._starts)
            piece = self._ahead.pop(start)
            self.kept -= PIECE_BYTES + len(piece)
            self._append(piece[self._position - start :])

    def _lose(self) -> None:
        self.is_lost = True
        self.kept = self.unread = 0
        self._ready.clear()
        self._ahead.clear()
        self._starts.clear()


class TcpReassembler:
    """The streams of all connections, each from its SYN-ACK until it is released or forgotten."""

    def __init__(self) -> None:
        self._streams: dict[bytes, TcpStream] = {}
        self._unclaimed: OrderedDict[bytes, TcpStream] = OrderedDict()
        """Unclaimed streams, the oldest first."""
        self._unclaimed_bytes = 0

    def feed(self, segment: Segment) -> None:
        """Add a segment; it is ignored if its connection's SYN-ACK was not captured.

        SYN-ACKs of the same SYN, which have the same acknowledgment number, belong to one connection, and the first
        counts, as it does for Linux. A SYN-ACK of another SYN begins a new connection between the same ends; bytes of
        the old stream can still be taken if it was claimed.
        """
        flow, sequence, acknowledgment, flags, payload = segment
        stream = self._streams.get(flow)
        if flags & SYN:
            if flags & (ACK | RST) != ACK:
                return
            sequence += 1
            if stream is None or stream.connection != acknowledgment:
                stream = self._begin(flow, TcpStream(sequence, acknowledgment))
        if stream is None or not payload:
            return
        before = stream.kept
        stream.add(sequence, payload)
        if flow in self._unclaimed:
            self._unclaimed_bytes += stream.kept - before
            if self._unclaimed_bytes > UNCLAIMED_BYTES:
                self._forget()

    def claim(self, key: bytes) -> TcpStream | None:
        """The stream of the newest connection on this flow, from its first byte; None if it is claimed or unknown."""
        stream = self._unclaimed.pop(key, None)
        if stream is not None:
            self._unclaimed_bytes -= stream.kept
        return stream

    def release(self, key: bytes) -> None:
        """Forget the flow's claimed stream. An unclaimed stream belongs to a later connection, and stays."""
        if key not in self._unclaimed:
            self._streams.pop(key, None)

    def _begin(self, flow: bytes, stream: TcpStream) -> TcpStream:
        self.claim(flow)
        self._streams[flow] = self._unclaimed[flow] = stream
        if len(self._unclaimed) > UNCLAIMED_STREAMS:
            self._forget()
        return stream

    def _forget(self) -> None:
        while self._unclaimed_bytes > UNCLAIMED_BYTES or len(self._unclaimed) > UNCLAIMED_STREAMS:
            flow, stream = self._unclaimed.popitem(last=False)
            self._unclaimed_bytes -= stream.kept
            del self._streams[flow]
