"""Chromium's NetLog, line by line: bytes in, events out.

The log is a JSON document with one event a line, flushed in batches, and cut off where a browser dies. Strings in it
come from the network: of any length, in any encoding, and never trusted.
"""

from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any

from crawler.netlog.event import Event
from crawler.netlog.params import check

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LINE_LIMIT = 16 * 1024 * 1024
"""Longest line that is read, in bytes; only a data: URL in a header makes a line that long."""

_TYPE = re.compile(rb'"type":(\d{1,6})\}\]?,?\s*$')
_BYTES = b'"bytes":"'
_BETWEEN = "], \r"
"""Characters that may follow an event in its line."""
_DECODER = json.JSONDecoder()


@dataclasses.dataclass(frozen=True, slots=True)
class Names:
    """Names of events, phases and errors, by their numbers in one browser's log."""

    events: dict[bytes, str]
    endings: dict[bytes, str | None]
    """Names by the end of the line, as in all lines but the last; None for events that are not wanted."""
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
    """Turns lines of the log into the wanted events.

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
        """Lines of events that could not be read."""

    def events(self, lines: Iterable[bytes]) -> Iterator[Event[Any]]:
        """The wanted events in the log's next lines; lines that cannot be read are counted."""
        lines = iter(lines)
        while self.names is None:
            line = next(lines, None)
            if line is None:
                return
            self._constants(line)
        endings = self.names.endings
        for line in lines:
            # Four lines in five are not wanted: their last field tells, before JSON is parsed.
            name = endings.get(line[line.rfind(b":") + 1 :], "")
            if name is not None:
                name = name or self._name(line)
                event = self._event(name, line) if name else None
                if event is not None:
                    yield event

    def _name(self, line: bytes) -> str | None:
        """The wanted event's name in a line that ends as the log's last line does."""
        found = _TYPE.search(line, max(0, len(line) - 24))
        if found is None:
            self.ignored += line.startswith(b'{"params"')
            return None
        return self.names.events.get(found[1]) if self.names else None

    def _event(self, name: str, line: bytes) -> Event[Any] | None:
        try:
            line, data = _without_bytes(line)
            fields = _object(line)
            phase = self.names.phases.get(fields["phase"], "NONE") if self.names else "NONE"
            params = fields.get("params")
            params = params if isinstance(params, dict) else {}
            check(name, phase, params)
            return Event(name, phase, int(fields["source"]["id"]), int(fields["time"]), params, data)
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
    """The line without its Base64, and the Base64.

    Most of the log is Base64, which need not go through the JSON parser. `"bytes":"` cannot be part of a string in the
    log: there, its quotes would be escaped.
    """
    start = line.find(_BYTES)
    if start < 0:
        return line, ""
    start += len(_BYTES)
    end = line.find(b'"', start)
    return (line[:start] + line[end:], line[start:end].decode("ascii")) if end > 0 else (line, "")


def _object(line: bytes) -> Any:  # noqa: ANN401  # JSON
    """The JSON value of a line, with nothing but punctuation behind it; raises ValueError otherwise."""
    text = line.decode("utf-8", "surrogatepass")  # json.loads does the same, after trying other encodings
    found, end = _DECODER.raw_decode(text)
    if text[end:].strip(_BETWEEN):
        raise ValueError("two values in one line")
    return found


class LineSplitter:
    """Cuts a byte stream into whole lines; lines longer than `limit` are dropped and counted."""

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
