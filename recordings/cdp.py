"""Reads logs of the Chrome DevTools Protocol's Network events.

Their sizes need care: `loadingFinished` has the total of header and body, and the header size of
`responseReceived` already includes some or all of the body if both arrived close together.
"""

import dataclasses
import datetime
import json
from collections.abc import Iterable
from typing import Any

from recordings.exchange import RecordedExchange, Times, connection_name, protocol_name
from recordings.har import media_type, stack_url

Event = dict[str, Any]

HEADER_AT_MOST = 1200
"""Maximum plausible size of a header block; a larger one that Chrome reports most
likely includes some of the body."""


@dataclasses.dataclass(slots=True)
class Sizes:
    """Sizes of one response that the log has reported so far."""

    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    header_bytes: int = 0
    decoded_bytes: int = 0
    received_bytes: int = 0


class CdpLog:
    """The exchanges of one log, built up event by event."""

    def __init__(self) -> None:
        self.exchanges: list[RecordedExchange] = []
        self.date = ""
        """Date of the first request, YYYY-MM-DD."""
        self._open: dict[str, RecordedExchange] = {}
        self._top_frame: str | None = None
        self._inner_frames: set[str | None] = set()
        self._sizes: dict[str, Sizes] = {}

    def feed(self, event: Event) -> None:
        """Process an event; events of other domains are ignored."""
        method, params = event.get("method", ""), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self._request(params)
            return
        key = params.get("requestId")
        if key not in self._open:
            return
        found, sizes = self._open[key], self._sizes[key]
        if method == "Network.responseReceived":
            response(found, sizes, params)
        elif method == "Network.dataReceived":
            sizes.decoded_bytes += params["dataLength"]
            sizes.received_bytes += params["encodedDataLength"]
        elif method == "Network.loadingFinished":
            total = int(params["encodedDataLength"])
            found.is_complete = True
            found.body_bytes = body_bytes(found, sizes, total=total)
            if 0 <= total - found.body_bytes <= HEADER_AT_MOST:
                found.header_bytes = total - found.body_bytes
            elif total > found.body_bytes:
                found.total_bytes = total
            found.times = dataclasses.replace(found.times, last_byte=microseconds(params.get("timestamp")))
        elif method == "Network.loadingFailed":
            found.is_complete = False
            found.body_bytes = sizes.received_bytes or None
        elif method == "Network.requestServedFromCache":
            found.is_cached = True

    def _request(self, params: Event) -> None:
        before = None
        if "redirectResponse" in params and params["requestId"] in self._open:
            before = self._open[params["requestId"]]
            redirected(before, params["redirectResponse"], to=params["request"]["url"])
            before.times = dataclasses.replace(before.times, last_byte=microseconds(params.get("timestamp")))
        headers = lower(params["request"].get("headers", {}))
        kind = (params.get("type") or "").lower()
        found = RecordedExchange(
            url=params["request"]["url"],
            method=params["request"]["method"],
            request_body_bytes=sent_bytes(params["request"]),
            resource_type=kind,
            initiator=stack_url(params.get("initiator") or {}),
            referer=headers.get("referer") or params.get("documentURL"),
            redirected_from=before,
            started_s=params.get("timestamp", 0.0),
            # A navigation that the page itself starts, in a frame or its own, belongs to the load:
            # the user still waits.
            begins_load=before is None
            and kind == "document"
            and params.get("frameId") not in self._inner_frames
            and params.get("initiator", {}).get("type", "other") == "other",
        )
        if self.exchanges and params.get("frameId") != self._top_frame:
            self._inner_frames.add(params.get("frameId"))
        self._top_frame = self._top_frame or params.get("frameId")
        if not self.date and "wallTime" in params:
            self.date = f"{datetime.datetime.fromtimestamp(params['wallTime'], datetime.UTC):%Y-%m-%d}"
        self._open[params["requestId"]] = found
        self._sizes[params["requestId"]] = Sizes()
        self.exchanges.append(found)


