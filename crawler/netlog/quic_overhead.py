"""What of a QUIC connection's UDP payload is explained: by packet headers, by tags, by frames (RFC 9000 §12, §17, §19).

Chromium logs the size of each datagram, and then the header and the frames of each packet in it, but not how many
bytes a number in them took. So a frame has a least and a most, and a datagram is explained where its size lies
between the sums of both. A frame that is missing from the log, or one too many, shows as bytes unexplained.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.netlog.netlog import Event

TAG_BYTES = 16
"""Of the AEAD, the same for all that QUIC uses (RFC 9001 §5.3)."""

PACKET_NUMBER_BYTES = (1, 4)
SHORT_HEADER_BYTES = 1
"""Without packet number and connection id: Chromium chooses one of no bytes for itself."""

LENGTH_BYTES = 4
"""A length may be left out, or be written as long as it likes: nobody writes more than this."""

CONTROL_BYTES = 32
"""Most that a frame of a type and one to three numbers takes."""

STALE_ACK_BYTES = 64
"""Most that the ACK of a packet takes that others have overtaken: Chromium skips it, and logs none."""

CONNECTION_ID_BYTES = 20
RESET_TOKEN_BYTES = 16


def varint_bytes(number: int) -> int:
    """Least bytes that a number takes (RFC 9000 §16).

    >>> [varint_bytes(n) for n in (63, 64, 16_383, 16_384, 2**30)]
    [1, 2, 2, 4, 8]
    """
    return 1 if number < 1 << 6 else 2 if number < 1 << 14 else 4 if number < 1 << 30 else 8


class QuicOverhead:
    """Accounts for what arrived, datagram by datagram."""

    def __init__(self) -> None:
        self.received_bytes = 0
        self.handshake_bytes = 0
        """Of datagrams that begin with a long header: Initial, Handshake, Retry, Version Negotiation."""
        self.frame_bytes = 0
        """Least bytes of all frames listed."""
        self._explained = 0
        """Of datagrams that are done with."""
        self._size = 0
        self._least = self._most = 0
        self._is_whole = False
        """Whether no more need be known of this one."""
        self._has_packet = False
        self._has_opened = False
        """Whether any packet has been opened yet."""
        self._newest = -1
        """Largest packet number of the short headers."""
        self._waiting: deque[int] = deque()
        """Bytes of packets that came before their keys."""

    @property
    def explained_bytes(self) -> int:
        """All bytes that have an explanation."""
        return self._explained + self._of_this()

    def _of_this(self) -> int:
        if self._is_whole or self._least <= self._size <= self._most:
            return self._size
        # With less than is listed the list is of something else, and explains nothing.
        return self._most if self._most < self._size else 0

    def datagram(self, size: int) -> None:
        """The next one arrived."""
        self.received_bytes += size
        self._begin(size)
        if not self._has_opened:  # a Retry, say, of which the log tells no more; only `kept` may know better
            self._handshake()

    def _begin(self, size: int) -> None:
        self._explained += self._of_this()
        self._size, self._least, self._most = size, 0, 0
        self._is_whole = self._has_packet = False

    def packet(self, number: int, *, long_header: bool) -> None:
        """A packet of it was opened. Short headers come last in a datagram (RFC 9000 §12.2)."""
        if long_header and not self._has_packet:
            self._handshake()
        self._has_packet = self._has_opened = True
        low, high = PACKET_NUMBER_BYTES
        self._least += SHORT_HEADER_BYTES + low + TAG_BYTES
        self._most += SHORT_HEADER_BYTES + high + TAG_BYTES
        if not long_header:
            self._most += STALE_ACK_BYTES * (number < self._newest)
            self._newest = max(number, self._newest)

    def _handshake(self) -> None:
        # Counted whole, as records of the handshake are over TCP: it is padded within and without packets.
        if not self._is_whole:
            self.handshake_bytes += self._size
        self._is_whole = True

    def frame(self, event: Event) -> None:
        """A frame of the packet."""
        sized = SIZED.get(event.name)
        least, most = UNSIZED[event.name] if sized is None else sized(event)
        self._least += least
        self._most += most
        self.frame_bytes += least

    def dropped(self, *, long_header: bool) -> None:
        """It cannot be opened, or has come before: whatever it held comes again."""
        if long_header and not self._has_packet:
            self._handshake()
        self._is_whole = True

    def kept(self) -> None:
        """The rest of it waits for keys."""
        if not self._has_opened and self._is_whole:
            self.handshake_bytes -= self._size
            self._is_whole = False
        if not self._is_whole:
            self._waiting.append(max(0, self._size - self._most))
            self._size = min(self._size, self._most)

    def opened(self) -> None:
        """A packet that waited is looked at again."""
        self._begin(self._waiting.popleft() if self._waiting else 0)


def _stream(event: Event) -> tuple[int, int]:
    offset, size = event.number("offset"), event.number("length")
    least = 1 + varint_bytes(event.number("stream_id")) + (varint_bytes(offset) if offset else 0) + size
    return least, least + LENGTH_BYTES + (not offset)


def _crypto(event: Event) -> tuple[int, int]:
    size = event.number("data_length")
    least = 1 + varint_bytes(event.number("offset")) + varint_bytes(size) + size
    return least, least + LENGTH_BYTES


def _ack(event: Event) -> tuple[int, int]:
    missing = event.params.get("missing_packets")
    numbers = [n for n in missing if isinstance(n, int)] if isinstance(missing, list) else []
    gaps = sum(after != before + 1 for before, after in pairwise(numbers)) + bool(numbers)
    largest = varint_bytes(event.number("largest_observed"))
    # Chromium lists what earlier frames did not acknowledge too, so the gaps are those of this frame at most.
    least = 1 + largest + 1 + 1 + 1
    ecn = 3 * largest
    return least, least + largest + LENGTH_BYTES + 2 * gaps * largest + ecn


def _padding(event: Event) -> tuple[int, int]:
    size = event.number("num_padding_bytes")
    return size, size


def _new_token(event: Event) -> tuple[int, int]:
    size = len(event.text("token")) // 2
    return 1 + 1 + size, 1 + LENGTH_BYTES + size


def _message(event: Event) -> tuple[int, int]:
    size = event.number("message_length")
    return 1 + size, 1 + LENGTH_BYTES + size


def _close(event: Event) -> tuple[int, int]:
    # The reason is logged without the number that Google's servers write in front of it.
    size = len(event.text("details"))
    return 1 + 1 + 1 + size, CONTROL_BYTES + LENGTH_BYTES + size


SIZED: dict[str, Callable[[Event], tuple[int, int]]] = {
    "QUIC_SESSION_STREAM_FRAME_RECEIVED": _stream,
    "QUIC_SESSION_CRYPTO_FRAME_RECEIVED": _crypto,
    "QUIC_SESSION_ACK_FRAME_RECEIVED": _ack,
    "QUIC_SESSION_PADDING_FRAME_RECEIVED": _padding,
    "QUIC_SESSION_NEW_TOKEN_FRAME_RECEIVED": _new_token,
    "QUIC_SESSION_MESSAGE_FRAME_RECEIVED": _message,
    "QUIC_SESSION_CONNECTION_CLOSE_FRAME_RECEIVED": _close,
}
"""Least and most bytes of a frame that says how long it is, by the event that reports it."""

NEW_CONNECTION_ID = (1 + 3 + RESET_TOKEN_BYTES, CONTROL_BYTES + CONNECTION_ID_BYTES + RESET_TOKEN_BYTES)
CONTROL = (2, CONTROL_BYTES)

UNSIZED = {
    "QUIC_SESSION_PING_FRAME_RECEIVED": (1, 1),
    "QUIC_SESSION_HANDSHAKE_DONE_FRAME_RECEIVED": (1, 1),
    "QUIC_SESSION_NEW_CONNECTION_ID_FRAME_RECEIVED": NEW_CONNECTION_ID,
    "QUIC_SESSION_RST_STREAM_FRAME_RECEIVED": CONTROL,
    "QUIC_SESSION_STOP_SENDING_FRAME_RECEIVED": CONTROL,
    "QUIC_SESSION_WINDOW_UPDATE_FRAME_RECEIVED": CONTROL,
    "QUIC_SESSION_BLOCKED_FRAME_RECEIVED": CONTROL,
    "QUIC_SESSION_MAX_STREAMS_FRAME_RECEIVED": CONTROL,
    "QUIC_SESSION_STREAMS_BLOCKED_FRAME_RECEIVED": CONTROL,
    "QUIC_SESSION_RETIRE_CONNECTION_ID_FRAME_RECEIVED": CONTROL,
    "QUIC_SESSION_PATH_CHALLENGE_FRAME_RECEIVED": CONTROL,
    "QUIC_SESSION_PATH_RESPONSE_FRAME_RECEIVED": CONTROL,
}
"""The same of all others."""

FRAMES = frozenset(SIZED) | frozenset(UNSIZED)
