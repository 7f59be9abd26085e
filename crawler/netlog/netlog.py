"""Chromium's NetLog, line by line: bytes in, events out.

The log is a JSON document written one event a line, flushed in batches, and cut off where the browser
was when it died. Strings in it come from the network: of any length, in any encoding, and never trusted.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple, overload
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LINE_LIMIT = 16 * 1024 * 1024
"""Longest line that is looked at, in bytes; a data: URL in a header can be that long, and nothing useful is."""

HEADER_VALUE_LIMIT = 8192
"""Longest value of a header that is kept, in characters."""

_TYPE = re.compile(rb'"type":(\d{1,6})\}\]?,?\s*$')
_FINAL = re.compile("[2-9][0-9]{2}")
_STATUS = frozenset({":status"})
_BYTES = b'"bytes":"'
_BETWEEN = "], \r"
"""What may follow an event in its line."""
_DECODER = json.JSONDecoder()

ESCAPED = "%ESCAPED:\u200b "


class Encoded:
    """Bytes in Base64, of which a slice is decoded when it is asked for: most are only counted.

    >>> some = Encoded("aGVsbG8=")
    >>> len(some), some[1:4], some[4]
    (5, b'ell', 111)
    """

    __slots__ = ("_size", "_text")

    def __init__(self, text: str) -> None:
        whole = len(text) % 4 == 0  # else it is no Base64, and stands for nothing
        self._text = text if whole else ""
        self._size = len(text) // 4 * 3 - text.endswith("=") - text.endswith("==") if whole else 0

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> bytes: ...
    def __getitem__(self, at: int | slice) -> int | bytes:
        """A byte, or a stretch of them; neither counts from the end or in steps."""
        if not isinstance(at, slice):
            return (self[at : at + 1] or b"\0")[0]
        start, stop, _ = at.indices(self._size)
        first = start // 3
        try:
            piece = binascii.a2b_base64(self._text[first * 4 : -(-stop // 3) * 4])
        except (binascii.Error, ValueError):
            return b""
        return piece[start - first * 3 : stop - first * 3]


class Event(NamedTuple):
    """One event of the log."""

    name: str
    """Event type, e.g. `SOCKET_BYTES_RECEIVED`."""
    phase: str
    """`BEGIN`, `END` or `NONE`."""
    source: int
    """Id of what it happened to: a socket, a request, a session; never reused in the life of a browser."""
    time_ms: int
    """Milliseconds on the monotonic clock: the log has no finer ones."""
    params: dict[str, Any]
    data: str | bytes = ""
    """The bytes that it is about, where it has any: in Base64, as the log has them, or themselves."""

    def content(self) -> bytes:
        """What `data` stands for; nothing where it is no Base64."""
        if isinstance(self.data, bytes):
            return self.data
        try:
            return base64.b64decode(self.data)
        except (binascii.Error, ValueError):
            return b""

    def encoded(self) -> Encoded | bytes:
        """The same, to be decoded in part."""
        return self.data if isinstance(self.data, bytes) else Encoded(self.data)

    def dependency(self) -> int | None:
        """Id of the other source that the event names."""
        other = self.params.get("source_dependency")
        found = other.get("id") if isinstance(other, dict) else None
        return found if isinstance(found, int) else None

    def text(self, key: str) -> str:
        """A parameter that should be a string; empty where it is not."""
        found = self.params.get(key)
        return found if isinstance(found, str) else ""

    def number(self, key: str) -> int:
        """A parameter that should be a count; 0 where it is not."""
        found = self.params.get(key)
        return found if isinstance(found, int) else 0


@dataclasses.dataclass(frozen=True, slots=True)
class Names:
    """The numbers of one browser's log, by which its events are named."""

    events: dict[bytes, str]
    endings: dict[bytes, str | None]
    """By the end of its line, as Chromium writes all but the last; None for events that nobody wants."""
    phases: dict[int, str]
    errors: dict[int, str]

    @classmethod
    def of(cls, constants: dict[str, Any], wanted: frozenset[str]) -> Names:
        """The names of the `wanted` events, from the log's first line."""
        types = {name: str(n).encode() for name, n in constants["logEventTypes"].items()}
        return cls(
            events={number: name for name, number in types.items() if name in wanted},
            endings={number + b"},": name if name in wanted else None for name, number in types.items()},
            phases={n: name.removeprefix("PHASE_") for name, n in constants["logEventPhase"].items()},
            errors={n: f"net::{name}" for name, n in constants["netError"].items()},
        )


