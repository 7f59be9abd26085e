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

from recordings.exchange import (
    OddValue,
    RecordedExchange,
    Recording,
    Times,
    check_url,
    check_word,
    connection_name,
    media_type,
    protocol_name,
)
from recordings.har import FIRST_YEAR, MOST_SIZE_BYTES, MOST_TIME_S, stack_url
from recordings.sizes import HEADER_AT_MOST, Evidence, header_text_bytes, sizes_of

TOOL = "Chrome DevTools Protocol"

NOT_MODIFIED = 304

MOST_CLOCK_S = 1e10
"""Latest time on a log's clock that is believed: 300 years."""


class Request(msgspec.Struct, rename="camel"):
    """A request as the page sends it."""

    url: str
    method: str
    headers: dict[str, str | int | float | None] = {}
    post_data: str | None = None


class Response(msgspec.Struct, rename="camel"):
    """The header of a response."""

    status: int
    headers: dict[str, str | int | float | None] = {}
    headers_text: str | None = None
    mime_type: str | None = None
    protocol: str | None = None
    encoded_data_length: float = -1
    connection_id: object = None
    remote_ip: str | None = msgspec.field(default=None, name="remoteIPAddress")
    from_disk_cache: bool | None = None
    from_service_worker: bool | None = None
    from_prefetch_cache: bool | None = None
    timing: dict[str, float | str | None] | None = None


class RequestSent(msgspec.Struct, rename="camel"):
    """Network.requestWillBeSent."""

    request_id: str
    request: Request
    timestamp: float = 0.0
    wall_time: float | None = None
    type: str | None = None
    frame_id: str | None = None
    initiator: Any = None
    document_url: str | None = msgspec.field(default=None, name="documentURL")
    redirect_response: Response | None = None


class ResponseReceived(msgspec.Struct, rename="camel"):
    """Network.responseReceived."""

    request_id: str
    response: Response
    type: str | None = None


class ExtraInfo(msgspec.Struct, rename="camel"):
    """Network.responseReceivedExtraInfo: what came over the network, whatever the page sees."""

    request_id: str
    status_code: int | None = None


class DataReceived(msgspec.Struct, rename="camel"):
    """Network.dataReceived."""

    request_id: str
    data_length: int = 0
    encoded_data_length: int = 0


class Finished(msgspec.Struct, rename="camel"):
    """Network.loadingFinished."""

    request_id: str
    encoded_data_length: float
    timestamp: float | None = None


class OfRequest(msgspec.Struct, rename="camel"):
    """Network.loadingFailed and Network.requestServedFromCache."""

    request_id: str


EVENTS: dict[str, type[msgspec.Struct]] = {
    "Network.requestWillBeSent": RequestSent,
    "Network.responseReceived": ResponseReceived,
    "Network.responseReceivedExtraInfo": ExtraInfo,
    "Network.dataReceived": DataReceived,
    "Network.loadingFinished": Finished,
    "Network.loadingFailed": OfRequest,
    "Network.requestServedFromCache": OfRequest,
}
"""The events that are read."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Progress:
    """What the log has said of one response so far."""

    exchange: RecordedExchange
    response: Response | None = None
    wire_status: int | None = None
    decoded: int | None = None
    received: int = 0
    """Encoded bytes of the body, as far as they were reported while they came."""
    total: int | None = None
    is_finished: bool = False
    from_memory: bool = False

    def evidence(self) -> Evidence:
        """Return what the log says of the response's size."""
        exchange, response = self.exchange, self.response
        if response is None:
            return Evidence(status=0, protocol="")
        header = round(response.encoded_data_length)
        total, body = self.total, None
        is_complete: bool | None = self.is_finished
        if exchange.location is not None:  # a redirect, which nothing else tells of
            total, is_complete = header, None
        elif not total and exchange.method == "OPTIONS":
            total = header
        elif self.total is None and 0 < header <= HEADER_AT_MOST and (self.received or not self.decoded):
            total, body = header + self.received, self.received
        return Evidence(
            method=exchange.method,
            status=NOT_MODIFIED if self.wire_status == NOT_MODIFIED else exchange.status,
            protocol=exchange.protocol,
            headers=exchange.headers,
            is_cached=self.is_cached(response),
            is_redirect=exchange.is_redirect,
            total=total if total and total > 0 else None,
            header=len(response.headers_text) if response.headers_text else None,
            body=body,
            decoded=self.decoded,
            is_complete=is_complete,
        )

    def is_cached(self, response: Response) -> bool:
        """Return whether a cache or a service worker answered."""
        if response.from_service_worker:
            return True
        if self.total is not None or self.exchange.location is not None:
            return self.total == 0 and self.exchange.method != "OPTIONS" and self.exchange.location is None
        return bool(self.from_memory or response.from_disk_cache or response.from_prefetch_cache)


