"""Reads logs of the Chrome DevTools Protocol's Network events.

`loadingFinished` has the total of header and body; the size in `responseReceived` is the header's, with some
or all of the body if both arrived close together. A redirect is told of with the request that follows it, by
its header's size.
"""

import dataclasses
import datetime
import json
import math
from collections.abc import Iterable
from typing import Any

import msgspec

from crawler.devtools import events
from recordings.exchange import (
    OddValue,
    RecordedExchange,
    Recording,
    Times,
    check_url,
    check_word,
    connection_name,
    fill_starts,
    media_type,
    protocol_name,
)
from recordings.har import FIRST_YEAR, MOST_SIZE_BYTES, MOST_TIME_S, initiator_url, read_initiator
from recordings.sizes import HEADER_AT_MOST, SizeEvidence, header_text_bytes, sizes_of

TOOL = "Chrome DevTools Protocol"

NOT_MODIFIED = 304

MOST_CLOCK_S = 1e10


class CdpRequest(events.Request):
    """A request as the page sends it, with its header."""

    method: str
    headers: dict[str, str | int | float | None] = msgspec.field(default_factory=dict)
    post_data: str | None = None


class CdpResponse(events.Response):
    """The header of a response, with its size and times."""

    headers: dict[str, str | int | float | None] = msgspec.field(default_factory=dict)
    headers_text: str | None = None
    protocol: str | None = None
    encoded_data_length: float = -1
    connection_id: object = None
    remote_ip: str | None = msgspec.field(default=None, name="remoteIPAddress")
    from_service_worker: bool | None = None
    from_prefetch_cache: bool | None = None
    timing: object = None


class CdpRequestSent(events.RequestEvent):
    """Network.requestWillBeSent."""

    request: CdpRequest
    type: str | None = None
    frame_id: str | None = None
    loader_id: str | None = None
    initiator: object = None
    """As DevTools state it; the request counts without it too."""
    wall_time: float | None = None
    document_url: str | None = msgspec.field(default=None, name="documentURL")
    redirect_response: CdpResponse | None = None


class CdpResponseReceived(events.ResponseReceived):
    """Network.responseReceived."""

    response: CdpResponse
    type: str | None = None


class ExtraInfo(events.RequestEvent):
    """Network.responseReceivedExtraInfo: what came over the network."""

    status_code: int | None = None


class RequestExtraInfo(events.RequestEvent):
    """Network.requestWillBeSentExtraInfo: what was sent."""

    headers: dict[str, str | int | float | None] = msgspec.field(default_factory=dict)


class DataReceived(events.RequestEvent):
    """Network.dataReceived."""

    data_length: int = 0
    encoded_data_length: int = 0


class CdpLoadingFinished(events.LoadingFinished):
    """Network.loadingFinished."""

    encoded_data_length: float


EVENTS: dict[str, type[events.RequestEvent]] = {
    "Network.requestWillBeSent": CdpRequestSent,
    "Network.responseReceived": CdpResponseReceived,
    "Network.responseReceivedExtraInfo": ExtraInfo,
    "Network.requestWillBeSentExtraInfo": RequestExtraInfo,
    "Network.dataReceived": DataReceived,
    "Network.loadingFinished": CdpLoadingFinished,
    "Network.loadingFailed": events.LoadingFailed,
    "Network.requestServedFromCache": events.ServedFromCache,
}


@dataclasses.dataclass(kw_only=True, slots=True)
class ResponseProgress:
    """The state of one response, as far as the log has been read."""

    request_id: str
    exchange: RecordedExchange
    started_s: float | None
    is_odd: bool = False
    response: CdpResponse | None = None
    wire_status: int | None = None
    decoded: int | None = None
    received: int = 0
    """Encoded bytes of the body reported so far."""
    total: int | None = None
    is_finished: bool = False
    from_memory: bool = False

    def evidence(self) -> SizeEvidence:
        exchange, response = self.exchange, self.response
        if response is None:
            return SizeEvidence(status=0, protocol="")
        header = round(response.encoded_data_length)
        total, body = self.total, None
        is_complete: bool | None = self.is_finished
        if exchange.location is not None:  # a redirect, which nothing else tells of
            total, is_complete = header, None
        elif not total and exchange.method == "OPTIONS":
            total = header
        elif self.total is None and 0 < header <= HEADER_AT_MOST and self.is_counted:
            total, body = header + self.received, self.received
        return SizeEvidence(
            method=exchange.method,
            status=NOT_MODIFIED if self.wire_status == NOT_MODIFIED else exchange.status,
            protocol=exchange.protocol,
            headers=exchange.headers,
            is_cached=self.is_cached(response),
            is_redirect=exchange.is_redirect,
            is_worker=self.is_worker,
            is_conditional=self.is_conditional,
            total=total if total and total > 0 else None,
            header=len(response.headers_text) if response.headers_text else None,
            body=body,
            decoded=self.decoded,
            header_text=header if self.is_worker else None,
            is_complete=is_complete,
        )

    @property
    def is_counted(self) -> bool:
        return bool(self.received) or not (self.decoded or self.is_worker)

    @property
    def is_worker(self) -> bool:
        """True for a worker's main script, for which the browser's own process asks, and of whose body no
        byte is counted.
        """
        return self.exchange.resource_type == "script" and not self.received and is_browsers(self.request_id)

    @property
    def is_conditional(self) -> bool | None:
        """True if the server answered 304; None if the log does not tell."""
        is_told = self.wire_status in (NOT_MODIFIED, self.exchange.status)
        return self.wire_status == NOT_MODIFIED if is_told else None

    def is_cached(self, response: CdpResponse) -> bool:
        if response.from_service_worker:
            return True
        if self.total is not None or self.exchange.location is not None:
            return self.total == 0 and self.exchange.method != "OPTIONS" and self.exchange.location is None
        return bool(self.from_memory or response.from_disk_cache or response.from_prefetch_cache)