class LineReader:
    """Turns lines into the events that somebody wants.

    >>> reader = LineReader(frozenset({"TCP_CONNECT"}))
    >>> constants = b'{"constants":{"logEventTypes":{"TCP_CONNECT":7},"logEventPhase":{"PHASE_END":2},"netError":{}},'
    >>> line = b'{"phase":2,"source":{"id":5,"type":10},"time":"12","type":7},'
    >>> [event.name for event in reader.events([constants, line])]
    ['TCP_CONNECT']
    """

    def __init__(self, wanted: frozenset[str]) -> None:
        self.wanted = wanted
        self.names: Names | None = None
        self.ignored = 0
        """Lines that should have been events and could not be read."""

    def events(self, lines: Iterable[bytes]) -> Iterator[Event]:
        """The wanted events in these lines, the next of the log; what cannot be read is counted."""
        lines = iter(lines)
        while self.names is None:
            line = next(lines, None)
            if line is None:
                return
            self._constants(line)
        endings = self.names.endings
        for line in lines:
            # Four lines of five are of no interest: they are told by their last field, before JSON is parsed.
            name = endings.get(line[line.rfind(b":") + 1 :], "")
            if name is not None:
                name = name or self._name(line)
                event = self._event(name, line) if name else None
                if event is not None:
                    yield event

    def _name(self, line: bytes) -> str | None:
        """Of a line that ends as the log's last does."""
        found = _TYPE.search(line, max(0, len(line) - 24))
        if found is None:
            self.ignored += line.startswith(b'{"params"')
            return None
        return self.names.events.get(found[1]) if self.names else None

    def _event(self, name: str, line: bytes) -> Event | None:
        try:
            line, data = _without_bytes(line)
            fields = _object(line)
            params = fields.get("params")
            return Event(
                name,
                self.names.phases.get(fields["phase"], "NONE") if self.names else "NONE",
                int(fields["source"]["id"]),
                int(fields["time"]),
                params if isinstance(params, dict) else {},
                data,
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.ignored += 1
            return None

    def _constants(self, line: bytes) -> None:
        if not line.startswith(b'{"constants"'):
            return
        try:
            constants = json.loads(line.rstrip().rstrip(b",") + b"}")["constants"]
            self.names = Names.of(constants, self.wanted)
        except (ValueError, KeyError, TypeError, AttributeError):
            self.ignored += 1

    def error(self, number: int) -> str:
        """Chromium's name of a network error: `net::ERR_ABORTED` for -3."""
        return (self.names.errors if self.names else {}).get(number, f"net::ERR_{-number}")


def _without_bytes(line: bytes) -> tuple[bytes, str]:
    """The line with its Base64 cut out, and the Base64.

    Most of the log is Base64, and it need not go through the JSON parser. `"bytes":"` cannot stand inside
    a string of the log, where the quotes would be escaped.
    """
    start = line.find(_BYTES)
    if start < 0:
        return line, ""
    start += len(_BYTES)
    end = line.find(b'"', start)
    return (line[:start] + line[end:], line[start:end].decode("ascii")) if end > 0 else (line, "")


def _object(line: bytes) -> Any:  # noqa: ANN401  # JSON
    """The JSON at the head of a line that has nothing but punctuation behind it; ValueError else."""
    text = line.decode(
        "utf-8", "surrogatepass"
    )  # as json.loads does, which tries to tell other encodings first
    found, end = _DECODER.raw_decode(text)
    if text[end:].strip(_BETWEEN):
        raise ValueError("two in one line")
    return found


class LineSplitter:
    """Cuts a byte stream into whole lines; what is longer than `limit` is dropped and counted."""

    def __init__(self, limit: int = LINE_LIMIT, *, end: bytes = b"\n") -> None:
        self.limit = limit
        self.end = end
        self.dropped = 0
        self._rest = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that end in `chunk`, without their ends."""
        *lines, rest = chunk.split(self.end)
        if lines:
            lines[0] = bytes(self._rest) + lines[0]
            self._rest.clear()
            if self._skipping:
                del lines[0]
                self._skipping = False
            if len(chunk) > self.limit or (lines and len(lines[0]) > self.limit):
                short = [line for line in lines if len(line) <= self.limit]
                self.dropped += len(lines) - len(short)
                lines = short
        if not self._skipping:
            self._rest += rest
        if len(self._rest) > self.limit:
            self._rest.clear()
            self._skipping = True
            self.dropped += 1
        return lines


def endpoint(text: str) -> tuple[str, int]:
    """Address and port.

    >>> endpoint("[2001:db8::1]:443")
    ('2001:db8::1', 443)
    """
    address, _, port = text.rpartition(":")
    return address.strip("[]"), int(port) if port.isdecimal() else 0


def header_lines(event: Event) -> list[str]:
    """The lines of a header section, the status line first where there is one."""
    lines = event.params.get("headers")
    return [_unescaped(line) for line in (lines if isinstance(lines, list) else ()) if isinstance(line, str)]


def _unescaped(line: str) -> str:
    """The log percent-encodes a string that is not ASCII, and marks it (Chromium's NetLogStringValue).

    >>> _unescaped("%ESCAPED:\u200b Location: /caf%C3%A9%25")
    'Location: /caf\xe9%'
    """
    return unquote(line.removeprefix(ESCAPED), errors="replace") if line.startswith(ESCAPED) else line


def final_status(event: Event) -> int | None:
    """Of an HTTP/2 or HTTP/3 header section as it came, of which a request that is given up is not told any more.

    None for an interim response (RFC 9110 §15.2), and for trailers.
    """
    status = headers(event, _STATUS).get(":status", "")
    return int(status) if _FINAL.fullmatch(status) else None


def headers(event: Event, wanted: frozenset[str]) -> dict[str, str]:
    """The wanted headers by lower-case name; of a repeated one, the first."""
    found: dict[str, str] = {}
    for name, value in _fields(event, wanted):
        found.setdefault(name, value)
    return found


def joined_headers(event: Event, wanted: frozenset[str]) -> dict[str, str]:
    """The same; of a repeated one all, joined by commas (RFC 9110 §5.3)."""
    found: dict[str, str] = {}
    for name, value in _fields(event, wanted):
        found[name] = f"{found[name]}, {value}"[:HEADER_VALUE_LIMIT] if name in found else value
    return found


def _fields(event: Event, wanted: frozenset[str]) -> Iterator[tuple[str, str]]:
    for line in header_lines(event):
        name, _, value = line[1:].partition(":") if line.startswith(":") else line.partition(":")
        name = f":{name}" if line.startswith(":") else name.lower()
        if name in wanted:
            yield name, value.strip()[:HEADER_VALUE_LIMIT]
