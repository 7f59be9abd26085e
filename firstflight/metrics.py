"""Prometheus metrics of crawls in the database and of the data folder, wherever they run.

Crawls that are not sealed have metrics, and the one that was sealed last: its totals stay until the next.
"""

import collections
import contextlib
import datetime
import operator
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from crawler.campaign.status import Status, count_status
from firstflight.progress import database_bytes
from firstflight.settings import Settings
from replay.runs.replay_folder import count_states
from schema.crawls import name_of
from schema.tables import Crawl
from storage.crawls import crawls
from storage.engine import DatabaseError
from storage.progress import Progress, read_progress

SITES: dict[str, Callable[[Status], int]] = {
    "done": lambda counted: counted.final,
    "claimed": lambda counted: counted.claimed,
    "expired": lambda counted: counted.expired,
    "postponed": lambda counted: counted.postponed,
    "waiting": lambda counted: (
        counted.planned - counted.final - counted.claimed - counted.expired - counted.postponed
    ),
}
"""Sites by state, which sum to the planned ones."""

COUNTS: dict[str, tuple[str, str]] = {
    "visits": ("visits", "Visits written, attempts included."),
    "visits_per_hour": ("visits_per_hour", "Over the 15 minutes before the last visit ended."),
    "responses": ("responses", "Responses written; about, where they are many."),
    "received_bytes": ("received_bytes", "Bytes that the visits received."),
    "coverage_min": ("coverage_min", "Least share of a visit's bytes that is accounted for."),
    "coverage_median": ("coverage_median", "Median share of a visit's bytes that is accounted for."),
    "uncovered_visits": ("uncovered", "Visits of whose bytes too few are accounted for."),
    "packet_connection_share": (
        "packets.connection_share",
        "Share of captured connections whose packets carried the bytes that the log counts.",
    ),
    "packet_byte_share": (
        "packets.byte_share",
        "Share of the bytes that were received on such connections.",
    ),
    "log_lines_lost": ("log_lines_lost", "Lines of the browsers' logs that could not be read."),
    "network_down_visits": ("network_down", "Visits given back, since our own network was down."),
    "unfiltered_visits": ("unfiltered", "Visits made without the address guard."),
}


def gauge(
    name: str, text: str, samples: Iterable[tuple[Sequence[str], float | None]], *, labels: Sequence[str] = ()
) -> Metric:
    """Return a metric; an unknown value has no sample."""
    family = GaugeMetricFamily(f"firstflight_{name}", text, labels=labels)
    for label_values, value in samples:
        if value is not None:
            family.add_metric(label_values, value)
    return family


def newest_timestamp(what: str, at: float | None) -> Metric:
    """Return the newest time; 0 if there is none."""
    name, text = f"newest_{what}_timestamp_seconds", f"Time of the newest {what}; 0 if there is none."
    return gauge(name, text, [((), at or 0)])


