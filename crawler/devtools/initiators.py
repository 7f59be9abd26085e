"""Initiators and types of a page's requests, from events of the DevTools protocol.

The events are those of the page, its frames and its dedicated workers. Sizes are not read from them.
"""

import dataclasses

from crawler.devtools import events
from crawler.netlog.exchange import REQUEST_LIMIT, URLS_LIMIT, clean_url
from schema.vocabulary import RESOURCE_TYPES_BY_DEVTOOLS

RENDER_BLOCKING = {
    "Blocking": "blocking",
    "InBodyParserBlocking": "in_body",
    "PotentiallyBlocking": "potentially_blocking",
    "NonBlocking": "non_blocking",
    "NonBlockingDynamic": "dynamic",
}


@dataclasses.dataclass(slots=True)
class PageRequest:
    """One request as the renderer reports it."""

    url: str
    initiator_url: str | None
    resource_type: str | None
    asked_ms: int = 0
    """On the monotonic clock; 0 if unknown."""
    in_memory: bool = False
    """True for a response from the renderer's memory, of which the network stack has no trace."""
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

    def feed(self, event: events.DevToolsEvent) -> None:
        """Take an event of the page or of its frame or worker, which may end before its requests do."""
        if isinstance(event, events.RequestSent):
            self._request(event)
        elif isinstance(event, events.WebSocketCreated):
            self._add(event.url, event, kind="websocket")
        elif isinstance(event, events.RequestEvent) and event.request_id in self._open:
            self._response(self._open[event.request_id], event)

    def _request(self, event: events.RequestSent) -> None:
        kind = RESOURCE_TYPES_BY_DEVTOOLS.get((event.type or "").lower())
        initiator = event.initiator or events.Initiator()
        if initiator.type == "preflight":
            kind = "preflight"
        # Requests by the browser's own process have an ID without a dot: documents,
        # and the main scripts of workers.
        is_renderers = "." in event.request_id
        request = self._add(
            event.request.url, event, kind="worker" if kind == "script" and not is_renderers else kind
        )
        if request is not None:
            if kind == "preflight":
                self._preflights[str(initiator.request_id)] = request
            elif early := self._preflights.pop(event.request_id, None):
                early.initiator_url = request.initiator_url
            request.render_blocking = RENDER_BLOCKING.get(event.render_blocking_behavior or "")
            self._open[event.request_id] = request

    def _add(
        self, url: str, event: events.RequestSent | events.WebSocketCreated, *, kind: str | None
    ) -> PageRequest | None:
        url = clean_url(url)
        if not url.startswith(("http:", "https:", "ws:", "wss:")):
            return None
        initiator = self._initiator_url(event)
        initiator = None if initiator is None else clean_url(initiator)
        self._url_characters += len(url) + len(initiator or "")
        if len(self.requests) >= REQUEST_LIMIT or self._url_characters > 2 * URLS_LIMIT:
            return None
        request = PageRequest(url.partition("#")[0], initiator, kind, event.time_ms)
        self.requests.append(request)
        return request

    def _initiator_url(self, event: events.RequestSent | events.WebSocketCreated) -> str | None:
        """Return the initiator of a preflight's actual request, or of the request that was redirected.

        The protocol states the parser's position for a redirect's target.
        """
        initiator = event.initiator or events.Initiator()
        behind = None
        if initiator.type == "preflight":
            behind = self._open.get(str(initiator.request_id))
        elif isinstance(event, events.RequestSent) and event.redirect_response is not None:
            behind = self._open.get(event.request_id)
        return initiator_url(initiator) if behind is None else behind.initiator_url

    def _response(self, request: PageRequest, event: events.RequestEvent) -> None:
        if isinstance(event, events.ServedFromCache):
            request.in_memory = True
        elif isinstance(event, events.ResponseReceived):
            request.status, request.mime_type = event.response.status, event.response.mime_type
            if event.response.from_disk_cache:
                request.in_memory = False
        elif isinstance(event, events.LoadingFailed | events.LoadingFinished):
            request.failure = event.error_text if isinstance(event, events.LoadingFailed) else None
            del self._open[event.request_id]


def initiator_url(initiator: events.Initiator) -> str | None:
    """Return the URL of the document, style sheet or script that asked: the innermost call frame with one.

    >>> initiator_url(events.Initiator("parser", "https://a.test/#top"))
    'https://a.test/'
    """
    stack = initiator.stack
    while stack is not None:
        for frame in stack.call_frames:
            if (frame.url or "").startswith("http"):
                return (frame.url or "").partition("#")[0]
        stack = stack.parent
    return (initiator.url or "").partition("#")[0] or None
