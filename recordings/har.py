"""Reads HAR files: each entry as an exchange, or the reason for which it is left out.

Types are checked entry by entry, so that an odd one does not take the others with it.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

import msgspec

from crawler.devtools.events import Initiator
from recordings.exchange import (
    REDIRECTS,
    OddValue,
    RecordedExchange,
    RecordedPage,
    Recording,
    Times,
    check_url,
    check_word,
    connection_name,
    fill_starts,
    media_type,
    protocol_name,
    strip_fragment,
)
from recordings.page import kind_of
from recordings.producers import Producer, producer_of
from recordings.sizes import TEXTUAL, SizeEvidence, content_length, header_text_bytes, sizes_of
from schema.vocabulary import RESOURCE_TYPES_BY_DESTINATION

MOST_SIZE_BYTES = 2**40

MOST_TIME_S = 86_400

FIRST_YEAR = 1990
"""Year before which no page was loaded by HTTP."""

CONDITIONS = frozenset({"if-none-match", "if-modified-since"})

SENT = frozenset({"accept-encoding", "sec-fetch-dest"})
"""Fields that a request has once it is sent, and that a page does not set."""

STATUS_LINE = len("HTTP/1.1 200 OK\r\n")
"""Value of `headersSize` in old DevTools where no header is known."""

NETWORK_LOAD = "Network Load"
"""Value of Safari's `_fetchType` for what came over the network."""


class HarField(msgspec.Struct):
    """A header field."""

    name: str
    value: str | int | float | None = ""


class HarContent(msgspec.Struct, rename="camel"):
    """A body as the page saw it."""

    size: int | None = None
    mime_type: str | None = None


class HarRequest(msgspec.Struct, rename="camel"):
    """A request."""

    url: str
    method: str | None = None
    headers: list[HarField] = []
    body_size: int | None = None


class HarResponse(msgspec.Struct, rename="camel"):
    """A response."""

    status: int
    headers: list[HarField]
    content: HarContent
    status_text: str | None = None
    http_version: str | None = None
    headers_size: int | None = None
    body_size: int | None = None
    redirect_url: object = msgspec.field(default=None, name="redirectURL")
    transfer_size: int | None = msgspec.field(default=None, name="_transferSize")
    via_worker: object = msgspec.field(default=None, name="_fetchedViaServiceWorker")
    error: object = msgspec.field(default=None, name="_error")
    failure: object = msgspec.field(default=None, name="_failureText")


class Timings(msgspec.Struct):
    """Phases in ms, one after the other; -1 or null for one that did not occur."""

    blocked: float | None = None
    dns: float | None = None
    connect: float | None = None
    ssl: float | None = None
    send: float | None = -1
    wait: float | None = -1
    receive: float | None = -1


class HarEntry(msgspec.Struct, rename="camel"):
    """A request with its response; some fields are a producer's own."""

    request: HarRequest
    response: HarResponse
    started_date_time: object = None
    timings: object = msgspec.field(default_factory=Timings)
    pageref: str | int | None = None
    connection: str | int | None = None
    server_address: str | None = msgspec.field(default=None, name="serverIPAddress")
    protocol: str | None = msgspec.field(default=None, name="_protocol")
    resource_type: str | None = msgspec.field(default=None, name="_resourceType")
    playwrights_frame: str | None = msgspec.field(default=None, name="_frameref")
    webpagetests_frame: str | None = msgspec.field(default=None, name="_frame_id")
    initiator: object = msgspec.field(default=None, name="_initiator")
    initiator_detail: object = msgspec.field(default=None, name="_initiator_detail")
    from_cache: object = msgspec.field(default=None, name="_fromCache")
    fetch_type: str | None = msgspec.field(default=None, name="_fetchType")
    was_fulfilled: object = msgspec.field(default=None, name="_wasFulfilled")
    was_aborted: object = msgspec.field(default=None, name="_wasAborted")
    is_base_page: object = msgspec.field(default=None, name="_is_base_page")
    decoded_size: object = msgspec.field(default=None, name="_objectSizeUncompressed")