class CdpLog:
    """The exchanges of one log, built up event by event."""

    def __init__(self, now: datetime.datetime) -> None:
        self._now = now
        self.exchanges: list[RecordedExchange] = []
        self.odd: list[tuple[int, str]] = []
        self.epoch_s: float | None = None
        """Zero of the log's clock, in seconds since the epoch."""
        self._all: list[Progress] = []
        self._open: dict[str, Progress] = {}
        self._top_frame: str | None = None
        self._inner_frames: set[str | None] = set()

    def feed(self, number: int, message: object) -> None:
        """Process the event in a message; events of other domains are ignored, and odd ones noted."""
        event = unwrap(message)
        method = str(event.get("method"))
        if method not in EVENTS:
            return
        try:
            self._take(msgspec.convert(event.get("params"), EVENTS[method]), method)
        except msgspec.ValidationError:
            self.odd.append((number, f"malformed {method}"))
        except OddValue as exc:
            self.odd.append((number, str(exc)))

    def finish(self) -> None:
        """Settle the sizes at the end of the log."""
        for progress in self._all:
            progress.exchange.sizes = sizes_of(progress.evidence())

    def _take(self, params: Any, method: str) -> None:  # noqa: ANN401  # one of EVENTS
        if isinstance(params, RequestSent):
            self._request(params)
            return
        progress = self._open.get(params.request_id)
        if progress is None:
            return
        if isinstance(params, ResponseReceived):
            take_response(progress, params.response)
            progress.exchange.resource_type = (
                check_word(params.type, "type").lower() or progress.exchange.resource_type
            )
        elif isinstance(params, ExtraInfo):
            progress.wire_status = params.status_code
        elif isinstance(params, DataReceived):
            progress.decoded = (progress.decoded or 0) + max(0, check_size(params.data_length))
            progress.received += max(0, check_size(params.encoded_data_length))
        elif isinstance(params, Finished):
            progress.is_finished = True
            progress.total = (
                check_size(params.encoded_data_length) if params.encoded_data_length >= 0 else None
            )
            note_end(progress.exchange, params.timestamp)
        elif method == "Network.requestServedFromCache":
            progress.from_memory = True

    def _request(self, params: RequestSent) -> None:
        request = params.request
        check_url(request.url)
        if not 0 <= params.timestamp <= MOST_CLOCK_S:
            raise OddValue("malformed timestamp")
        before = None
        if params.redirect_response is not None and params.request_id in self._open:
            redirect = self._open[params.request_id]
            before = redirect.exchange
            take_response(redirect, params.redirect_response)
            before.location = request.url
            before.is_internal = "non-authoritative-reason" in before.headers
            note_end(before, params.timestamp)
        kind = check_word(params.type, "type").lower()
        initiator = params.initiator if isinstance(params.initiator, dict) else {}
        exchange = RecordedExchange(
            url=request.url,
            method=check_word(request.method, "request.method"),
            request_body_bytes=None
            if request.post_data is None
            else len(request.post_data.encode("utf-8", "replace")),
            resource_type=kind,
            initiator=stack_url(initiator),
            referer=lower_names(request.headers).get("referer") or params.document_url,
            redirected_from=before,
            started_s=params.timestamp,
            # A navigation that the page itself starts, in a frame or its own, belongs to the load:
            # the user still waits.
            begins_load=before is None
            and kind == "document"
            and params.frame_id not in self._inner_frames
            and initiator.get("type", "other") == "other",
        )
        if self.exchanges and params.frame_id != self._top_frame:
            self._inner_frames.add(params.frame_id)
        self._top_frame = self._top_frame or params.frame_id
        if self.epoch_s is None and params.wall_time is not None:
            epoch_s = params.wall_time - params.timestamp
            self.epoch_s = epoch_s if is_believable(params.wall_time, self._now) else None
        self._open[params.request_id] = Progress(exchange=exchange)
        self._all.append(self._open[params.request_id])
        self.exchanges.append(exchange)


