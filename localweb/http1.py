"""The server's side of an HTTP/1.1 connection: bytes in, bytes out, every byte of a response counted."""

from __future__ import annotations

import collections
import http
from typing import TYPE_CHECKING

from localweb.modes import ALPN_HTTP1
from localweb.outgoing import CHUNK, Outgoing, ProtocolViolation

if TYPE_CHECKING:
    from localweb.outgoing import Answering

HEAD_LIMIT = 65_536
"""Bytes of a request's header that are read before giving up."""


class Http1Session:
    """Requests are answered in their order, one at a time."""

    protocol = ALPN_HTTP1

    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self._received = bytearray()
        self._body_left = 0
        self._pending: collections.deque[Outgoing] = collections.deque()
        self._head = b""
        """Header that is next to be written."""
        self.wants_close = False

    def receive(self, data: bytes) -> None:
        """Take in bytes from the client."""
        self._received += data
        while not self.wants_close:
            skipped = min(self._body_left, len(self._received))
            del self._received[:skipped]
            self._body_left -= skipped
            end = self._received.find(b"\r\n\r\n")
            if self._body_left or end < 0:
                if len(self._received) > HEAD_LIMIT:
                    raise ProtocolViolation("a request header without end")
                return
            head = bytes(self._received[:end])
            del self._received[: end + 4]
            self._request(head)

    def _request(self, head: bytes) -> None:
        method, target, fields = parse(head)
        if "transfer-encoding" in fields:
            raise ProtocolViolation("a chunked request")
        length = fields.get("content-length", "0")
        if not length.isdigit():
            raise ProtocolViolation(f"content-length {length!r}")
        self._body_left = int(length)
        self.wants_close = fields.get("connection", "").lower() == "close"
        outgoing = self._answering(method, fields.get("host", ""), target, self.protocol, None)
        if outgoing:
            self._pending.append(outgoing)

    def next_write(self, now: int) -> bytes:
        """The next bytes to write; none if there is nothing to say now."""
        while self._pending:
            outgoing = self._pending[0]
            if outgoing.is_new:
                head = response_head(outgoing)
                outgoing.wrote(header=len(head), body=0, now=now)
                if not outgoing.has_body:
                    self._finish(now)
                return head
            body = outgoing.take(CHUNK, now)
            if not body:
                return b""
            outgoing.wrote(header=0, body=len(body), now=now)
            if outgoing.is_exhausted:
                self._finish(now)
            return body
        return b""

    def _finish(self, now: int) -> None:
        self._pending.popleft().finish(now)

    @property
    def is_waiting(self) -> bool:
        """Whether a response waits for time to pass."""
        return bool(self._pending)

    @property
    def wants_reset(self) -> bool:
        """Whether the response is one that a reset cuts off here."""
        return bool(self._pending) and self._pending[0].is_cut


def parse(head: bytes) -> tuple[str, str, dict[str, str]]:
    """Method, target and header fields of a request."""
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise ProtocolViolation(f"not a request line: {first[:80]!r}")
    fields = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise ProtocolViolation(f"not a header field: {line[:80]!r}")
        fields[name.lower()] = value.strip()
    return parts[0], parts[1], fields


def response_head(outgoing: Outgoing) -> bytes:
    """Status line and header."""
    answer = outgoing.answer
    try:
        reason = http.HTTPStatus(answer.status).phrase
    except ValueError:
        reason = ""
    lines = [f"HTTP/1.1 {answer.status} {reason}"]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    if outgoing.length is not None and answer.status != 204:
        lines.append(f"content-length: {outgoing.length}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