@dataclasses.dataclass(slots=True)
class Timed:
    """An entry with what it states of time."""

    number: int
    entry: HarEntry
    started_s: float | None
    timings: Timings | None


def read(log: dict[str, Any], *, now: datetime.datetime) -> Recording:
    """Return the content of a HAR's `log`; msgspec.ValidationError if it has no entries."""
    raw_entries = msgspec.convert(log.get("entries"), list[Any])
    creator = name_program(log.get("creator")) or "unknown"
    producer = producer_of(creator)
    entries: list[Timed] = []
    odd: list[tuple[int, str]] = []
    for number, raw in enumerate(raw_entries):
        try:
            entries.append(read_timed(number, check_entry(raw), now, odd))
        except OddValue as exc:
            odd.append((number, str(exc)))
    starts = fill_starts([timed.started_s for timed in entries])
    dated = sorted(zip(starts, entries, strict=False), key=lambda pair: pair[0])
    if producer.accumulates:
        take_differences([timed.entry for _, timed in dated])
    exchanges: list[RecordedExchange] = []
    untimed: list[RecordedExchange] = []
    lengths: dict[str, int | None] = {}
    for started_s, timed in dated:
        try:
            exchange = read_entry(timed, started_s, producer, lengths)
        except OddValue as exc:
            odd += [] if timed.timings is None else [(timed.number, str(exc))]
        else:
            (untimed if timed.timings is None else exchanges).append(exchange)
    mark_navigations([*untimed, *exchanges])
    return Recording(
        tool=creator,
        browser=name_program(log.get("browser")),
        exchanges=exchanges,
        untimed=untimed,
        pages=read_pages(log.get("pages")),
        splits_by_silence=producer.accumulates,
        odd=tuple(sorted(odd)),
    )


def check_entry(raw: object) -> HarEntry:
    try:
        return msgspec.convert(raw, HarEntry)
    except msgspec.ValidationError as exc:
        raise OddValue(f"malformed {field_in(str(exc))}") from exc


def read_timed(number: int, entry: HarEntry, now: datetime.datetime, odd: list[tuple[int, str]]) -> Timed:
    timed = Timed(number, entry, None, None)
    try:
        timed.started_s = read_start(entry.started_date_time, now)
        timed.timings = read_timings(entry.timings, is_answered=entry.response.status > 0)
    except OddValue as exc:
        odd.append((number, str(exc)))
    return timed


def read_start(stated: object, now: datetime.datetime) -> float:
    """Return a date in s since the epoch; OddValue if no page was loaded then."""
    try:
        moment = datetime.datetime.fromisoformat(stated if isinstance(stated, str) else "")
        started = (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).astimezone(datetime.UTC)
    except (ValueError, OverflowError) as exc:
        raise OddValue("malformed startedDateTime") from exc
    if started.year < FIRST_YEAR or started > now + datetime.timedelta(days=1):
        raise OddValue(f"date before {FIRST_YEAR} or in the future")
    return started.timestamp()


def read_timings(stated: object, *, is_answered: bool) -> Timings:
    try:
        timings = msgspec.convert(stated, Timings)
    except msgspec.ValidationError as exc:
        raise OddValue("malformed timings") from exc
    phases = msgspec.structs.asdict(timings)
    needed = ("send", "wait", "receive") if is_answered else ()
    if any(phases[name] is None for name in needed) or any(
        phase is not None and not phase <= 1e3 * MOST_TIME_S for phase in phases.values()
    ):
        raise OddValue("malformed timings")
    return timings


