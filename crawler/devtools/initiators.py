"""What the page itself says of its requests: who asked for what.

Told from events of the DevTools protocol, of a page, its frames and dedicated workers; sizes are no business of it.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from crawler.netlog.exchange import REQUEST_LIMIT, URL_LIMIT, URLS_LIMIT

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
"""The protocol's resource types, in the words of the Fetch standard's destinations where it has one."""


@dataclasses.dataclass(slots=True)
class PageRequest:
    """One request, as the page saw it."""

    url: str
    initiator_url: str | None
    resource_type: str | None
    """None where the frame decides: documents."""
    asked_ms: int = 0
    """On the monotonic clock; 0 where it is not said."""
    in_memory: bool = False
    """Answered from the renderer's memory: the network stack never heard of it."""
    status: int | None = None
    mime_type: str | None = None
    failure: str | None = None


class Initiators:
    """Feed it the events of a page's session."""

    def __init__(self) -> None:
        self.requests: list[PageRequest] = []
        self._url_characters = 0
        self._open: dict[str, PageRequest] = {}
        self._awaited: set[str] = set()
        self._preflights: dict[str, PageRequest] = {}
        """By the request that they are for, where that is not known yet: another process tells it."""

    @property
    def outstanding(self) -> int:
        """Requests that have not ended, of those whose end the page is told."""
        return len(self._awaited)

    def feed(self, method: str, params: dict[str, Any], *, is_own: bool = True) -> None:
        """The next event, of the page itself or of a frame or worker of it, which may end before its requests do."""
        if method == "Network.requestWillBeSent":
            self._request(params, is_own=is_own)
        elif method == "Network.webSocketCreated":
            self._ask(str(params.get("url")), params, kind="websocket")
        else:
            self._response(method, params)

    def _request(self, params: dict[str, Any], *, is_own: bool) -> None:
        url = str(params.get("request", {}).get("url", ""))
        request_id = str(params.get("requestId"))
        kind = RESOURCE_TYPES.get(str(params.get("type")))
        if (params.get("initiator") or {}).get("type") == "preflight":
            kind = "preflight"
        # What the browser's own process asks for a page has an id without a dot: documents, and of scripts the
        # main ones of workers. The page may never be told of their end; the network's log is.
        is_renderers = "." in request_id
        asked = self._ask(url, params, kind="worker" if kind == "script" and not is_renderers else kind)
        if asked is not None:
            if kind == "preflight":
                self._preflights[str(params["initiator"].get("requestId"))] = asked
            elif early := self._preflights.pop(request_id, None):
                early.initiator_url = asked.initiator_url
            self._open[request_id] = asked
            if is_renderers and is_own:
                self._awaited.add(request_id)

    def _ask(self, url: str, params: dict[str, Any], *, kind: str | None) -> PageRequest | None:
        url = url[:URL_LIMIT]
        if not url.startswith(("http:", "https:", "ws:", "wss:")):
            return None
        initiator = self._initiator_url(params)
        initiator = None if initiator is None else initiator[:URL_LIMIT]
        self._url_characters += len(url) + len(initiator or "")
        if len(self.requests) >= REQUEST_LIMIT or self._url_characters > 2 * URLS_LIMIT:
            return None
        asked = PageRequest(
            url.partition("#")[0], initiator, kind, int(float(params.get("timestamp", 0)) * 1000)
        )
        self.requests.append(asked)
        return asked

    def _initiator_url(self, params: dict[str, Any]) -> str | None:
        """Of a preflight, that of the request which it is for; after a redirect, that of the request before it.

        The protocol itself names for a redirect's target whatever the parser was at when it came.
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
        asked = self._open.get(request_id)
        if asked is None:
            return
        if method == "Network.requestServedFromCache":
            asked.in_memory = True
        elif method == "Network.responseReceived":
            response = params.get("response", {})
            asked.status, asked.mime_type = response.get("status"), response.get("mimeType")
            if response.get("fromDiskCache"):
                asked.in_memory = False
        else:
            asked.failure = params.get("errorText") if method == "Network.loadingFailed" else None
            del self._open[request_id]
            self._awaited.discard(request_id)


def initiator_url(initiator: dict[str, Any]) -> str | None:
    """The document, style sheet or script that asked: the innermost frame of the stack that has a URL.

    >>> initiator_url({"type": "parser", "url": "https://a.test/#top"})
    'https://a.test/'
    """
    stack = initiator.get("stack")
    for _ in range(32):  # a stack has parents: what scheduled the call
        if not isinstance(stack, dict):
            break
        for frame in stack.get("callFrames") or ():
            if str(frame.get("url", "")).startswith("http"):
                return str(frame["url"]).partition("#")[0]
        stack = stack.get("parent")
    url = str(initiator.get("url") or "").partition("#")[0]
    return url or None
