"""Prometheus metrics of crawls in the database and of the data folder, wherever they run.

Crawls that are not sealed have metrics, and the one that was sealed last: its totals stay until the next.
"""

import datetime
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from crawler.campaign.status import Status, count_status
from firstflight.progress import database_bytes
from firstflight.settings import Settings
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
"""Counts of sites by state; their sum is the number of planned sites."""

COUNTS: dict[str, tuple[str, Callable[[Status], float | None]]] = {
    "visits": ("Visits written, attempts included.", lambda counted: counted.visits),
    "visits_per_hour": (
        "Over the 15 minutes before the last visit ended.",
        lambda counted: counted.visits_per_hour,
    ),
    "responses": ("Responses written; about, where they are many.", lambda counted: counted.responses),
    "received_bytes": ("Bytes that the visits received.", lambda counted: counted.received_bytes),
    "coverage_min": (
        "Least share of a visit's bytes that is accounted for.",
        lambda counted: counted.coverage_min,
    ),
    "coverage_median": (
        "Median share of a visit's bytes that is accounted for.",
        lambda counted: counted.coverage_median,
    ),
    "uncovered_visits": (
        "Visits of whose bytes too few are accounted for.",
        lambda counted: counted.uncovered,
    ),
    "packet_connection_share": (
        "Share of captured connections whose packets carried the bytes that the log counts.",
        lambda counted: counted.packets.connection_share,
    ),
    "packet_byte_share": (
        "Share of the bytes that were received on such connections.",
        lambda counted: counted.packets.byte_share,
    ),
    "log_lines_lost": (
        "Lines of the browsers' logs that could not be read.",
        lambda counted: counted.log_lines_lost,
    ),
    "network_down_visits": (
        "Visits given back, since our own network was down.",
        lambda counted: counted.network_down,
    ),
    "unfiltered_visits": ("Visits made without the address guard.", lambda counted: counted.unfiltered),
}


class Crawls(Collector):
    """Metrics of every crawl that is not sealed, and of the one that was sealed last."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._sealed: tuple[Crawl, Status] | None = None

    def collect(self) -> Iterable[Metric]:
        """Count now; if the database is away, report only that."""
        up = GaugeMetricFamily("firstflight_database_up", "Whether the database answers.")
        size = GaugeMetricFamily("firstflight_database_size_bytes", "Size of the whole database.")
        try:
            with self._engine.connect() as connection:
                every = crawls(connection)
                size.add_metric([], database_bytes(connection))
                shown = [
                    (crawl, count_status(connection, crawl)) for crawl in every if crawl.sealed_at is None
                ]
                if last := last_sealed(every):
                    if self._sealed is None or self._sealed[0].id != last.id:
                        self._sealed = last, count_status(connection, last)  # it changes no more
                    shown.append(self._sealed)
        except (DatabaseError, SQLAlchemyError):
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield from (
            up,
            size,
            newest_timestamp("crawl", max((crawl.planned_at for crawl in every), default=None)),
        )
        yield from time_metrics(shown)
        yield from crawl_metrics({str(name_of(crawl)): counted for crawl, counted in shown})


def last_sealed(every: Sequence[Crawl]) -> Crawl | None:
    """Return the crawl that was sealed last; None if none was."""
    sealed = [(crawl.sealed_at, crawl.id, crawl) for crawl in every if crawl.sealed_at is not None]
    return max(sealed)[-1] if sealed else None


def newest_timestamp(what: str, at: datetime.datetime | float | None) -> Metric:
    """Return the time of the newest thing of a kind; 0 if there is none."""
    family = GaugeMetricFamily(
        f"firstflight_newest_{what}_timestamp_seconds", f"Time of the newest {what}; 0 if there is none."
    )
    family.add_metric([], at.timestamp() if isinstance(at, datetime.datetime) else at or 0)
    return family


def time_metrics(statuses: Iterable[tuple[Crawl, Status]]) -> Iterator[Metric]:
    """State when crawls were planned, and when sealed."""
    planned = GaugeMetricFamily(
        "firstflight_crawl_planned_timestamp_seconds", "Time of the plan.", labels=["crawl"]
    )
    sealed = GaugeMetricFamily(
        "firstflight_crawl_sealed_timestamp_seconds", "Time of the seal.", labels=["crawl"]
    )
    for crawl, _ in statuses:
        planned.add_metric([str(name_of(crawl))], crawl.planned_at.timestamp())
        if crawl.sealed_at is not None:
            sealed.add_metric([str(name_of(crawl))], crawl.sealed_at.timestamp())
    yield planned
    yield sealed


def crawl_metrics(statuses: dict[str, Status]) -> Iterator[Metric]:
    """Yield metrics labelled with the crawl's name; an unknown value has no sample."""
    sites = GaugeMetricFamily("firstflight_crawl_sites", "Sites by state.", labels=["crawl", "state"])
    outcomes = GaugeMetricFamily(
        "firstflight_crawl_outcomes", "Final visits by outcome.", labels=["crawl", "outcome"]
    )
    for name, counted in statuses.items():
        for state, count in SITES.items():
            sites.add_metric([name, state], count(counted))
        for outcome, number in counted.outcomes.items():
            outcomes.add_metric([name, outcome], number)
    yield sites
    yield outcomes
    for metric, (text, count_of) in COUNTS.items():
        family = GaugeMetricFamily(f"firstflight_crawl_{metric}", text, labels=["crawl"])
        for name, counted in statuses.items():
            value = count_of(counted)
            if value is not None:
                family.add_metric([name], value)
        yield family


