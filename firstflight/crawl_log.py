"""The output of a running crawl on standard error: a progress bar, or JSON Lines for log collectors."""

from __future__ import annotations

import contextlib
import datetime
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Protocol

import click
from tqdm import tqdm

from crawler.visit.attempt import Observation
from crawler.worker.claims import Claim, StoredVisit
from firstflight.bars import bar as progress_bar
from firstflight.settings import Settings
from schema.crawls import name_of
from schema.tables import Crawl

TEXT, JSON = "text", "json"


class CrawlLog(Protocol):
    """Receives the events of a running crawl."""

    def stored(self, claim: Claim, observation: Observation, result: StoredVisit, /) -> None: ...

    def say(self, line: str, /) -> None: ...


class Bar:
    """A progress bar with counts of outcomes."""

    def __init__(self, bar: tqdm[Any]) -> None:
        self._bar = bar
        self._outcomes: Counter[str] = Counter()

    def stored(self, _claim: Claim, _observation: Observation, result: StoredVisit) -> None:
        self._outcomes[result.outcome] += 1
        self._bar.set_postfix(self._outcomes, refresh=False)
        self._bar.update(result.is_final)

    def say(self, line: str) -> None:
        click.echo(line, err=True)


class JsonLines:
    """A log in JSON Lines. Each line names the crawl; the line of a visit has the ids of its rows in the
    database."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = str(name_of(crawl))

    def stored(self, claim: Claim, observation: Observation, result: StoredVisit) -> None:
        """Write the visit; `shard` is the browser's host, process and number, as in visit.owner."""
        seen = observation.visit
        self._write(
            "visit",
            shard=claim.owner,
            visit_id=claim.visit_id,
            rank=claim.rank,
            host=claim.host,
            attempt=claim.attempt,
            outcome=result.outcome,
            is_final=result.is_final,
            error=seen["error"],
            seconds=round((seen["ended_at"] - seen["started_at"]).total_seconds(), 3),
            responses=len(observation.responses),
            received_bytes=seen["received_bytes"],
            coverage=seen["coverage"],
        )

    def say(self, line: str) -> None:
        self._write("message", message=line)

    def _write(self, event: str, **facts: object) -> None:
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        click.echo(json.dumps({"time": now, "event": event, "crawl": self._crawl, **facts}), err=True)


@contextlib.contextmanager
def crawl_log(settings: Settings, form: str, crawl: Crawl, *, done: int) -> Iterator[CrawlLog]:
    """Return a log in the form TEXT or JSON; `done` sites have their final visit already."""
    if form == JSON:
        yield JsonLines(crawl)
        return
    with progress_bar(settings, total=crawl.top, initial=done, unit="sites") as bar:
        yield Bar(bar)