class CdpLog:
    """The exchanges of one log, built up event by event."""

    def __init__(self, now: datetime.datetime) -> None:
        self._now = now
        self.odd: list[tuple[int, str]] = []
        self.epoch_s: float | None = None
        """Zero of the log's clock, s since the epoch."""
        self._first_s: float | None = None
        self._all: list[ResponseProgress] = []
        self._open: dict[str, ResponseProgress] = {}
        self._destinations: dict[str, str] = {}
        """Sec-Fetch-Dest by request, which may be told before the request is."""
        self._top_frame: str | None = None
        self._inner_frames: set[str | None] = set()

    def feed(self, number: int, message: object) -> None:
        """Process a message; events of other domains are ignored, odd ones noted."""
        event = unwrap(message)
        method = str(event.get("method"))
        if method not in EVENTS:
            return
        try:
            self._take(number, msgspec.convert(event.get("params"), EVENTS[method]))
        except (msgspec.ValidationError, RecursionError):
            self.odd.append((number, f"malformed {method}"))
        except OddValue as exc:
            self.odd.append((number, str(exc)))

    def finish(self) -> Recording:
        """Settle the sizes, and the places of requests without a time."""
        starts = fill_starts([progress.started_s for progress in self._all])
        if not starts:  # without times the log has no clock, which thus begins with the first request
            starts, self.epoch_s = [0.0] * len(self._all), self._first_s
        for progress, started_s in zip(self._all, starts, strict=True):
            exchange = progress.exchange
            exchange.started_s = started_s
            exchange.destination = self._destinations.get(progress.request_id, exchange.destination)
            exchange.sizes = sizes_of(progress.evidence())
        return Recording(
            tool=TOOL,
            exchanges=[progress.exchange for progress in self._all if not progress.is_odd],
            untimed=[progress.exchange for progress in self._all if progress.is_odd],
            epoch_s=self.epoch_s,
            odd=tuple(self.odd),
        )

    def _take(self, number: int, event: events.RequestEvent) -> None:
        if isinstance(event, CdpRequestSent):
            self._request(number, event)
            return
        if isinstance(event, RequestExtraInfo):
            destination = check_word(lower_names(event.headers).get("sec-fetch-dest"), "request.headers")
            self._destinations[event.request_id] = destination.lower()
            return
        progress = self._open.get(event.request_id)
        if progress is None:
            return
        match event:
            case CdpResponseReceived():
                take_response(progress, event.response)
                kind = check_word(event.type, "type").lower()
                progress.exchange.resource_type = kind or progress.exchange.resource_type
            case ExtraInfo():
                progress.wire_status = event.status_code
            case DataReceived():
                progress.decoded = (progress.decoded or 0) + max(0, check_size(event.data_length))
                progress.received += max(0, check_size(event.encoded_data_length))
            case CdpLoadingFinished():
                progress.is_finished = True
                total = event.encoded_data_length
                progress.total = check_size(total) if total >= 0 else None
                note_end(progress, event.timestamp)
            case events.ServedFromCache():
                progress.from_memory = True

    def _request(self, number: int, event: CdpRequestSent) -> None:
        request, timestamp = event.request, event.timestamp
        check_url(request.url)
        is_odd = timestamp is not None and not 0 <= timestamp <= MOST_CLOCK_S
        if is_odd:
            self.odd.append((number, "malformed timestamp"))
            timestamp = None
        before = None
        if event.redirect_response is not None and event.request_id in self._open:
            redirect = self._open[event.request_id]
            before = redirect.exchange
            take_response(redirect, event.redirect_response)
            before.location = request.url
            before.is_internal = "non-authoritative-reason" in before.headers
            note_end(redirect, timestamp)
        kind = check_word(event.type, "type").lower()
        initiator = read_initiator(event.initiator)
        exchange = RecordedExchange(
            url=request.url,
            method=check_word(request.method, "request.method"),
            request_body_bytes=None
            if request.post_data is None
            else len(request.post_data.encode("utf-8", "replace")),
            resource_type=kind,
            initiator=initiator_url(initiator),
            referer=lower_names(request.headers).get("referer") or event.document_url,
            redirected_from=before,
            destination="worker"
            if kind == "script" and event.loader_id == "" and is_browsers(event.request_id)
            else "",
            frame=event.frame_id or "",
            # A navigation that the page itself starts, in a frame or its own, belongs to the load:
            # the user still waits.
            begins_load=before is None
            and kind == "document"
            and event.frame_id not in self._inner_frames
            and initiator.type == "other",
        )
        if self._all and event.frame_id != self._top_frame:
            self._inner_frames.add(event.frame_id)
        self._top_frame = self._top_frame or event.frame_id
        if event.wall_time is not None and is_believable(event.wall_time, self._now):
            if timestamp is not None and self.epoch_s is None:
                self.epoch_s = event.wall_time - timestamp
            self._first_s = self._first_s or event.wall_time
        progress = ResponseProgress(
            request_id=event.request_id, exchange=exchange, started_s=timestamp, is_odd=is_odd
        )
        self._open[event.request_id] = progress
        self._all.append(progress)


