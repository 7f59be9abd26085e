"""Initiators and types of a page's requests, from events of the DevTools protocol.

The events are those of the page, its frames and its dedicated workers. Sizes are not read from them.
"""

import dataclasses
from typing import Any

from crawler.netlog.exchange import REQUEST_LIMIT, URLS_LIMIT, clean_url

EVENTS = (
    "Network.requestWillBeSent",
    "Network.webSocketCreated",
    "Network.requestServedFromCache",
    "Network.responseReceived",
    "Network.loadingFinished",
    "Network.loadingFailed",
)
"""Events to feed."""

RESOURCE_TYPES = {
    "Stylesheet": "style",
    "Image": "image",
    "Media": "media",
    "Font": "font",
    "Script": "script",
    "TextTrack": "media",
    "XHR": "fetch",
    "Fetch": "fetch",
    "Prefetch": "fetch",
    "EventSource": "fetch",
    "Ping": "fetch",
    "CSPViolationReport": "report",
    "WebSocket": "websocket",
    "Manifest": "manifest",
    "Preflight": "preflight",
}
"""resource_type by the protocol's resource type; destinations of the Fetch standard where there is one."""


RENDER_BLOCKING = {
    "Blocking": "blocking",
    "InBodyParserBlocking": "in_body",
    "PotentiallyBlocking": "potentially_blocking",
    "NonBlocking": "non_blocking",
    "NonBlockingDynamic": "dynamic",
}
"""render_blocking by the protocol's renderBlockingBehavior."""


@dataclasses.dataclass(slots=True)
class PageRequest:
    """One request, as the renderer reports it."""

    url: str
    initiator_url: str | None
    resource_type: str | None
    """None for documents, where the frame decides."""
    asked_ms: int = 0
    """Time of the request on the monotonic clock; 0 if unknown."""
    in_memory: bool = False
    """True if the response came from the renderer's memory: the network stack has no trace of it."""
    status: int | None = None
    mime_type: str | None = None
    failure: str | None = None
    render_blocking: str | None = None
    """One of RENDER_BLOCKING; None if the renderer does not say."""


class Initiators:
    """The requests of a page, from the events of the page's session."""

    def __init__(self) -> None:
        self.requests: list[PageRequest] = []
        self._url_characters = 0
        self._open: dict[str, PageRequest] = {}
        self._preflights: dict[str, PageRequest] = {}
        """Preflights by the request that they precede, while that is unknown: another process reports it."""

    def feed(self, method: str, params: dict[str, Any]) -> None:
        """Take the next event, of the page itself or of its frame or worker,
        which may end before its requests do."""
        if method == "Network.requestWillBeSent":
            self._request(params)
        elif method == "Network.webSocketCreated":
            self._add(str(params.get("url")), params, kind="websocket")
        else:
            self._response(method, params)

    def _request(self, params: dict[str, Any]) -> None:
        url = str(params.get("request", {}).get("url", ""))
        request_id = str(params.get("requestId"))
        kind = RESOURCE_TYPES.get(str(params.get("type")))
        if (params.get("initiator") or {}).get("type") == "preflight":
            kind = "preflight"
        # Requests by the browser's own process have an ID without a dot: documents,
        # and the main scripts of workers.
        is_renderers = "." in request_id
        request = self._add(url, params, kind="worker" if kind == "script" and not is_renderers else kind)
        if request is not None:
            if kind == "preflight":
                self._preflights[str(params["initiator"].get("requestId"))] = request
            elif early := self._preflights.pop(request_id, None):
                early.initiator_url = request.initiator_url
            request.render_blocking = RENDER_BLOCKING.get(str(params.get("renderBlockingBehavior")))
            self._open[request_id] = request

    def _add(self, url: str, params: dict[str, Any], *, kind: str | None) -> PageRequest | None:
        url = clean_url(url)
        if not url.startswith(("http:", "https:", "ws:", "wss:")):
            return None
        initiator = self._initiator_url(params)
        initiator = None if initiator is None else clean_url(initiator)
        self._url_characters += len(url) + len(initiator or "")
        if len(self.requests) >= REQUEST_LIMIT or self._url_characters > 2 * URLS_LIMIT:
            return None
        request = PageRequest(
            url.partition("#")[0], initiator, kind, int(float(params.get("timestamp", 0)) * 1000)
        )
        self.requests.append(request)
        return request

    def _initiator_url(self, params: dict[str, Any]) -> str | None:
        """Return the initiator of a preflight's actual request, or of the request that was redirected.

        The protocol gives a redirect's target the parser's position at that time as its initiator.
        """
        initiator = params.get("initiator") or {}
        behind = None
        if initiator.get("type") == "preflight":
            behind = self._open.get(str(initiator.get("requestId")))
        elif params.get("redirectResponse"):
            behind = self._open.get(str(params.get("requestId")))
        return initiator_url(initiator) if behind is None else behind.initiator_url

    def _response(self, method: str, params: dict[str, Any]) -> None:
        request_id = str(params.get("requestId"))
        request = self._open.get(request_id)
        if request is None:
            return
        if method == "Network.requestServedFromCache":
            request.in_memory = True
        elif method == "Network.responseReceived":
            response = params.get("response", {})
            request.status, request.mime_type = response.get("status"), response.get("mimeType")
            if response.get("fromDiskCache"):
                request.in_memory = False
        else:
            request.failure = params.get("errorText") if method == "Network.loadingFailed" else None
            del self._open[request_id]


def initiator_url(initiator: dict[str, Any]) -> str | None:
    """Return the URL of the requesting document, style sheet or script: the innermost call frame with a URL.

    >>> initiator_url({"type": "parser", "url": "https://a.test/#top"})
    'https://a.test/'
    """
    stack = initiator.get("stack")
    for _ in range(32):  # the parent of a stack is the stack that scheduled the call
        if not isinstance(stack, dict):
            break
        for frame in stack.get("callFrames") or ():
            if str(frame.get("url", "")).startswith("http"):
                return str(frame["url"]).partition("#")[0]
        stack = stack.get("parent")
    url = str(initiator.get("url") or "").partition("#")[0]
    return url or None
