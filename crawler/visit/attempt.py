"""An attempt: one navigation by https or by http, its outcome, and the observation that is made of it."""

from __future__ import annotations

import dataclasses
import datetime
import email.utils
import re
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from crawler.capture.connections import CapturedConnection
from crawler.devtools.document import LARGEST_PAINT, MainDocument
from crawler.devtools.events import DevToolsEvent, LifecycleEvent, TimelineEventAdded
from crawler.devtools.initiators import Initiators
from crawler.errors import (
    AddressBlocked,
    BadResponse,
    BrowserError,
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
from crawler.visit.bot_walls import CONSENTS, WALLS, recognise
from crawler.visit.row_values import Row, VisitClock, text
from crawler.visit.rows import TrafficRows, add_reused, make_rows

UNANSWERED = (ConnectError, TLSError, BadResponse, VisitTimeout)
"""Errors of an https attempt after which http is tried, if no response had come."""

ABORTED = "net::ERR_ABORTED"
"""Failure of a body that the browser itself gave up, as when the document's own script navigates away."""


UNPROMPTED = (LifecycleEvent, TimelineEventAdded)
"""Events that do not show that the page is loading: Chromium sends some because nothing loads."""

RETRY_AFTER_STATUSES = frozenset({429, 503})
"""Statuses with which Retry-After asks for that; with a redirect it means something else."""

RETRY_AFTER_LONGEST_S = 2**31 - 1
"""Largest value that is stored, for a date in the far future."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """The rows of one page load, without WRITER_COLUMNS."""

    visit: Row
    connections: Sequence[Row]
    responses: Sequence[Row]
    page_kind: str = "home"
    load: int = 1
    links: Sequence[str] = ()
    """The page's links, where asked for, which are not stored."""
    more: Sequence[Observation] = ()
    """Repeat loads of the home page, and inner pages of the site."""


WRITER_COLUMNS = frozenset(
    {
        *("crawl_id", "id", "visit_id", "rank", "host", "attempt", "is_final", "owner"),
        *("page_kind", "load", "is_covered", "crawler_host"),
    }
)
"""Columns that the visit writer fills in."""


class BrowserDied(BrowserError):
    """The browser must be replaced; `observation` is that of the visit that ended with it."""

    def __init__(self, message: str, observation: Observation) -> None:
        super().__init__(message)
        self.observation = observation


@dataclasses.dataclass(slots=True)
class SchemeAttempt:
    """One navigation by one scheme; a Recorder fills it in."""

    scheme: str
    started_at: datetime.datetime
    start_ms: int
    refuses: Callable[[str], bool] | None = None
    """Whether the address guard refuses an address; None without a guard."""
    initiators: Initiators = dataclasses.field(default_factory=Initiators)
    document: MainDocument | None = None
    stop_reason: str = "failed"
    error: VisitError | None = None
    last_event_s: float = 0.0
    ended_at: datetime.datetime | None = None
    stop_ms: int | None = None
    """In milliseconds of CLOCK_MONOTONIC."""
    lost: bool = False
    broken: str | None = None
    """Reason why the browser must be replaced; the recording may be whole."""
    traffic: Traffic = dataclasses.field(default_factory=lambda: Traffic([], [], 0))
    captured: list[CapturedConnection | None] = dataclasses.field(default_factory=list)
    """By the traffic's connections; empty without a capture."""
    unnamed_bytes: int = 0
    log_lines_lost: int = 0
    links: list[str] = dataclasses.field(default_factory=list)

    def hear(self, event: DevToolsEvent, now_s: float) -> None:
        """Take an event, unless it happened after the recording."""
        happened_s = now_s if event.timestamp is None else event.timestamp  # both CLOCK_MONOTONIC's
        if self.stop_ms is not None and happened_s * 1000 >= self.stop_ms + 1:
            return
        self.initiators.feed(event)
        if self.document is not None:
            self.document.feed(event)
        if not isinstance(event, UNPROMPTED):
            self.last_event_s = happened_s

    @property
    def answered(self) -> bool:
        return any(
            exchange.frame == MAIN_FRAME and exchange.sizes()[0] for exchange in self.traffic.exchanges
        )

    @property
    def wants_http(self) -> bool:
        return isinstance(self.error, UNANSWERED) and not self.answered

    def mark_broken(self, why: str) -> None:
        self.broken = self.broken or why

    def end_without_browser(self) -> None:
        """End as after a crash: http was not tried."""
        self.error = PageCrashed(self.broken)

    def end_without_time(self) -> None:
        """End by timeout unless TLS failed: http was not tried, and might have answered."""
        if not isinstance(self.error, TLSError):
            self.error, self.stop_reason = VisitTimeout("the time budget ran out"), "budget"

    @property
    def is_refused(self) -> bool:
        """True if the guard refuses every address of the host last asked for."""
        hosts = [
            urlsplit(exchange.url).netloc
            for exchange in self.traffic.exchanges
            if exchange.frame == MAIN_FRAME
        ]
        if self.refuses is None or not hosts or not isinstance(self.error, ConnectError):
            return False
        tried = self.traffic.tried.get(re.sub(r":[0-9]*$", "", hosts[-1]), ())
        return bool(tried) and all(map(self.refuses, tried))

    def outweighs(self, first: SchemeAttempt) -> bool:
        """Return whether this attempt, by http, says more than `first`, by https."""
        if self.broken or self.answered or self.traffic.is_disturbed:
            return True
        # Neither brought a response. A certificate or an alert came from the site itself;
        # so did bytes that are no HTTP.
        if isinstance(self.error, VisitTimeout):  # port 80 is filtered, or its answer late
            return isinstance(first.error, ConnectError)
        return not isinstance(self.error, ConnectError) and not isinstance(first.error, TLSError)

    def make_observation(self, *, salt: bytes, error_name: Callable[[int], str]) -> Observation:
        """Make the rows; `error_name` names Chromium's numbers."""
        traffic = add_reused(self.traffic, self.initiators.requests)
        rows: TrafficRows = make_rows(
            traffic,
            self.initiators.requests,
            start_ms=self.start_ms,
            salt=salt,
            error_name=error_name,
            captured=self.captured,
            unnamed_bytes=self.unnamed_bytes,
            stop_ms=self.stop_ms or 0,
        )
        index = self.document.find_exchange(traffic.exchanges) if self.document else None
        if index is None and self.document is not None and self.document.is_shown:
            self.lost = True  # a document is shown of which the log has no trace
        main = None if index is None else rows.responses[index]
        status = main["status"] if main else None
        headers = {} if index is None else self.traffic.exchanges[index].response_headers
        asked = {(response["host"], response["path"]) for response in rows.responses}
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
                "load_us": VisitClock(self.start_ms).us(load_ms),
                **self._paint_columns(),
                "wall": recognise(WALLS, status, headers, asked),
                "consent": recognise(CONSENTS, status, headers, asked),
                "retry_after_s": retry_after_s(
                    status, headers.get("retry-after"), now=datetime.datetime.now(datetime.UTC)
                ),
                "received_bytes": rows.received_bytes,
                "coverage": rows.coverage,
                "decrypted_coverage": rows.decrypted_coverage,
                "log_lines_lost": self.log_lines_lost,
                "unfiltered_egress": self.refuses is None,
            },
            connections=rows.connections,
            responses=rows.responses,
            links=self.links,
        )

    def _paint_columns(self) -> dict[str, int | None]:
        """Make the columns of painting: null for an error page."""
        document = self.document
        paints_s = document.paints_s if document is not None and document.is_shown else {}
        start_s, wall_s = self.start_ms / 1000, self.started_at.timestamp()
        return {
            column: round((paints_s[name] - began_s) * 1e6) if name in paints_s else None
            for column, name, began_s in (
                ("first_paint_us", "firstPaint", start_s),
                ("first_contentful_paint_us", "firstContentfulPaint", start_s),
                ("largest_contentful_paint_us", LARGEST_PAINT, wall_s),
            )
        }

    def _outcome(self, main: Row | None) -> str:
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


def retry_after_s(status: int | None, value: str | None, *, now: datetime.datetime) -> int | None:
    """Return for how long a site asks not to be visited (RFC 9110 §10.2.3); None if it does not.

    >>> retry_after_s(429, "120", now=datetime.datetime.now(datetime.UTC))
    120
    """
    if status not in RETRY_AFTER_STATUSES or not value:
        return None
    if value.isascii() and value.isdigit():
        return min(int(value[:12]), RETRY_AFTER_LONGEST_S)
    try:
        until = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=datetime.UTC)
    return min(max(0, round((until - now).total_seconds())), RETRY_AFTER_LONGEST_S)
