"""Events of the DevTools protocol on a page's requests and documents, with the parameters that are read."""

from __future__ import annotations

import msgspec


class DevToolsEvent(msgspec.Struct, rename="camel", kw_only=True):
    """The parameters of an event."""

    timestamp: float | None = None
    """Time on the monotonic clock, in seconds."""

    @property
    def time_ms(self) -> int:
        """Time on the monotonic clock; 0 if it is not stated."""
        return int((self.timestamp or 0) * 1000)


class CallFrame(msgspec.Struct):
    """A frame of a call stack."""

    url: str | None = None


class Stack(msgspec.Struct, rename="camel"):
    """A call stack, and the stack that scheduled the call."""

    call_frames: list[CallFrame] = []
    parent: Stack | None = None


class Initiator(msgspec.Struct, rename="camel"):
    """The cause of a request, as DevTools state it."""

    type: str | None = "other"
    url: str | None = None
    stack: Stack | None = None
    request_id: str | None = None


class Request(msgspec.Struct, rename="camel"):
    """A request as the page sends it."""

    url: str


class Response(msgspec.Struct, rename="camel", kw_only=True):
    """The header of a response."""

    status: int
    mime_type: str | None = None
    from_disk_cache: bool | None = None


class RequestEvent(DevToolsEvent):
    """An event of one request."""

    request_id: str


class ServedFromCache(RequestEvent):
    """Network.requestServedFromCache: the response came from the renderer's memory."""


class LoadingFinished(RequestEvent):
    """Network.loadingFinished."""


class RequestSent(RequestEvent):
    """Network.requestWillBeSent; a redirect's target has the ID of the request that was redirected."""

    request: Request
    type: str | None = None
    frame_id: str | None = None
    loader_id: str | None = None
    initiator: Initiator | None = None
    redirect_response: Response | None = None
    render_blocking_behavior: str | None = None


class WebSocketCreated(RequestEvent):
    """Network.webSocketCreated."""

    url: str
    initiator: Initiator | None = None


class ResponseReceived(RequestEvent):
    """Network.responseReceived."""

    response: Response


class LoadingFailed(RequestEvent):
    """Network.loadingFailed."""

    error_text: str | None = None
    canceled: bool | None = None


class Frame(msgspec.Struct, rename="camel"):
    """A frame, and the document in it."""

    id: str
    loader_id: str | None = None
    unreachable_url: str | None = None
    """Set if the document is the browser's error page."""


class FrameNavigated(DevToolsEvent):
    """Page.frameNavigated: a frame shows another document."""

    frame: Frame


class LoadEventFired(DevToolsEvent):
    """Page.loadEventFired."""


class LifecycleEvent(DevToolsEvent):
    """Page.lifecycleEvent."""

    name: str
    frame_id: str
    loader_id: str


class TimelineEntry(msgspec.Struct, rename="camel"):
    """A performance entry; `time` is on the wall clock, in seconds."""

    type: str
    frame_id: str
    time: float


class TimelineEventAdded(DevToolsEvent):
    """PerformanceTimeline.timelineEventAdded."""

    event: TimelineEntry


EVENTS: dict[str, type[DevToolsEvent]] = {
    "Network.requestWillBeSent": RequestSent,
    "Network.webSocketCreated": WebSocketCreated,
    "Network.requestServedFromCache": ServedFromCache,
    "Network.responseReceived": ResponseReceived,
    "Network.loadingFinished": LoadingFinished,
    "Network.loadingFailed": LoadingFailed,
    "Page.frameNavigated": FrameNavigated,
    "Page.loadEventFired": LoadEventFired,
    "Page.lifecycleEvent": LifecycleEvent,
    "PerformanceTimeline.timelineEventAdded": TimelineEventAdded,
}
