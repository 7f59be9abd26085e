"""What TCP connections receive, put together from segments (RFC 9293 §3.4, §3.10.7.4). No I/O.

Whatever the network sends is taken, and memory is bounded. Bytes that are in order are not replaced by others that come
later, as a receiver that has acknowledged them does not. One thread at a time.
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
"""What all streams together may hold, and how many there may be, that nobody has asked for."""

UNREAD_BYTES = 256 * 1024 * 1024
"""Of one stream."""
AHEAD_BYTES = 16 * 1024 * 1024
"""That a stream may hold behind a gap: more than Linux gives a connection (tcp_rmem), so that the gap is the capture's."""
CHUNK_BYTES = 64 * 1024
"""Of what can be taken: a chunk that has so many is not added to."""
PIECE_BYTES = 256
"""What it takes to hold a piece besides the piece: a sender may cut them as small as it likes."""

SEQUENCES = 1 << 32
WINDOW = 1 << 30
"""The largest there is (RFC 7323 §2.3): what is further ahead is no part of the stream."""


class TcpStream:
    """What one connection receives, in order, each byte once."""

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
        """The acknowledgment number of its SYN-ACK, which is the same in all of them."""
        self.is_lost = False
        """Whether it held too much, and holds nothing any more."""
        self.kept = 0
        """Bytes of memory that it holds."""
        self.unread = 0
        """Bytes that can be taken."""
        self._first = first
        self._position = 0
        """How many bytes were in order so far; does not wrap around."""
        self._ready: deque[bytearray] = deque()
        """In chunks, since one array would be copied as it grows while its front is taken."""
        self._taken = 0
        """Of the first chunk."""
        self._ahead: dict[int, bytes] = {}
        """Pieces behind a gap, by position."""
        self._starts: list[int] = []
        """Their positions, a heap."""

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
        """A segment's payload, whenever and however often it comes."""
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
    """The streams of all connections, from the SYN-ACK that begins each until it is released or forgotten."""

    def __init__(self) -> None:
        self._streams: dict[bytes, TcpStream] = {}
        self._unclaimed: OrderedDict[bytes, TcpStream] = OrderedDict()
        """The oldest first."""
        self._unclaimed_bytes = 0

    def feed(self, segment: Segment) -> None:
        """One more segment; those of a connection whose SYN-ACK has not been seen go nowhere.

        Two SYN-ACKs of the same SYN (their acknowledgment number tells) are one connection, whose first counts, as it
        does for Linux. One of another SYN is a new connection between the same ends: the old is over, but whoever has
        claimed its stream may still take what came.
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
        """The stream of the newest connection on this flow, from its first byte; None if it is claimed, or not there."""
        stream = self._unclaimed.pop(key, None)
        if stream is not None:
            self._unclaimed_bytes -= stream.kept
        return stream

    def release(self, key: bytes) -> None:
        """Nobody takes from the flow's claimed stream any more. One that is not claimed is a later connection's, and stays."""
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