def response(found: RecordedExchange, sizes: Sizes, params: Event) -> None:
    """Process the header of a response."""
    message = params["response"]
    found.status = message["status"]
    found.mime_type = media_type(message.get("mimeType"))
    found.protocol = protocol_name(message.get("protocol"))
    found.resource_type = (params.get("type") or found.resource_type).lower()
    caches = ("fromDiskCache", "fromServiceWorker", "fromPrefetchCache")
    found.is_cached = found.is_cached or any(message.get(name) for name in caches)
    sizes.headers = lower(message.get("headers", {}))
    sizes.header_bytes = int(message.get("encodedDataLength", 0))
    carried(found, message)


def carried(found: RecordedExchange, message: Event) -> None:
    """Record the connection, times and header of a response."""
    found.headers = lower(message.get("headers", {}))
    found.connection = connection_name(message.get("connectionId"))
    found.address = message.get("remoteIPAddress") or ""
    found.times = times(message.get("timing") or {})


def times(timing: dict[str, float]) -> Times:
    """Times from the phases of `timing`, in ms since `requestTime`, which is in s;
    -1 means that a phase did not occur."""
    if "requestTime" not in timing:
        return Times()

    def at(*phases: str) -> int | None:
        """Time of the first of `phases` that occurred."""
        found = next((timing[phase] for phase in phases if timing.get(phase, -1) >= 0), None)
        return None if found is None else microseconds(timing["requestTime"] + found / 1e3)

    return Times(
        sent=at("sendEnd"),
        first_byte=at("receiveHeadersStart", "receiveHeadersEnd"),
        opened=at("connectStart"),
        connected=at("sslStart", "connectEnd"),
    )


def sent_bytes(request: Event) -> int | None:
    """Size of the request's body; None if the log does not hold the body."""
    return len(request["postData"].encode("utf-8", "replace")) if "postData" in request else None


def microseconds(seconds: float | None) -> int | None:
    """Convert seconds to microseconds."""
    return None if seconds is None else round(1e6 * seconds)


def body_bytes(found: RecordedExchange, sizes: Sizes, *, total: int) -> int:
    """Size of the encoded body of a complete response, from the most reliable size in the log."""
    stated = sizes.headers.get("content-length", "")
    if stated.isdigit() and found.method != "HEAD" and found.status != 304:
        found.repairs.add("size_from_content_length")
        return int(stated)
    if "content-encoding" not in sizes.headers:
        return sizes.decoded_bytes
    if 0 < sizes.header_bytes <= min(total, HEADER_AT_MOST):
        return total - sizes.header_bytes
    found.repairs.add("size_includes_header")
    return total


def redirected(found: RecordedExchange, response: Event, *, to: str) -> None:
    """Complete the exchange of a redirect, which CDP reports only with the following request."""
    headers = lower(response.get("headers", {}))
    found.status = response["status"]
    found.mime_type = media_type(response.get("mimeType"))
    found.protocol = protocol_name(response.get("protocol"))
    found.location = to
    carried(found, response)
    found.is_internal = "non-authoritative-reason" in headers
    found.repairs.add("redirect_split")
    stated = headers.get("content-length", "")
    if stated.isdigit():  # CDP reports no other size of the body
        found.body_bytes = int(stated)
        found.repairs.add("size_from_content_length")


def read(messages: Iterable[Any]) -> CdpLog:
    """Read a log, however its recorder wrapped the events."""
    log = CdpLog()
    for message in messages:
        log.feed(unwrapped(message))
    return log


def unwrapped(message: Any) -> Event:  # noqa: ANN401  # JSON as the recorders wrote it
    """The event in a recorded message: some recorders nest it in `message`, once or twice,
    as an object or as text."""
    while isinstance(message, str) or "message" in message:
        message = json.loads(message) if isinstance(message, str) else message["message"]
    event: Event = message
    return event


def lower(headers: dict[str, str]) -> dict[str, str]:
    """Headers with names in lower case."""
    return {name.lower(): value for name, value in headers.items()}
