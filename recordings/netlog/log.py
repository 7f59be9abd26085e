"""The events of a NetLog in any layout of its JSON, and what the log says of itself."""

from __future__ import annotations

import collections
import dataclasses
import functools
import json
import re
from collections.abc import Iterator
from typing import Any, TypedDict

import msgspec

from crawler.netlog.assembler import EVENTS
from crawler.netlog.event import Event
from crawler.netlog.params import PARAMS, NoParams
from recordings.exchange import RecordingError
from recordings.reading import FORMS, NETLOG, form_of, parse

EVERYTHING = "Everything"
"""Capture mode in which the bytes of sockets are in the log."""

MOST_BYTES = 1024 * 1024 * 1024
"""Most bytes of a log after decompression; net-export stops at a hundredth."""

DATA = "HTTP2_SESSION_RECV_DATA"


UNREADABLE = "unreadable_event"

EVENTS_BEGIN = re.compile(r"\s*,\s*\"events\"\s*:\s*\[")
NEXT_EVENT = re.compile(r"[\s,]*\{")


class LogSource(msgspec.Struct):
    """The source of an event."""

    id: int


class RawEvent(msgspec.Struct):
    """An event as the log has it."""

    source: LogSource
    time: str | int
    type: int
    phase: int
    params: msgspec.Raw = msgspec.Raw(b"{}")


class LogWriter(msgspec.Struct):
    """The program that wrote the log."""

    name: str = ""
    version: str = ""


class Constants(msgspec.Struct, rename="camel"):
    """The numbers of the log's names."""

    log_event_types: dict[str, int]
    log_event_phase: dict[str, int]
    net_error: dict[str, int] = {}
    log_capture_mode: str | None = None
    time_tick_offset: int | str | None = None
    client_info: LogWriter = msgspec.field(default_factory=LogWriter)


class Document(msgspec.Struct):
    """A whole log."""

    constants: Constants
    events: list[msgspec.Raw]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class NetLog:
    """The content of a log."""

    constants: Constants
    events: list[msgspec.Raw]
    is_cut: bool
    """True if the log has no end, as when its browser died."""

    @property
    def mode(self) -> str:
        """The capture mode; older logs do not state theirs."""
        return self.constants.log_capture_mode or "unknown"

    @property
    def has_bytes(self) -> bool:
        return self.mode == EVERYTHING or (self.mode == "unknown" and any(map(has_bytes, self.events)))

    @property
    def browser(self) -> str:
        client = self.constants.client_info
        return f"{client.name} {client.version}".strip()[:255]

    @property
    def epoch_ms(self) -> int | None:
        """Zero of the log's clock, in ms since the epoch."""
        offset = self.constants.time_tick_offset
        try:
            return None if offset is None else int(offset)
        except ValueError:
            return None

    def error_name(self, number: int) -> str:
        return next(
            (f"net::{name}" for name, value in self.constants.net_error.items() if value == number),
            f"net::ERR_{-number}",
        )

    def read(self, left_out: collections.Counter[str]) -> Iterator[tuple[Event[Any], msgspec.Raw]]:
        """Yield the wanted events with their raw parameters; what cannot be read is counted."""
        names = {number: name for name, number in self.constants.log_event_types.items()}
        phases = {
            number: name.removeprefix("PHASE_") for name, number in self.constants.log_event_phase.items()
        }
        decode = msgspec.json.Decoder(RawEvent).decode
        for raw in self.events:
            try:
                event = decode(raw)
                name, phase = names.get(event.type, ""), phases.get(event.phase, "")
                if name not in EVENTS and name != DATA:
                    continue
                kind = StreamData if name == DATA else PARAMS.get((name, phase), NoParams)
                params = decoder(kind).decode(event.params)
                yield (
                    Event(name, phase, event.source.id, int(event.time), params, params.pop("bytes", "")),
                    event.params,
                )
            except (msgspec.MsgspecError, ValueError, RecursionError):
                left_out[UNREADABLE] += 1


class StreamData(TypedDict):
    """Data of an HTTP/2 stream."""

    size: int
    stream_id: int


@functools.cache
def decoder(params: type) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(params)


def has_bytes(raw: msgspec.Raw) -> bool:
    return b'"byte_count"' in bytes(raw) and b'"bytes"' in bytes(raw)


def read_netlog(content: bytes, name: str) -> NetLog:
    content = content.decode(json.detect_encoding(content), "replace").encode()
    try:
        document = msgspec.json.decode(content, type=Document)
    except msgspec.ValidationError as exc:
        raise explain_refusal(content, name) from exc
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return read_cut_log(content, name)
    return NetLog(constants=document.constants, events=document.events, is_cut=False)


def read_cut_log(content: bytes, name: str) -> NetLog:
    text = content.decode("utf-8", "replace")
    start = EVENTS_BEGIN.search(text)
    if start is None:
        raise explain_refusal(content, name)
    try:
        head = msgspec.json.decode(f'{text[: start.start()]},"events":[]}}', type=Document)
    except (msgspec.MsgspecError, RecursionError) as exc:
        raise explain_refusal(content, name) from exc
    return NetLog(constants=head.constants, events=list(read_whole_events(text, start.end())), is_cut=True)


def read_whole_events(text: str, at: int) -> Iterator[msgspec.Raw]:
    """Yield the events from a place on that are whole."""
    decoder = json.JSONDecoder()
    while (begin := NEXT_EVENT.match(text, at)) is not None:
        try:
            _, at = decoder.raw_decode(text, begin.end() - 1)
        except (ValueError, RecursionError):
            return
        yield msgspec.Raw(text[begin.end() - 1 : at].encode())


def explain_refusal(content: bytes, name: str) -> RecordingError:
    """Return the error of a file that is no NetLog, naming the command that reads it."""
    try:
        form = form_of(parse(content, name))
    except RecordingError as exc:
        if content.lstrip().startswith(b'{"constants"'):
            return RecordingError(f"{name} breaks off before its first event")
        return exc
    if form is None or form == NETLOG:
        return RecordingError(
            f"{name} is no NetLog: `constants` with `logEventTypes` and `logEventPhase`, and `events`, "
            "are needed"
        )
    return RecordingError(f"{name} is {FORMS[form]}")
