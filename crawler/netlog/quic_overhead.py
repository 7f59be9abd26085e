"""Accounts for a QUIC connection's UDP payload by packet headers, tags and frames (RFC 9000 §12, §17, §19).

Chromium logs the size of each datagram, and then the header and the frames of each packet in it, but not how
many bytes their variable-length integers took. So a frame has a least and a most size, and a datagram is
explained if its size lies between the sums of both. A frame that is missing from the log, or one too many,
leaves unexplained bytes.
"""

from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

from crawler.netlog import params
from crawler.netlog.event import Encoded, Event
from crawler.netlog.params import number

Sizes: TypeAlias = tuple[int, int]

TAG_BYTES = 16
"""Tag of the AEAD, the same for all of QUIC's (RFC 9001 §5.3)."""

PACKET_NUMBER_BYTES = (1, 4)
SHORT_HEADER_BYTES = 1
"""Header without packet number and connection ID: Chromium's own connection ID is empty."""

LENGTH_BYTES = 4
"""Most bytes of a length, which may be left out, and may be longer than needed."""

CONTROL_BYTES = 32
"""Most bytes of a frame of a type and one to three integers."""

STALE_ACK_BYTES = 64
"""Most bytes of the ACK frame in a packet that newer packets overtook: Chromium skips it, and logs none."""

CONNECTION_ID_BYTES = 20
RESET_TOKEN_BYTES = 16


def varint_bytes(number: int) -> int:
    """Return the least bytes of an integer (RFC 9000 §16).

    >>> [varint_bytes(n) for n in (63, 64, 16_383, 16_384, 2**30)]
    [1, 2, 2, 4, 8]
    """
    return 1 if number < 1 << 6 else 2 if number < 1 << 14 else 4 if number < 1 << 30 else 8


class QuicOverhead:
    """Accounts for the datagrams received."""

    def __init__(self) -> None:
        self.received_bytes = 0
        self.handshake_bytes = 0
        """Datagrams that begin with a long header: Initial, Handshake, Retry, Version Negotiation."""
        self.frame_bytes = 0
        self._explained = 0
        self._size = 0
        self._least = self._most = 0
        self._is_whole = False
        self._has_packet = False
        self._has_opened = False
        self._newest = -1
        self._waiting: deque[int] = deque()

    @property
    def explained_bytes(self) -> int:
        return self._explained + self._current()

    def _current(self) -> int:
        if self._is_whole or self._least <= self._size <= self._most:
            return self._size
        # Frames of more bytes than the datagram are another datagram's, and explain nothing.
        return self._most if self._most < self._size else 0

    def datagram(self, size: int) -> None:
        self.received_bytes += size
        self._begin(size)
        if not self._has_opened:  # a Retry, say, of which the log has no more; only `buffered` corrects this
            self._handshake()

    def _begin(self, size: int) -> None:
        self._explained += self._current()
        self._size, self._least, self._most = size, 0, 0
        self._is_whole = self._has_packet = False

    def packet(self, number: int, *, long_header: bool) -> None:
        """Count a decrypted packet; a short header comes last in a datagram (RFC 9000 §12.2)."""
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
        # The datagram counts whole, as handshake records do over TCP:
        # it is padded within and without packets.
        if not self._is_whole:
            self.handshake_bytes += self._size
        self._is_whole = True

    def frame(self, event: Event[Any]) -> None:
        sized = SIZED.get(event.name)
        least, most = UNSIZED[event.name] if sized is None else sized(event.params)
        self._least += least
        self._most += most
        self.frame_bytes += least

    def drop_packet(self, *, long_header: bool) -> None:
        """Count a packet that cannot be decrypted, or has come before."""
        if long_header and not self._has_packet:
            self._handshake()
        self._is_whole = True

    def buffer_packet(self) -> None:
        if not self._has_opened and self._is_whole:
            self.handshake_bytes -= self._size
            self._is_whole = False
        if not self._is_whole:
            self._waiting.append(max(0, self._size - self._most))
            self._size = min(self._size, self._most)

    def unbuffer_packet(self) -> None:
        self._begin(self._waiting.popleft() if self._waiting else 0)


def _stream(frame: params.StreamFrame) -> Sizes:
    offset, size = frame["offset"], frame["length"]
    least = 1 + varint_bytes(frame["stream_id"]) + (varint_bytes(offset) if offset else 0) + size
    return least, least + LENGTH_BYTES + (not offset)


def _crypto(frame: params.CryptoFrame) -> Sizes:
    size = frame["data_length"]
    least = 1 + varint_bytes(frame["offset"]) + varint_bytes(size) + size
    return least, least + LENGTH_BYTES


def _ack(frame: params.AckFrame) -> Sizes:
    missing = [packet for packet in frame["missing_packets"] if isinstance(packet, int)]
    gaps = sum(after != before + 1 for before, after in pairwise(missing)) + bool(missing)
    largest = varint_bytes(number(frame["largest_observed"]))
    # Chromium also lists packets that earlier frames did not acknowledge,
    # so this frame has at most these gaps.
    least = 1 + largest + 1 + 1 + 1
    ecn = 3 * largest
    return least, least + largest + LENGTH_BYTES + 2 * gaps * largest + ecn


def _padding(frame: params.PaddingFrame) -> Sizes:
    return frame["num_padding_bytes"], frame["num_padding_bytes"]


def _new_token(frame: params.NewTokenFrame) -> Sizes:
    size = len(Encoded(frame["token"]))
    return 1 + 1 + size, 1 + LENGTH_BYTES + size


def _message(frame: params.MessageFrame) -> Sizes:
    return 1 + frame["message_length"], 1 + LENGTH_BYTES + frame["message_length"]


def _close(frame: params.CloseFrame) -> Sizes:
    # Google's servers write a number in front of the reason, which is not logged.
    size = len(frame["details"])
    return 1 + 1 + 1 + size, CONTROL_BYTES + LENGTH_BYTES + size


SIZED: dict[str, Callable[[Any], Sizes]] = {
    "QUIC_SESSION_STREAM_FRAME_RECEIVED": _stream,
    "QUIC_SESSION_CRYPTO_FRAME_RECEIVED": _crypto,
    "QUIC_SESSION_ACK_FRAME_RECEIVED": _ack,
    "QUIC_SESSION_PADDING_FRAME_RECEIVED": _padding,
    "QUIC_SESSION_NEW_TOKEN_FRAME_RECEIVED": _new_token,
    "QUIC_SESSION_MESSAGE_FRAME_RECEIVED": _message,
    "QUIC_SESSION_CONNECTION_CLOSE_FRAME_RECEIVED": _close,
}

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

FRAMES = frozenset(SIZED) | frozenset(UNSIZED)