class Crawls(Collector):
    """Metrics of every crawl that is not sealed, and of the one that was sealed last."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._sealed: tuple[Crawl, Status] | None = None

    def collect(self) -> Iterable[Metric]:
        """Count now; if the database is away, report only that."""
        up = "Whether the database answers."
        try:
            with self._engine.connect() as connection:
                every, size = crawls(connection), database_bytes(connection)
                shown = [
                    (crawl, count_status(connection, crawl)) for crawl in every if crawl.sealed_at is None
                ]
                if last := last_sealed(every):
                    if self._sealed is None or self._sealed[0].id != last.id:
                        self._sealed = last, count_status(connection, last)  # it changes no more
                    shown.append(self._sealed)
        except (DatabaseError, SQLAlchemyError):
            yield gauge("database_up", up, [((), 0)])
            return
        yield gauge("database_up", up, [((), 1)])
        yield gauge("database_size_bytes", "Size of the whole database.", [((), size)])
        yield newest_timestamp("crawl", max((seconds(crawl.planned_at) or 0 for crawl in every), default=0))
        yield from crawl_metrics(shown)


def last_sealed(every: Sequence[Crawl]) -> Crawl | None:
    sealed = [(crawl.sealed_at, crawl.id, crawl) for crawl in every if crawl.sealed_at is not None]
    return max(sealed)[-1] if sealed else None


def seconds(at: datetime.datetime | None) -> float | None:
    return None if at is None else at.timestamp()


def crawl_metrics(statuses: Sequence[tuple[Crawl, Status]]) -> Iterator[Metric]:
    named = [(str(name_of(crawl)), crawl, counted) for crawl, counted in statuses]
    times = {"planned": "Time of the plan.", "sealed": "Time of the seal."}
    for what, text in times.items():
        samples = [((name,), seconds(getattr(crawl, f"{what}_at"))) for name, crawl, _ in named]
        yield gauge(f"crawl_{what}_timestamp_seconds", text, samples, labels=["crawl"])
    old = [((name,), float(counted.old_list_month is not None)) for name, _, counted in named]
    yield gauge(
        "crawl_list_old", "1 if the list was read before the month of the plan.", old, labels=["crawl"]
    )
    sites = (((name, state), count(counted)) for name, _, counted in named for state, count in SITES.items())
    yield gauge("crawl_sites", "Sites by state.", sites, labels=["crawl", "state"])
    outcomes = (
        ((name, outcome), number)
        for name, _, counted in named
        for outcome, number in counted.outcomes.items()
    )
    yield gauge("crawl_outcomes", "Final visits by outcome.", outcomes, labels=["crawl", "outcome"])
    for metric, (field, text) in COUNTS.items():
        counts = [((name,), operator.attrgetter(field)(counted)) for name, _, counted in named]
        yield gauge(f"crawl_{metric}", text, counts, labels=["crawl"])


class Gate(Collector):
    """Bounds of the gate as crawlers last reported them, and the last result."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterable[Metric]:
        shown = list(self._shown())
        shares = [((crawl.crawl, bound.name), bound.share) for crawl in shown for bound in crawl.bounds]
        yield gauge("crawl_gate_share", "Present value of a bound.", shares, labels=["crawl", "bound"])
        failures = [((crawl.crawl,), len(crawl.gated.failures) if crawl.gated else None) for crawl in shown]
        text = "Bounds that failed when the gate last ran."
        yield gauge("crawl_gate_failures", text, failures, labels=["crawl"])

    def _shown(self) -> Iterator[Progress]:
        stored = read_progress(self._folder)
        yield from (progress for progress in stored if progress.sealed_at is None)
        sealed = [
            (progress.sealed_at, progress.crawl, progress)
            for progress in stored
            if progress.sealed_at is not None
        ]
        if sealed:
            yield max(sealed)[-1]


class Data(Collector):
    """The disk of the data folder, and the age of what is in it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def collect(self) -> Iterable[Metric]:
        if self._settings.data_dir.is_dir():
            disk = shutil.disk_usage(self._settings.data_dir)
            for name, size in (("free", disk.free), ("size", disk.total)):
                yield gauge(f"disk_{name}_bytes", f"Disk of the data folder: {name}.", [((), size)])
        for what, folder, pattern in (
            (
                "release",
                self._settings.releases,
                "month=*/device=*/vantage=*/arm=*/kind=*/version=*/manifest.json",
            ),
            ("report", self._settings.reports, "*/v*/manifest.json"),
            ("backup", self._settings.backups, "*.dump"),
        ):
            yield newest_timestamp(
                what, max((path.stat().st_mtime for path in folder.glob(pattern)), default=None)
            )


class Replays(Collector):
    """Metrics of every replay in the data folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterable[Metric]:
        cells: list[tuple[tuple[str, str], float]] = []
        for folder in sorted(self._folder.glob("*")):
            states = collections.Counter[str]()
            for path in folder.glob("*/cells.parquet"):
                with contextlib.suppress(OSError, ValueError, KeyError):  # `firstflight verify` names it
                    states.update(count_states(pq.ParquetFile(path).read(columns=["state"])))
            cells += [((folder.name, state), number) for state, number in states.items()]
        yield gauge("replay_cells", "Cells by state.", cells, labels=["replay", "state"])
