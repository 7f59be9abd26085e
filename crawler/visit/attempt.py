"""One try of one scheme: what is known of it when it is over, which of two tries counts, and the outcome of it."""

from __future__ import annotations

import dataclasses
import datetime
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crawler.devtools.initiators import Initiators
from crawler.errors import (
    AddressBlocked,
    BadResponse,
    ConnectError,
    NavigationAborted,
    NetworkChanged,
    PageCrashed,
    TLSError,
    VisitError,
    VisitTimeout,
)
from crawler.netlog.assembler import Traffic
from crawler.netlog.exchange import MAIN_FRAME
from crawler.visit.bot_walls import CONSENTS, WALLS, recognised
from crawler.visit.observation import Observation
from crawler.visit.retry_after import retry_after_s
from crawler.visit.rows import Rows, Times, rows, text, with_reused

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.devtools.document import MainDocument
    from crawler.devtools.pipe_tee import PageEvent

UNANSWERED = (ConnectError, TLSError, BadResponse, VisitTimeout)
"""Ends of an https try after which http is tried, where no response had come."""

ABORTED = "net::ERR_ABORTED"
"""How a body ends that the browser itself gave up, as it does when the document's own script goes elsewhere."""


@dataclasses.dataclass(slots=True)
class Attempt:
    """One try of one scheme."""

    scheme: str
    started_at: datetime.datetime
    start_ms: int
    refuses: Callable[[str], bool] | None = None
    """Whether the address guard refuses an address; None where there was none around the browser."""
    initiators: Initiators = dataclasses.field(default_factory=Initiators)
    document: MainDocument | None = None
    """None until there was a page."""
    stop_reason: str = "failed"
    error: VisitError | None = None
    last_event_s: float = 0.0
    ended_at: datetime.datetime | None = None
    stop_ms: int | None = None
    """When its recording ended, on the monotonic clock."""
    lost: bool = False
    """Whether the recording itself is not whole."""
    broken: str | None = None
    """Why the browser must be replaced; what it had recorded may be whole all the same."""
    traffic: Traffic = dataclasses.field(default_factory=lambda: Traffic([], [], 0))
    log_lines_lost: int = 0
    links: list[str] = dataclasses.field(default_factory=list)
    """URLs of the page's links, where they were asked for."""

    def hear(self, event: PageEvent, now_s: float) -> None:
        """An event of the page or of what belongs to it; unheard if it happened when the recording was over, as in the log."""
        happened_s = float(event.params.get("timestamp", now_s))  # both CLOCK_MONOTONIC's
        if self.stop_ms is not None and happened_s * 1000 >= self.stop_ms + 1:
            return
        self.initiators.feed(event.method, event.params, is_own=event.is_own)
        if self.document is not None:
            self.document.feed(event.method, event.params)
        self.last_event_s = happened_s

    @property
    def answered(self) -> bool:
        """Whether anything came back for the page itself."""
        return any(one.frame == MAIN_FRAME and one.sizes()[0] for one in self.traffic.exchanges)

    @property
    def wants_http(self) -> bool:
        """Whether the other scheme is to be tried."""
        return isinstance(self.error, UNANSWERED) and not self.answered

    def no_browser_left(self) -> None:
        """Nobody asked by http, which might have answered: the site is as unknown as after any crash."""
        self.error = PageCrashed(self.broken)

    def no_time_left(self) -> None:
        """Nobody asked by http, which might have answered: a refusal by https says nothing of the site then."""
        if not isinstance(self.error, TLSError):
            self.error, self.stop_reason = VisitTimeout("the time budget ran out"), "budget"

    @property
    def is_refused(self) -> bool:
        """Whether the guard refuses every address of the host that the page was last asked of."""
        hosts = [urlsplit(one.url).netloc for one in self.traffic.exchanges if one.frame == MAIN_FRAME]
        if self.refuses is None or not hosts or not isinstance(self.error, ConnectError):
            return False
        tried = self.traffic.tried.get(re.sub(r":[0-9]*$", "", hosts[-1]), ())
        return bool(tried) and all(map(self.refuses, tried))

    def counts_after(self, first: Attempt) -> bool:
        """Whether this try, of http, says more of the site than `first`, of https, did."""
        if self.broken or self.answered or self.traffic.is_disturbed:
            return True
        # Neither brought a response. A certificate or an alert came from the site itself; so did bytes that are no HTTP.
        if isinstance(self.error, VisitTimeout):  # port 80 is filtered, or its answer late
            return isinstance(first.error, ConnectError)
        return not isinstance(self.error, ConnectError) and not isinstance(first.error, TLSError)

    def observation(self, *, salt: bytes, error_name: Callable[[int], str]) -> Observation:
        """What is stored of it."""
        traffic = with_reused(self.traffic, self.initiators.requests)
        made: Rows = rows(
            traffic, self.initiators.requests, start_ms=self.start_ms, salt=salt, error_name=error_name
        )
        index = self.document.among(traffic.exchanges) if self.document else None
        if index is None and self.document is not None and self.document.is_shown:
            self.lost = True  # a document is shown of which the log has no trace
        main = None if index is None else made.responses[index]
        status = main["status"] if main else None
        headers = {} if index is None else self.traffic.exchanges[index].response_headers
        asked = {(one["host"], one["path"]) for one in made.responses}
        error = str(self.error) if self.error else main["failure"] if main else None
        load_ms = self.document.load_ms if self.document else None
        return Observation(
            visit={
                "outcome": self._outcome(main),
                "stop_reason": self.stop_reason,
                "error": text(error),
                "scheme": self.scheme,
                "status": status,
                "main_response_id": main["id"] if main else None,
                "final_scheme": main["scheme"] if main else None,
                "final_host": main["host"] if main else None,
                "hsts_upgrades": self.traffic.hsts_upgrades,
                "started_at": self.started_at,
                "ended_at": self.ended_at,
                "load_us": Times(self.start_ms).us(load_ms),
                "wall": recognised(WALLS, status, headers, asked),
                "consent": recognised(CONSENTS, status, headers, asked),
                "retry_after_s": retry_after_s(
                    status, headers.get("retry-after"), now=datetime.datetime.now(datetime.UTC)
                ),
                "received_bytes": made.received_bytes,
                "coverage": made.coverage,
                "decrypted_coverage": made.decrypted_coverage,
                "log_lines_lost": self.log_lines_lost,
                "unfiltered_egress": self.refuses is None,
            },
            connections=made.connections,
            responses=made.responses,
            links=self.links,
        )

    def _outcome(self, main: dict[str, Any] | None) -> str:
        if isinstance(self.error, PageCrashed) or self.lost:
            return PageCrashed.outcome
        if self.traffic.is_disturbed:
            return NetworkChanged.outcome
        if main is not None and (main["status"] or 0) >= 400:
            return "http_error"
        if self.is_refused:
            return AddressBlocked.outcome
        if self.error is not None:
            return self.error.outcome
        if main is not None and main["failure"] == ABORTED:
            return NavigationAborted.outcome
        return BadResponse.outcome if main is None or main["failure"] else "ok"