def field_in(message: str) -> str:
    """Return the field that a message of msgspec names.

    >>> field_in("Object missing required field `content` - at `$.response`")
    'response.content'
    >>> field_in("Expected `int | null`, got `float` - at `$.response.headers[...].name`")
    'response.headers.name'
    """
    lacking = re.search(r"required field `(\w+)`", message)
    place = re.search(r"`\$([^`]*)`", message)
    path = place[1].replace("[...]", "") if place else ""
    return ".".join(filter(None, [path.strip("."), lacking[1] if lacking else ""])) or "entry"


def read_entry(
    timed: Timed, started_s: float, producer: Producer, lengths: dict[str, int | None]
) -> RecordedExchange:
    """Return the exchange of an entry; `lengths` has the Content-Length of each redirect by its target."""
    entry, request, response = timed.entry, timed.entry.request, timed.entry.response
    check_url(request.url)
    check_sizes(entry)
    headers, asking = join_headers(response.headers), join_headers(request.headers)
    location = headers.get("location") or response.redirect_url
    exchange = RecordedExchange(
        url=request.url,
        method=check_word(request.method, "request.method") or "GET",
        status=max(0, response.status),
        mime_type=check_word(media_type(response.content.mime_type), "response.content.mimeType"),
        resource_type=check_word(entry.resource_type, "_resourceType").lower(),
        destination=check_word(asking.get("sec-fetch-dest"), "request.headers").lower(),
        frame=check_word(entry.playwrights_frame or entry.webpagetests_frame, "_frameref"),
        protocol=protocol_name(entry.protocol or response.http_version),
        initiator=find_initiator(entry),
        referer=asking.get("referer"),
        request_body_bytes=request_body_size(asking, request.body_size),
        location=resolve_target(request.url, location),
        started_s=started_s,
        is_internal="non-authoritative-reason" in headers,
        headers=headers,
        connection=check_word(connection_name(entry.connection), "connection"),
        address=check_word(entry.server_address, "serverIPAddress").strip("[]"),
        times=Times() if timed.timings is None else read_times(entry, started_s, timed.timings),
        is_document=entry.is_base_page in (True, 1, "1", "true"),
        page=None if entry.pageref is None else str(entry.pageref),
    )
    exchange.begins_load = is_navigation(exchange, asking)
    check_word(headers.get("content-encoding"), "response.headers")
    evidence = gather_evidence(entry, exchange, producer, asking, lengths.get(strip_fragment(exchange.url)))
    exchange.sizes, exchange.header_text_bytes = sizes_of(evidence), evidence.header or evidence.header_text
    if exchange.is_redirect and exchange.location:
        lengths[strip_fragment(exchange.location)] = content_length(headers)
    return exchange


def is_navigation(exchange: RecordedExchange, asking: Mapping[str, str]) -> bool:
    """Return whether Sec-Fetch fields say that a user or a program sends a tab elsewhere."""
    is_top = exchange.destination == "document" and exchange.resource_type in ("", "document")
    is_wanted = asking.get("sec-fetch-site") == "none" or "sec-fetch-user" in asking
    return is_top and is_wanted and not asking.keys() & {"purpose", "sec-purpose"}  # which fetches ahead


def mark_navigations(exchanges: Sequence[RecordedExchange]) -> None:
    """Mark navigations that no Sec-Fetch field tells: documents of the page's first frame."""
    tops: dict[str | None, str] = {}
    for exchange in exchanges:
        if exchange.resource_type == "document":
            top = tops.setdefault(exchange.page, exchange.frame)
            exchange.begins_load |= exchange.frame == top != "" and not exchange.destination


