"""One response on its way out, whatever the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from localweb import faults
from localweb.faults import Fault

if TYPE_CHECKING:
    from localweb.content import Answer
    from localweb.log import SentResponse

CHUNK = 16_384
"""Bytes of body written at a time: a TLS record's most, and an H2 frame's."""


class ProtocolViolation(Exception):  # what the client did, not what went wrong with us
    """The client sent what is not HTTP; the connection is dropped."""


class Outgoing:
    """An answer, how much of it has been written, and its entry in the log."""

    def __init__(self, answer: Answer, entry: SentResponse, *, fault: Fault | None) -> None:
        self.answer = answer
        self.entry = entry
        self._fault = fault
        self._taken = 0

    @property
    def is_new(self) -> bool:
        """Whether not even the header has been written."""
        return self.entry.first_byte_us is None

    @property
    def length(self) -> int | None:
        """Of the whole body; None if it has no end."""
        return None if self._fault is Fault.NEVER_ENDING else len(self.answer.body)

    @property
    def has_body(self) -> bool:
        """Whether anything follows the header."""
        return self.entry.method != "HEAD" and self.length != 0

    @property
    def is_exhausted(self) -> bool:
        """Whether the whole body has been taken."""
        return self.length is not None and self._taken >= self.length

    @property
    def is_cut(self) -> bool:
        """Whether this is where a reset cuts it off."""
        return self._fault is Fault.RESET and self._taken >= faults.RESET_AFTER_BYTES

    def take(self, most: int, now: int) -> bytes:
        """The next bytes of the body that may be written by now."""
        started = self.entry.first_byte_us if self.entry.first_byte_us is not None else now
        allowed = faults.allowed_bytes(self._fault, len(self.answer.body), elapsed_us=now - started)
        size = max(0, min(most, allowed - self._taken))
        body = self.answer.body
        if self.length is None:
            piece = b" " * size if self._taken >= len(body) else body[self._taken : self._taken + size]
        else:
            piece = body[self._taken : self._taken + size]
        self._taken += len(piece)
        return piece

    def wrote(self, *, header: int, body: int, now: int) -> None:
        """Count bytes that go to TCP now: header and framing, and body."""
        self.entry.wrote(header=header, body=body, first_us=now, last_us=now)

    def finish(self, now: int) -> None:
        """Nothing more will come."""
        self.entry.is_complete = True
        self.entry.last_byte_us = now


class Answering(Protocol):
    """Finds the answer to a request and opens its entry in the log; None if there will be none."""

    def __call__(
        self, method: str, authority: str, path: str, protocol: str, stream_id: int | None, /
    ) -> Outgoing | None: ...


class Session(Protocol):
    """A connection's HTTP, without its I/O."""

    protocol: str
    wants_close: bool

    def receive(self, data: bytes) -> None: ...

    def next_write(self, now: int) -> bytes: ...

    @property
    def is_waiting(self) -> bool: ...

    @property
    def wants_reset(self) -> bool: ...
