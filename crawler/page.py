"""What the page itself says of its requests: who asked for what.

A fold over events of the DevTools protocol; sizes are no business of it.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from crawler.fold import REQUEST_LIMIT, URL_LIMIT, URLS_LIMIT

EVENTS = (
    "Network.requestWillBeSent",
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
class Asked:
    """One request, as the page saw it."""

    url: str
    initiator_url: str | None
    resource_type: str | None
    """None where the frame decides: documents."""
    in_memory: bool = False
    """Answered from the renderer's memory: the network stack never heard of it."""
    status: int | None = None
    mime_type: str | None = None
    failure: str | None = None


class PageFacts:
    """Feed it the events of a page's session."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._url_characters = 0
        self._open: dict[str, Asked] = {}

    @property
    def outstanding(self) -> int:
        """Requests that have not ended."""
        return len(self._open)

    def feed(self, method: str, params: dict[str, Any]) -> None:
        """The next event."""
        if method == "Network.requestWillBeSent":
            self._request(params)
        else:
            self._response(method, params)

    def _request(self, params: dict[str, Any]) -> None:
        url = str(params.get("request", {}).get("url", ""))[:URL_LIMIT]
        if not url.startswith(("http:", "https:")):
            return
        initiator = _initiator_url(params.get("initiator") or {})
        initiator = None if initiator is None else initiator[:URL_LIMIT]
        self._url_characters += len(url) + len(initiator or "")
        if len(self.asked) >= REQUEST_LIMIT or self._url_characters > 2 * URLS_LIMIT:
            return
        kind = RESOURCE_TYPES.get(str(params.get("type")))
        asked = Asked(url.partition("#")[0], initiator, kind)
        self.asked.append(asked)
        self._open[str(params.get("requestId"))] = asked

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


def _initiator_url(initiator: dict[str, Any]) -> str | None:
    """The document, style sheet or script that asked: the innermost frame of the stack that has a URL.

    >>> _initiator_url({"type": "parser", "url": "https://a.test/#top"})
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
