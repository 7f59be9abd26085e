"""Prometheus metrics of crawls in the database and of replays in the data folder, wherever they run.

A crawl has metrics until it is sealed; after that it does not change, and its release describes it.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from crawler.campaign.status import Status, status
from schema.crawls import name_of
from storage.crawls import crawls
from storage.engine import DatabaseError

SITES: dict[str, Callable[[Status], int]] = {
    "done": lambda one: one.final,
    "claimed": lambda one: one.claimed,
    "expired": lambda one: one.expired,
    "postponed": lambda one: one.postponed,
    "waiting": lambda one: one.planned - one.final - one.claimed - one.expired - one.postponed,
}
"""Counts of sites by state; their sum is the number of planned sites."""

COUNTS: dict[str, tuple[str, Callable[[Status], float | None]]] = {
    "visits": ("Visits written, attempts included.", lambda one: one.visits),
    "visits_per_hour": (
        "Over the 15 minutes before the last visit ended.",
        lambda one: one.visits_per_hour,
    ),
    "responses": ("Responses written; about, where they are many.", lambda one: one.responses),
    "received_bytes": ("Bytes that the visits received.", lambda one: one.received_bytes),
    "coverage_min": ("Least share of a visit's bytes that is accounted for.", lambda one: one.coverage_min),
    "coverage_median": (
        "Median share of a visit's bytes that is accounted for.",
        lambda one: one.coverage_median,
    ),
    "uncovered_visits": ("Visits of whose bytes too few are accounted for.", lambda one: one.uncovered),
    "packet_connection_share": (
        "Share of captured connections whose packets carried the bytes that the log counts.",
        lambda one: one.packets.connection_share,
    ),
    "packet_byte_share": (
        "Share of the bytes that were received on such connections.",
        lambda one: one.packets.byte_share,
    ),
    "log_lines_lost": ("Lines of the browsers' logs that could not be read.", lambda one: one.log_lines_lost),
    "network_down_visits": (
        "Visits given back, since our own network was down.",
        lambda one: one.network_down,
    ),
    "unfiltered_visits": ("Visits made without the address guard.", lambda one: one.unfiltered),
}


class Crawls(Collector):
    """Metrics of every crawl that is not sealed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def collect(self) -> Iterable[Metric]:
        """Count now; if the database is away, report only that."""
        up = GaugeMetricFamily("firstflight_database_up", "Whether the database answers.")
        try:
            with self._engine.connect() as connection:
                found = {
                    str(name_of(crawl)): status(connection, crawl)
                    for crawl in crawls(connection)
                    if crawl.sealed_at is None
                }
        except (DatabaseError, SQLAlchemyError):
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        yield from crawl_metrics(found)


def crawl_metrics(found: dict[str, Status]) -> Iterator[Metric]:
    """Metrics labelled with the crawl's name; an unknown value has no sample."""
    sites = GaugeMetricFamily("firstflight_crawl_sites", "Sites by state.", labels=["crawl", "state"])
    outcomes = GaugeMetricFamily(
        "firstflight_crawl_outcomes", "Final visits by outcome.", labels=["crawl", "outcome"]
    )
    for name, one in found.items():
        for state, count in SITES.items():
            sites.add_metric([name, state], count(one))
        for outcome, number in one.outcomes.items():
            outcomes.add_metric([name, outcome], number)
    yield sites
    yield outcomes
    for metric, (text, count_of) in COUNTS.items():
        family = GaugeMetricFamily(f"firstflight_crawl_{metric}", text, labels=["crawl"])
        for name, one in found.items():
            value = count_of(one)
            if value is not None:
                family.add_metric([name], value)
        yield family


class Replays(Collector):
    """Metrics of every replay in the data folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterable[Metric]:
        """Cells by state, cells per guest second, and the ratio of virtual to real time."""
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
