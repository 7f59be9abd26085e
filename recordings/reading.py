"""Reads the page of a recording from a file. Files from outside are hostile: all is checked.

The text in a file's container is JSON or JSON lines in UTF-8, UTF-16 or UTF-32,
with a byte-order mark or without.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from recordings import cdp, har
from recordings.containers import unpack
from recordings.exchange import HTTP, Recording, RecordingError
from recordings.page import PageLoad, document_of, find_page_load

MOST_EXCHANGES = 20_000

OBJECTS_PER_ENTRY = 50
"""On average; one of Chrome has about 40, most of them header fields."""

HAR, CDP, NETLOG, TRACE = "har", "cdp", "netlog", "trace"

FORMS = {
    HAR: "a HAR: import it by `firstflight import har`",
    CDP: "a log of DevTools events: import it by `firstflight import cdp`",
    NETLOG: "a NetLog of Chrome: import it by `firstflight import netlog`",
    TRACE: "a trace of Chrome, which no command reads: record a HAR, a log of DevTools events or a NetLog",
}

NOT_OF_FORM = {
    HAR: "is no HAR: an object `log` with `entries` is missing",
    CDP: "is no log of DevTools events: an array of events, JSON lines or an object with `events` is needed",
}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RecordedFile:
    """The page of a recording."""

    name: str
    sha256: str
    kind: str
    """HAR or CDP."""
    tool: str
    browser: str
    started_at: datetime.datetime | None
    load: PageLoad

    @property
    def day(self) -> str:
        """Day of the first request, YYYY-MM-DD; empty if not recorded."""
        return "" if self.started_at is None else f"{self.started_at:%Y-%m-%d}"


def read_file(path: Path, kind: str, *, strict: bool = False) -> RecordedFile:
    """Read the page of a HAR file or a log of DevTools events; RecordingError if none can be used.

    Entries whose values cannot be true are counted; with `strict` they are an error.
    """
    name, content = name_and_content(path)
    recording = read_content(content, kind, name=name)
    if strict and recording.odd:
        number, reason = recording.odd[0]
        raise RecordingError(f"{name}: entry {number}: {reason}")
    load = find_load(recording, name)
    return RecordedFile(
        name=name,
        sha256=hashlib.sha256(content).hexdigest(),
        kind=kind,
        tool=recording.tool,
        browser=recording.browser,
        started_at=started_at(recording, load),
        load=load,
    )


def name_and_content(path: Path) -> tuple[str, bytes]:
    """Return a file's name, in characters that can be written, and bytes; RecordingError."""
    name = path.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    try:
        return name, path.read_bytes()
    except OSError as exc:
        raise RecordingError(f"{name} cannot be read: {exc.strerror}") from exc


def read_content(
    content: bytes, kind: str, *, name: str = "the file", most_entries: float = math.inf
) -> Recording:
    """Return the recording in the bytes of a file; RecordingError if it is of another form, or has more than
    `most_entries`.
    """
    now = datetime.datetime.now(datetime.UTC)
    document = parse(unpack(content, name), name, most_objects=OBJECTS_PER_ENTRY * most_entries)
    form = form_of(document)
    if form != kind:
        raise RecordingError(f"{name} {NOT_OF_FORM[kind]}" if form is None else f"{name} is {FORMS[form]}")
    if kind == HAR and isinstance(entries := document["log"].get("entries"), list):
        check_number(len(entries), most_entries, name)
    try:
        if kind == HAR:
            return har.read(document["log"], now=now)
        return cdp.read(document["events"] if isinstance(document, dict) else document, now=now)
    except (msgspec.ValidationError, RecursionError) as exc:
        raise RecordingError(f"{name} {NOT_OF_FORM[kind]}") from exc


def find_load(recording: Recording, name: str = "the file") -> PageLoad:
    """Return the page; RecordingError if it asks for nothing by HTTP, or for more than a page does."""
    is_there = any(urlsplit(exchange.url).scheme in HTTP for exchange in recording.exchanges)
    if not is_there and document_of(recording.untimed) is None:
        reasons = ", ".join(sorted({reason for _, reason in recording.odd}))
        raise RecordingError(
            f"{name}: no request by HTTP in it" + (f" that can be used ({reasons})" if reasons else "")
        )
    load = find_page_load(recording)
    if len(load.exchanges) > MOST_EXCHANGES:
        raise RecordingError(f"{name}: more than {MOST_EXCHANGES:,} requests of one page")
    return load


def started_at(recording: Recording, load: PageLoad) -> datetime.datetime | None:
    first = min((exchange.started_s for exchange in load.exchanges or recording.exchanges), default=None)
    if recording.epoch_s is None or first is None:
        return None
    return datetime.datetime.fromtimestamp(recording.epoch_s + first, datetime.UTC)


def check_number(number: int, most: float, name: str) -> None:
    if number > most:
        raise RecordingError(f"{name} has too many entries or values: save the HAR of one page alone")


def parse(content: bytes, name: str, *, most_objects: float = math.inf) -> Any:  # noqa: ANN401  # JSON
    """Return the JSON, or the list of JSON lines, in the bytes; RecordingError if it is none, or too
    large."""
    text = content.decode(json.detect_encoding(content), "replace")
    check_number(text.count("{") + text.count("["), most_objects, name)
    try:
        return loads(text)
    except RecursionError as exc:
        raise RecordingError(f"{name} is nested too deeply") from exc
    except ValueError as exc:
        lines = [line for line in text.splitlines() if line.strip()]
        check_number(len(lines), most_objects, name)
        where = (
            f"line {exc.lineno} column {exc.colno}" if isinstance(exc, json.JSONDecodeError) else "a number"
        )
        try:
            if len(lines) > 1:
                return [loads(line) for line in lines]
        except (ValueError, RecursionError):
            pass
        if text.startswith('{"constants"'):
            raise RecordingError(f"{name} is {FORMS[NETLOG]}") from exc
        raise RecordingError(f"{name} is not JSON, at {where}") from exc


def loads(text: str) -> Any:  # noqa: ANN401  # JSON
    """Parse JSON; NaN and the infinities, which it has not (RFC 8259 §6), are null."""
    return json.loads(text, parse_constant=lambda _: None)


def form_of(document: object) -> str | None:
    if isinstance(document, Mapping):
        if isinstance(document.get("log"), Mapping):
            return HAR
        if "constants" in document:
            return NETLOG
        if "traceEvents" in document:
            return TRACE
        return CDP if isinstance(document.get("events"), list) else None
    if isinstance(document, list):
        events = [cdp.unwrap(event) for event in document]
        if any(isinstance(event.get("method"), str) for event in events):
            return CDP
        return TRACE if any("ph" in event and "ts" in event for event in events) else None
    return None