class Gate(Collector):
    """The bounds of the gate, as crawlers last reported them, and the result when it last ran."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterable[Metric]:
        """Yield the bounds of every open crawl, and of the crawl that was sealed last."""
        shares = GaugeMetricFamily(
            "firstflight_crawl_gate_share", "Present value of a bound.", labels=["crawl", "bound"]
        )
        failures = GaugeMetricFamily(
            "firstflight_crawl_gate_failures", "Bounds that failed when the gate last ran.", labels=["crawl"]
        )
        for progress in self._shown():
            for bound in progress.bounds:
                if bound.share is not None:
                    shares.add_metric([progress.crawl, bound.name], bound.share)
            if progress.gated is not None:
                failures.add_metric([progress.crawl], len(progress.gated.failures))
        yield shares
        yield failures

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
        """Yield free and whole size of the disk, and the newest release, report and backup."""
        if self._settings.data_dir.is_dir():
            disk = shutil.disk_usage(self._settings.data_dir)
            for name, value in (("free", disk.free), ("size", disk.total)):
                yield GaugeMetricFamily(
                    f"firstflight_disk_{name}_bytes", f"Disk of the data folder: {name}.", value=value
                )
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
        """Yield cells by state, cells per guest second, and the ratio of virtual to real time."""
        cells = GaugeMetricFamily("firstflight_replay_cells", "Cells by state.", labels=["crawl", "state"])
        speed = GaugeMetricFamily(
            "firstflight_replay_cells_per_guest_second",
            "Cells that a guest, which has a core, did in a second, its boot included.",
            labels=["crawl"],
        )
        times = GaugeMetricFamily(
            "firstflight_replay_times_real_time",
            "Seconds of page loads in a second of a guest.",
            labels=["crawl"],
        )
        for path in sorted(self._folder.glob("*/replay.json")):
            try:
                facts = json.loads(path.read_text(encoding="utf-8"))
                counts = {state: int(number) for state, number in facts["cells"].items()}
                a_second = counts["done"] / sum(float(guest["wall_s"]) for guest in facts["guests"])
                faster = float(facts["virtual_s"]) / float(facts["wall_s"])
            except (OSError, ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError):
                continue  # `firstflight report build` says what is wrong with it
            for state, number in counts.items():
                cells.add_metric([path.parent.name, state], number)
            speed.add_metric([path.parent.name], a_second)
            times.add_metric([path.parent.name], faster)
        yield cells
        yield speed
        yield times