def gather_evidence(
    entry: HarEntry,
    exchange: RecordedExchange,
    producer: Producer,
    asking: Mapping[str, str],
    target_length: int | None,
) -> SizeEvidence:
    """Return what an entry says of its size, as its producer means it."""
    response = entry.response
    total, header, body = (
        not_negative(size) for size in (response.transfer_size, response.headers_size, response.body_size)
    )
    if total is None and producer.body_is_total and header == 0 and exchange.protocol not in TEXTUAL:
        total, body = body, None
    if exchange.mime_type == "text/event-stream" and not body:
        body = None  # the stream had not ended
    if not producer.body_is_counted:
        body = None
    if (
        exchange.is_redirect
        and producer.redirect_has_target_size
        and content_length(exchange.headers) is None
    ):
        body = None
    decoded = None if exchange.is_redirect else not_negative(response.content.size)
    if producer.content_is_encoded:
        decoded = (
            entry.decoded_size if isinstance(entry.decoded_size, int) and entry.decoded_size > 0 else None
        )
    header_text = text_bytes(response)
    return SizeEvidence(
        method=exchange.method,
        status=exchange.status,
        protocol=exchange.protocol,
        headers=exchange.headers,
        is_cached=is_cached(entry, exchange, producer),
        is_redirect=exchange.is_redirect,
        is_worker=is_worker(exchange, asking),
        is_conditional=is_conditional(asking),
        total=total,
        header=header if producer.header_is_counted and header != STATUS_LINE else None,
        body=body if not total else None,
        decoded=decoded,
        header_text=header_text,
        holds_header=producer.body_holds_header,
        has_framing=producer.body_holds_framing,
        target_length=target_length,
        is_complete=False if response.error or response.failure or entry.was_aborted else None,
    )


def is_conditional(asking: Mapping[str, str]) -> bool | None:
    """Return whether a request asked for a change alone; None if its header is not as it was sent."""
    if asking.keys() & CONDITIONS:
        return True
    return False if asking.keys() & SENT else None


def is_worker(exchange: RecordedExchange, asking: Mapping[str, str]) -> bool | None:
    """Return whether a response is a worker's main script; None if nothing tells."""
    if not exchange.destination:
        return None if kind_of(exchange) == "script" else False
    is_workers = RESOURCE_TYPES_BY_DESTINATION.get(exchange.destination) == "worker"
    return is_workers and asking.get("sec-fetch-mode") == "same-origin"  # which imports are not


def is_cached(entry: HarEntry, exchange: RecordedExchange, producer: Producer) -> bool:
    response = entry.response
    total, body = response.transfer_size, response.body_size
    if response.via_worker is True or entry.was_fulfilled or entry.fetch_type not in (None, "", NETWORK_LOAD):
        return True
    if total is not None and total > 0:
        return False
    if entry.from_cache:
        return True
    if (
        exchange.status in REDIRECTS
        or exchange.method == "OPTIONS"
        or exchange.mime_type == "text/event-stream"
    ):
        return False  # whose 0 is a size that was not counted
    if total == 0:
        return True
    if producer.body_is_total and response.headers_size and body == -response.headers_size:
        return True
    return producer.empty_is_cached and body == 0 and bool(response.content.size)


def check_sizes(entry: HarEntry) -> None:
    """Raise OddValue for a status or size of no response."""
    response = entry.response
    sizes = {
        "request.bodySize": entry.request.body_size,
        "response.headersSize": response.headers_size,
        "response.bodySize": response.body_size,
        "response._transferSize": response.transfer_size,
        "response.content.size": response.content.size,
    }
    for name, size in sizes.items():
        if size is not None and size > MOST_SIZE_BYTES:
            raise OddValue(f"malformed {name}")
    if response.status > 999:
        raise OddValue("malformed response.status")


def take_differences(entries: Sequence[HarEntry]) -> None:
    """Turn sizes that add up over a connection into single ones."""
    so_far: dict[object, int] = {}
    for entry in entries:
        total = not_negative(entry.response.body_size)
        if total is None:
            continue
        before = so_far.get(entry.connection, 0)
        if before and total >= before:  # a smaller total means that a new connection uses the port
            entry.response.body_size = total - before
        so_far[entry.connection] = total


def request_body_size(headers: dict[str, str], recorded: int | None) -> int | None:
    """Return the body's size by the request's header, or else as recorded."""
    return not_negative(recorded) if (stated := content_length(headers)) is None else stated