def read(messages: Iterable[object], *, now: datetime.datetime) -> Recording:
    log = CdpLog(now)
    for number, message in enumerate(messages):
        log.feed(number, message)
    return log.finish()


def is_browsers(request_id: str) -> bool:
    return "." not in request_id


def is_believable(time_s: float, now: datetime.datetime) -> bool:
    first = datetime.datetime(FIRST_YEAR, 1, 1, tzinfo=datetime.UTC)
    return first.timestamp() <= time_s <= (now + datetime.timedelta(days=1)).timestamp()


def take_response(progress: ResponseProgress, response: CdpResponse) -> None:
    exchange = progress.exchange
    if not 0 <= response.status <= 999:
        raise OddValue("malformed response.status")
    check_size(response.encoded_data_length)
    progress.response = response
    exchange.status = response.status
    exchange.headers = lower_names(response.headers)
    exchange.header_text_bytes = len(response.headers_text or "") or header_text_bytes(
        exchange.status, "OK", exchange.headers.items()
    )
    exchange.mime_type = check_word(media_type(response.mime_type), "response.mimeType")
    check_word(exchange.headers.get("content-encoding"), "response.headers")
    exchange.protocol = protocol_name(response.protocol)
    exchange.connection = check_word(connection_name(response.connection_id), "response.connectionId")
    exchange.address = check_word(response.remote_ip, "response.remoteIPAddress").strip("[]")
    if progress.started_s is not None:
        exchange.times = read_times(response.timing, near_s=progress.started_s)


def note_end(progress: ResponseProgress, timestamp: float | None) -> None:
    if timestamp is None or progress.started_s is None:
        return
    if 0 <= timestamp - progress.started_s <= MOST_TIME_S:
        exchange = progress.exchange
        exchange.times = dataclasses.replace(exchange.times, last_byte=round(1e6 * timestamp))


def check_size(value: float) -> int:
    """Return whole bytes, negative where unknown; OddValue if no message has so many."""
    if not value <= MOST_SIZE_BYTES:
        raise OddValue("malformed size")
    return round(max(-1, value))


def read_times(timing: object, *, near_s: float) -> Times:
    """Return times from the phases of `timing`, in ms since `requestTime`, in s; -1 means that one did not
    occur.

    Times that are not of the day of the request, at `near_s`, are unknown.
    """
    phases = timing if isinstance(timing, dict) else {}
    known = {name: value for name, value in phases.items() if isinstance(value, float | int)}
    if not abs(known.get("requestTime", math.inf) - near_s) <= MOST_TIME_S or any(
        value > 1e3 * MOST_TIME_S for name, value in known.items() if name != "requestTime"
    ):
        return Times()

    def at(*phases: str) -> int | None:
        offset_ms = next((known[phase] for phase in phases if known.get(phase, -1) >= 0), None)
        return None if offset_ms is None else round(1e6 * (known["requestTime"] + offset_ms / 1e3))

    return Times(
        sent=at("sendEnd"),
        first_byte=at("receiveHeadersStart", "receiveHeadersEnd"),
        opened=at("connectStart"),
        connected=at("sslStart", "connectEnd"),
    )


def unwrap(message: object) -> dict[str, Any]:
    """Return the event in a message, which some recorders nest in `message`, once or twice, as an object or
    text.
    """
    for _ in range(4):
        if isinstance(message, str):
            try:
                message = json.loads(message)
            except (ValueError, RecursionError):
                break
        elif isinstance(message, dict) and "method" not in message and "message" in message:
            message = message["message"]
    return message if isinstance(message, dict) else {}


def lower_names(headers: dict[str, str | int | float | None]) -> dict[str, str]:
    return {name.lower(): "" if value is None else str(value) for name, value in headers.items()}
