"""Finds the request for the document in a page's main frame, from events of the DevTools protocol.

The URL of the page is not enough: scripts change it (history.pushState), and a popup may have the same. In
the protocol, a navigation's request (redirects included) and the loader of the resulting document have one
ID.
"""

import dataclasses
from collections.abc import Sequence

from crawler.devtools import events
from crawler.netlog.exchange import MAIN_FRAME, Exchange, clean_url

PAINTS = ("firstPaint", "firstContentfulPaint")

LARGEST_PAINT = "largest-contentful-paint"
"""Type of the performance entry of a candidate for the largest contentful paint."""

KEPT = 16
"""Most navigations that are kept, so that no page fills the memory."""


@dataclasses.dataclass(slots=True)
class Navigation:
    """One navigation of the main frame, after its redirects so far."""

    id: str
    url: str
    asked_ms: int
    """Time of the request on the monotonic clock."""
    failed: bool = False


class MainDocument:
    """The document of a page's main frame, from the events of the page's session."""

    def __init__(self, frame_id: str) -> None:
        self.load_ms: int | None = None
        """Time of the shown document's load event, on the monotonic clock."""
        self.paints_s: dict[str, float] = {}
        """PAINTS of the shown document on the monotonic clock, and LARGEST_PAINT on the wall clock, in
        seconds.
        """
        self._loader = ""
        self._frame_id = frame_id
        self._asked: dict[str, Navigation] = {}
        self._shown: list[Navigation] = []
        self._is_error_page = False

    @property
    def broke_off(self) -> bool:
        """True if the shown document is incomplete and no other is loading."""
        latest = next(reversed(self._asked.values()), None)
        return latest is not None and latest.failed and self._shown[-1:] == [latest]

    def feed(self, event: events.DevToolsEvent) -> None:
        match event:
            case events.RequestSent():
                self._request(event)
            case events.FrameNavigated():
                self._commit(event.frame)
            case events.LoadingFailed():
                failed = self._asked.get(event.request_id)
                if failed is not None and not event.canceled:  # the next navigation cancels it
                    failed.failed = True
            case events.LoadEventFired() if self.is_shown:
                self.load_ms = event.time_ms
            case events.LifecycleEvent() if event.name in PAINTS:
                if (event.frame_id, event.loader_id) == (self._frame_id, self._loader):
                    self.paints_s[event.name] = event.timestamp or 0.0
            case events.TimelineEventAdded() if event.event.type == LARGEST_PAINT:
                if event.event.frame_id == self._frame_id:
                    self.paints_s[LARGEST_PAINT] = event.event.time

    def _request(self, event: events.RequestSent) -> None:
        number = event.request_id
        if event.frame_id != self._frame_id or event.loader_id != number:
            return
        url = clean_url(event.request.url).partition("#")[0]
        if url.startswith(("http:", "https:")):
            self._asked.pop(number, None)
            self._asked[number] = Navigation(number, url, event.time_ms)
            if len(self._asked) > KEPT:
                del self._asked[next(iter(self._asked))]

    def _commit(self, frame: events.Frame) -> None:
        if frame.id != self._frame_id:
            return
        self.load_ms = None
        self.paints_s = {}
        self._loader = str(frame.loader_id)
        self._is_error_page = bool(frame.unreachable_url)
        navigation = self._asked.get(self._loader)
        if navigation is not None:  # about:blank and documents written by scripts have no request
            self._shown = [*self._shown[1 - KEPT :], navigation]

    def find_exchange(self, exchanges: Sequence[Exchange]) -> int | None:
        """Return the index of the document's exchange.

        If the document came from a service worker or a cache, the document before counts. If no document was
        shown (a download, status 204, a timeout), the last request counts.
        """
        for navigation in reversed(self._shown or list(self._asked.values())):
            candidates = [
                (abs(exchange.asked_ms - navigation.asked_ms), index)
                for index, exchange in enumerate(exchanges)
                if self._can_show(exchange) and exchange.url.partition("#")[0] == navigation.url
            ]
            if candidates:
                return min(candidates)[1]
        return None

    @property
    def is_shown(self) -> bool:
        return bool(self._shown) and not self._is_error_page

    def _can_show(self, exchange: Exchange) -> bool:
        """Return whether a main frame, a popup's included, could show the response.

        Of redirects it shows those that it does not follow.
        """
        if exchange.frame != MAIN_FRAME or exchange.status is None or exchange.is_repeated:
            return False
        is_redirect = 300 <= exchange.status < 400 and exchange.status != 304
        return not is_redirect or (self.is_shown and not exchange.is_followed)