def resolve_target(url: str, location: object) -> str | None:
    if not isinstance(location, str) or not location:
        return None
    try:
        return urljoin(url, location)
    except ValueError:
        return None


def find_initiator(entry: HarEntry) -> str | None:
    """Return the initiator's URL, recorded by name or as DevTools' initiator, an object or its JSON."""
    if entry.initiator and isinstance(entry.initiator, str):
        return entry.initiator
    return initiator_url(read_initiator(entry.initiator or entry.initiator_detail))


def read_initiator(detail: object) -> Initiator:
    try:
        return msgspec.convert(json.loads(detail) if isinstance(detail, str) else detail, Initiator)
    except (msgspec.ValidationError, ValueError, RecursionError):
        return Initiator()


def initiator_url(initiator: Initiator) -> str | None:
    """Return the initiator's own URL, or that of the topmost script on its stack."""
    stack = initiator.stack
    urls = [initiator.url]
    while stack:
        urls += [frame.url for frame in stack.call_frames]
        stack = stack.parent
    return next(filter(None, urls), None)


def join_headers(fields: Sequence[HarField]) -> dict[str, str]:
    """Return headers by lower-case name; repeated ones are joined by line feeds, as browsers' own tools
    do."""
    values: dict[str, list[str]] = {}
    for field in fields:
        values.setdefault(field.name.lower(), []).append("" if field.value is None else str(field.value))
    return {name: "\n".join(each) for name, each in values.items()}


def text_bytes(response: HarResponse) -> int | None:
    fields = [(header.name, str(header.value)) for header in response.headers]
    return header_text_bytes(response.status, response.status_text or "", fields) if fields else None


def read_times(entry: HarEntry, started_s: float, phases: Timings) -> Times:
    """Return times from consecutive phases.

    In HAR 1.2 `connect` includes `ssl`; Firefox counts them apart.
    """
    if phases.wait is None or phases.receive is None or phases.wait < 0 or phases.receive < 0:
        return Times()
    blocked, dns, connect, ssl, send = (
        max(0.0, phase or 0.0)
        for phase in (phases.blocked, phases.dns, phases.connect, phases.ssl, phases.send)
    )
    opened_ms = started_s * 1e3 + blocked + dns
    connect_ms = connect + (ssl if ssl > connect else 0.0)
    sent_ms = opened_ms + connect_ms + send
    first_ms = sent_ms + phases.wait
    opens = connect > 0 and (ssl > 0 or not entry.request.url.startswith("https:"))
    return Times(
        sent=round(1e3 * sent_ms),
        first_byte=round(1e3 * first_ms),
        last_byte=round(1e3 * (first_ms + phases.receive)),
        opened=round(1e3 * opened_ms) if opens else None,
        connected=round(1e3 * (opened_ms + connect_ms - ssl)) if opens else None,
    )


def read_pages(raw: object) -> tuple[RecordedPage, ...]:
    pages = []
    for page in raw if isinstance(raw, list) else []:
        if isinstance(page, dict) and isinstance(page.get("id"), str | int):
            timings = page.get("pageTimings")
            load_ms = timings.get("onLoad") if isinstance(timings, dict) else None
            is_known = isinstance(load_ms, int | float) and 0 < load_ms < math.inf
            pages.append(
                RecordedPage(
                    id=str(page["id"]),
                    title=str(page.get("title") or ""),
                    load_us=round(1000 * load_ms) if is_known and isinstance(load_ms, int | float) else None,
                )
            )
    return tuple(pages)


def name_program(program: object) -> str:
    if not isinstance(program, dict):
        return ""
    try:
        return check_word(f"{program.get('name') or ''} {program.get('version') or ''}".strip(), "creator")
    except OddValue:
        return ""


def not_negative(size: int | None) -> int | None:
    """Return None for what producers write for an unknown size."""
    return None if size is None or size < 0 else size
