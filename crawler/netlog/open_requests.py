"""Open requests of the network stack, and how long each may still be waited for."""

import dataclasses
from collections.abc import Callable
from typing import Any

from crawler.netlog.event import Event
from crawler.netlog.exchange import REQUEST_LIMIT

QUIET_MS = 500
"""Time without a beginning or an end of a request after which a page is quiet, in milliseconds."""

UNREAD_MS = 2_000
"""Time after a read of a body for which the next is waited for, in milliseconds.

The browser stops reading when its buffers are full: the page wants no more, or its main thread is busy.
"""

ANSWER_MS = 5_000
"""Time for which the next bytes of a response are waited for, in milliseconds,
where the browser waits for them.

A server that takes longer to answer, or pauses for longer, is taken for a long poll or an open stream.
"""

EVENT_STREAM = "content-type: text/event-stream"


@dataclasses.dataclass(slots=True)
class OpenRequest:
    """A request that has not ended."""

    moved_ms: int
    awaits_bytes: bool = True
    """True if the browser waits for the header, or with a read of the body."""
    is_event_stream: bool = False
    """Server-sent events have no end to wait for (HTML standard §9.2)."""

    @property
    def idle_at_ms(self) -> int:
        awaits = self.awaits_bytes and not self.is_event_stream
        return self.moved_ms + (ANSWER_MS if awaits else UNREAD_MS)


class OpenRequests:
    """The open requests of one visit, of any frame or worker, by the source of their events."""

    def __init__(self, began_ms: int) -> None:
        self.open: dict[int, OpenRequest] = {}
        self._changed_ms = began_ms

    def feed(self, event: Event[Any]) -> None:
        handler = HANDLERS.get((event.name, event.phase))
        if handler is not None:
            handler(self, event)

    @property
    def idle_at_ms(self) -> int:
        """Time from which the network is idle, if nothing moves."""
        return max([self._changed_ms + QUIET_MS, *(request.idle_at_ms for request in self.open.values())])

    def _on_begin(self, event: Event[Any]) -> None:
        self._changed_ms = event.time_ms
        if len(self.open) < REQUEST_LIMIT:
            self.open[event.source] = OpenRequest(event.time_ms)

    def _on_end(self, event: Event[Any]) -> None:
        self._changed_ms = event.time_ms
        self.open.pop(event.source, None)

    def _note_move(self, event: Event[Any]) -> OpenRequest | None:
        """Note that a request moves, also one that reads what another began to fetch."""
        request = self.open.get(event.source)
        if request is not None:
            request.moved_ms = event.time_ms
        return request

    def _on_asked(self, event: Event[Any]) -> None:
        if request := self._note_move(event):
            request.awaits_bytes, request.is_event_stream = True, False

    def _on_answered(self, event: Event[Any]) -> None:
        if request := self._note_move(event):
            request.awaits_bytes = False
            request.is_event_stream = any(
                isinstance(line, str) and line.lower().startswith(EVENT_STREAM)
                for line in event.params["headers"]
            )

    def _on_read(self, event: Event[Any]) -> None:
        if request := self._note_move(event):
            request.awaits_bytes = event.phase == "BEGIN"


HANDLERS: dict[tuple[str, str], Callable[[OpenRequests, Event[Any]], object]] = {
    ("REQUEST_ALIVE", "BEGIN"): OpenRequests._on_begin,
    ("REQUEST_ALIVE", "END"): OpenRequests._on_end,
    ("URL_REQUEST_START_JOB", "BEGIN"): OpenRequests._on_asked,
    ("HTTP_TRANSACTION_SEND_REQUEST_HEADERS", "NONE"): OpenRequests._on_asked,
    ("HTTP_TRANSACTION_HTTP2_SEND_REQUEST_HEADERS", "NONE"): OpenRequests._on_asked,
    ("HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS", "NONE"): OpenRequests._on_asked,
    ("HTTP_TRANSACTION_READ_RESPONSE_HEADERS", "NONE"): OpenRequests._on_answered,
    ("HTTP_TRANSACTION_READ_BODY", "BEGIN"): OpenRequests._on_read,
    ("HTTP_TRANSACTION_READ_BODY", "END"): OpenRequests._on_read,
    ("URL_REQUEST_JOB_FILTERED_BYTES_READ", "NONE"): OpenRequests._note_move,
}

EVENTS = frozenset(name for name, _ in HANDLERS)