def read(messages: Iterable[object], *, now: datetime.datetime) -> Recording:
    """Return the content of a log, however its recorder wrapped the events."""
    log = CdpLog(now)
    for number, message in enumerate(messages):
        log.feed(number, message)
    log.finish()
    return Recording(
        tool=TOOL,
        exchanges=log.exchanges,
        epoch_s=log.epoch_s,
        odd=tuple(log.odd),
    )


def is_believable(time_s: float, now: datetime.datetime) -> bool:
    """Return whether a time since the epoch lies between the first pages and now."""
    first = datetime.datetime(FIRST_YEAR, 1, 1, tzinfo=datetime.UTC)
    return first.timestamp() <= time_s <= (now + datetime.timedelta(days=1)).timestamp()


def take_response(progress: Progress, response: Response) -> None:
    """Take the header of a response."""
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
    exchange.times = read_times(response.timing or {}, near_s=exchange.started_s)


def note_end(exchange: RecordedExchange, timestamp: float | None) -> None:
    """Note the end of a response."""
    if timestamp is not None and 0 <= timestamp - exchange.started_s <= MOST_TIME_S:
        exchange.times = dataclasses.replace(exchange.times, last_byte=round(1e6 * timestamp))


def check_size(value: float) -> int:
    """Return a size as whole bytes, negative where it is unknown; OddValue if no message has it."""
    if not value <= MOST_SIZE_BYTES:
        raise OddValue("malformed size")
    return round(max(-1, value))


def read_times(timing: dict[str, float | str | None], *, near_s: float) -> Times:
    """Return times from the phases of `timing`, in ms since `requestTime`, which is in s;
    -1 means that a phase did not occur.

    Times that are not of the day of the request, at `near_s`, are unknown.
    """
    known = {name: value for name, value in timing.items() if isinstance(value, float | int)}
    if not abs(known.get("requestTime", math.inf) - near_s) <= MOST_TIME_S or any(
        value > 1e3 * MOST_TIME_S for name, value in known.items() if name != "requestTime"
    ):
        return Times()

    def at(*phases: str) -> int | None:
        """Return the time of the first of `phases` that occurred."""
        offset_ms = next((known[phase] for phase in phases if known.get(phase, -1) >= 0), None)
        return None if offset_ms is None else round(1e6 * (known["requestTime"] + offset_ms / 1e3))

    return Times(
        sent=at("sendEnd"),
        first_byte=at("receiveHeadersStart", "receiveHeadersEnd"),
        opened=at("connectStart"),
        connected=at("sslStart", "connectEnd"),
    )


def unwrap(message: object) -> dict[str, Any]:
    """Return the event in a recorded message: some recorders nest it in `message`, once or twice,
    as an object or as text."""
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
    """Return headers with names in lower case."""
    return {name.lower(): "" if value is None else str(value) for name, value in headers.items()}
