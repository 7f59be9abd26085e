"""Chromium's NetLog, line by line: bytes in, events out.

The log is a JSON document with one event a line, flushed in batches, and cut off where a browser dies.
Strings in it come from the network: of any length, in any encoding, and never trusted.
"""

import functools
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from crawler.netlog.event import Event
from crawler.netlog.params import PARAMS, NoParams

LINE_LIMIT = 16 * 1024 * 1024
"""Longest line that is read, in bytes; only a data: URL in a header makes a line that long."""

_PHASE = b'"phase":'
"""It cannot be part of a string in the log: there, its quotes would be escaped."""
_ENDINGS = (b"},", b"}],", b"}")
"""Ends of a line after its event's type."""
_TAIL = 8
"""Bytes at a line's end that hold its type, of at most four digits."""


class _Source(msgspec.Struct, gc=False):
    id: int


class _Line(msgspec.Struct, gc=False):
    source: _Source
    time: str


class _Kind(NamedTuple):
    name: str
    phase: str
    decoder: msgspec.json.Decoder[Any]


@functools.cache
def _decoder(params: type) -> msgspec.json.Decoder[Any]:
    """Return a decoder of lines; only an event that requires none may lack all parameters."""
    needed = params.__required_keys__  # type: ignore[attr-defined]
    field: Any = ("params", params) if needed else ("params", params, msgspec.field(default_factory=dict))
    return msgspec.json.Decoder(msgspec.defstruct("Line", [field], bases=(_Line,), gc=False))


class LineReader:
    """Turns lines of the log into the wanted events.

    >>> reader = LineReader(frozenset({"TCP_CONNECT"}))
    >>> constants = b'{"constants":{"logEventTypes":{"TCP_CONNECT":7},"logEventPhase":{"PHASE_END":2},"netError":{}},'
    >>> line = b'{"phase":2,"source":{"id":5,"type":10},"time":"12","type":7},'
    >>> [event.name for event in reader.events([constants, line])]
    ['TCP_CONNECT']
    """  # noqa: E501

    def __init__(self, wanted: frozenset[str]) -> None:
        self.wanted = wanted
        self.ignored = 0
        self.missing: frozenset[str] | None = None
        self._kinds: dict[bytes, dict[bytes, _Kind] | None] = {}
        """By the line's tail, and by phase; None for events that are not wanted."""
        self._errors: dict[int, str] = {}

    def events(self, lines: Iterable[bytes]) -> Iterator[Event[Any]]:
        """Yield the wanted events; unreadable lines are counted."""
        lines = iter(lines)
        while not self._kinds:
            line = next(lines, None)
            if line is None:
                return
            self._constants(line)
        kinds = self._kinds
        for line in lines:
            # Four lines in five are not wanted: their last field tells, before JSON is parsed.
            phases = kinds.get(line[-_TAIL:], {})
            if phases:
                event = self._event(phases, line)
                if event is not None:
                    yield event
            elif phases is not None:
                self.ignored += line.startswith(b'{"params"')

    def _event(self, phases: dict[bytes, _Kind], line: bytes) -> Event[Any] | None:
        at = line.rfind(_PHASE) + len(_PHASE)
        try:
            name, phase, decoder = phases[line[at : at + 1]]
            decoded = decoder.decode(memoryview(line)[: line.rfind(b"}") + 1])
            params = decoded.params
            return Event(name, phase, decoded.source.id, int(decoded.time), params, params.pop("bytes", ""))
        except (msgspec.MsgspecError, ValueError, KeyError, RecursionError):
            self.ignored += 1
            return None

    def _constants(self, line: bytes) -> None:
        if not line.startswith(b'{"constants"'):
            return
        try:
            constants = json.loads(line.rstrip().rstrip(b",") + b"}")["constants"]
            phases = {str(number).encode(): name[6:] for name, number in constants["logEventPhase"].items()}
            kinds = {
                b'"type":%d' % number: {
                    digit: _Kind(name, phase, _decoder(PARAMS.get((name, phase), NoParams)))
                    for digit, phase in phases.items()
                }
                if name in self.wanted
                else None
                for name, number in constants["logEventTypes"].items()
            }
            self._errors = {number: f"net::{name}" for name, number in constants["netError"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            self.ignored += 1
        else:
            self.missing = self.wanted - constants["logEventTypes"].keys()
            self._kinds = {(field + end)[-_TAIL:]: kind for field, kind in kinds.items() for end in _ENDINGS}

    def error(self, number: int) -> str:
        return self._errors.get(number, f"net::ERR_{-number}")


class LineSplitter:
    """Cuts a byte stream into lines; longer ones than `limit` are dropped and counted."""

    def __init__(self, limit: int = LINE_LIMIT, *, end: bytes = b"\n") -> None:
        self.limit = limit
        self.end = end
        self.dropped = 0
        self._rest = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that end in `chunk`."""
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
