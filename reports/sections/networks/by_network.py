"""The networks of a replay, and gains by their round trip, bandwidth and bandwidth-delay product,
and over slow ones."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from releases.formatting import RANGE, size, stated
from releases.interval import Interval
from replay.networks.mlab.sample import PAGE_BYTES, ROUND_TRIPS
from reports.sections.evidence import POPULATIONS, Evidence, saved_ms, saved_percent
from reports.sections.shape import Column, Figure, Line, Row, Section, Table, interval
from reports.statistics.bootstrap import Floats

OPPOSITE_SIGNS = (
    "Percentages count each load alike; in milliseconds the slowest lines weigh most, "
    "so that the two can have different signs."
)
"""Note of a section whose tables have gains both in percent and in milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A quantity of a network, and the ends of its buckets."""

    id: str
    title: str
    unit: str
    edges: tuple[float, ...]
    of: Callable[[Mapping[str, Any]], float]


QUANTITIES = (
    Quantity(
        id="rtt",
        title="round trip",
        unit="ms",
        edges=(20, 50, 100, 200, 500),
        of=lambda one: float(one["rtt_us"]) / 1e3,
    ),
    Quantity(
        id="rate",
        title="bandwidth",
        unit="Mbps",
        edges=(1, 3, 10, 30, 100, 300),
        of=lambda one: float(one["down_bps"]) / 1e6,
    ),
    Quantity(
        id="bdp",
        title="bandwidth-delay product",
        unit="kB",
        edges=(10, 50, 200, 1000),
        of=lambda one: float(one["down_bps"]) * float(one["rtt_us"]) / 8e9,
    ),
)
"""Quantities as in Figure 5 of the 2010 paper; the ends of the buckets are
those of today's networks and ours."""


def buckets(quantity: Quantity, networks: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Floats]]:
    """The buckets that have networks, by name, with a mask of their networks."""
    values = np.array([quantity.of(one) for one in networks])
    ends = (-np.inf, *quantity.edges, np.inf)
    for low, high in itertools.pairwise(ends):
        mask = (values > low) & (values <= high)
        name = (
            f"above {stated(low)}"
            if high == np.inf
            else f"to {stated(high)}"
            if low == -np.inf
            else f"{stated(low)}{RANGE}{stated(high)}"
        )
        if mask.any():
            yield name, mask.astype(np.float64)


def by_network_section(evidence: Evidence) -> Section:
    """Gains in each bucket of each quantity."""
    found = {one.id: list(rows_of(evidence, one)) for one in QUANTITIES}
    figures = tuple(figure_of(evidence, one, found[one.id]) for one in QUANTITIES)
    tables = tuple(table_of(evidence, one, found[one.id]) for one in QUANTITIES)
    return Section(
        id="networks-gain",
        title="By round trip, bandwidth and bandwidth-delay product",
        lead="A larger window saves round trips, which weigh most where they are long against the time that "
        "the bytes themselves take. Each bucket has networks of the population with their "
        f"weights. {OPPOSITE_SIGNS}",
        figures=figures,
        tables=tables,
        notes=(
            "A value is unknown where a network of the bucket has fewer than three loads or the bucket too "
            "few pages. Intervals are of each number by itself.",
            *left_out(evidence),
        ),
    )


def left_out(evidence: Evidence) -> Iterator[str]:
    """A note on the candidates that have too few loads for parts of the networks."""
    few = [f"IW {window}" for window in evidence.windows if window not in evidence.well_known]
    if few:
        yield f"Left out for their few loads, as they were ruled out early: {', '.join(few)}."


def rows_of(evidence: Evidence, quantity: Quantity) -> Iterator[Row]:
    """A row for each bucket and window."""
    average = evidence.weights["average"]
    for name, mask in buckets(quantity, evidence.networks):
        weights = average * mask
        if not weights.any():
            continue
        for window in evidence.well_known:
            yield {
                "bucket": name,
                "share": 100 * float(weights.sum() / average.sum()),
                "window": f"IW {window}",
                "saved": interval(saved_percent(evidence, window, weights)),
                "saved_ms": interval(saved_ms(evidence, window, weights)),
            }


def columns_of(quantity: Quantity) -> tuple[Column, ...]:
    """Columns of the rows of a quantity."""
    return (
        Column(id="bucket", title=quantity.title, unit=quantity.unit, kind="text"),
        Column(id="share", title="share of tests", unit="%"),
        Column(id="window", title="window", kind="text"),
        Column(id="saved", title="page time saved", unit="%", kind="interval"),
        Column(id="saved_ms", title="page time saved", unit="ms", kind="interval"),
    )


def figure_of(evidence: Evidence, quantity: Quantity, rows: Sequence[Row]) -> Figure:
    """Gains by bucket, a series for each window."""
    return Figure(
        id=f"fig-{quantity.id}",
        title=f"Page time saved by {quantity.title}.",
        caption=f"Against IW {evidence.incumbent}, with 95 % intervals.",
        drawing="intervals",
        x="bucket",
        y="saved",
        series="window",
        columns=columns_of(quantity),
        rows=tuple(rows),
        source=evidence.source,
        query=evidence.query,
        lines=(Line(value=0.0, label="no change"),),
    )


def table_of(evidence: Evidence, quantity: Quantity, rows: Sequence[Row]) -> Table:
    """The figure's numbers."""
    return Table(
        id=f"by-{quantity.id}",
        title=f"Page time saved against IW {evidence.incumbent}, by {quantity.title}",
        columns=columns_of(quantity),
        rows=tuple(rows),
        source=evidence.source,
        query=evidence.query,
    )


def slow_section(evidence: Evidence) -> Section:
    """Gains over the slow population beside the average one."""
    populations = {"average": evidence.weights["average"], "slow": evidence.weights["slow"]}
    columns = (
        Column(id="window", title="window", kind="text"),
        *(
            Column(id=f"{role}_{unit}", title=f"{role} networks", unit=shown, kind="interval")
            for role in populations
            for unit, shown in (("percent", "%"), ("ms", "ms"))
        ),
    )
    rows = tuple(slow_rows(evidence, populations))
    return Section(
        id="slow",
        title="Slow networks",
        lead="Who has little bandwidth has most to lose by a larger burst, so that the 2010 paper tells "
        "slow networks apart (Table 4's populations). Theirs are not to be had; here the slowest tenth of "
        "the population, weighted as in the rule, stands beside all networks. Networks are ordered by the "
        f"time of {ROUND_TRIPS} round trips and of {size(PAGE_BYTES)} at the full rate.",
        figures=(slow_figure(evidence, rows),),
        tables=(
            Table(
                id="slow-gain",
                title=f"Page time saved against IW {evidence.incumbent}, all networks and the slowest tenth",
                columns=columns,
                rows=rows,
                source=evidence.source,
                query=evidence.query,
            ),
        ),
    )


def slow_rows(evidence: Evidence, populations: Mapping[str, Floats]) -> Iterator[Row]:
    """A row for each window, with page time saved in percent and in milliseconds over each population."""
    measures: dict[str, Callable[[Evidence, int, Floats], Interval | None]] = {
        "percent": saved_percent,
        "ms": saved_ms,
    }
    for window in evidence.windows:
        yield {
            "window": f"IW {window}",
            **{
                f"{role}_{unit}": interval(measure(evidence, window, weights))
                for role, weights in populations.items()
                for unit, measure in measures.items()
            },
        }


def slow_figure(evidence: Evidence, rows: Sequence[Row]) -> Figure:
    """Page time saved at each window, over all networks and over the slowest tenth.

    `rows` are the table's.
    """
    return Figure(
        id="fig-slow",
        title="Page time saved, over all networks and over the slowest tenth.",
        caption=f"Against IW {evidence.incumbent}, with 95 % intervals.",
        drawing="intervals",
        x="window",
        y="saved",
        series="networks",
        columns=(
            Column(id="window", title="initial window", kind="text"),
            Column(id="networks", title="networks", kind="text"),
            Column(id="saved", title="page time saved", unit="%", kind="interval"),
            Column(id="saved_ms", title="page time saved", unit="ms", kind="interval"),
        ),
        rows=tuple(
            {
                "window": row["window"],
                "networks": name,
                "saved": row[f"{role}_percent"],
                "saved_ms": row[f"{role}_ms"],
            }
            for row in rows
            for role, name in POPULATIONS.items()
        ),
        source=evidence.source,
        query=evidence.query,
        lines=(Line(value=0.0, label="no change"),),
    )


def networks_table(
    profiles: Sequence[Mapping[str, Any]], populations: Sequence[Mapping[str, Any]], *, source: str
) -> Table:
    """Rates, round trip, queue and weight of each network."""
    (average,) = (one["weights"] for one in populations if not one["slow"])
    return Table(
        id="networks",
        title="Networks of the replay",
        columns=(
            Column(id="id", title="network", kind="text"),
            Column(id="down_mbps", title="down", unit="Mbps"),
            Column(id="up_mbps", title="up", unit="Mbps"),
            Column(id="rtt_ms", title="round trip", unit="ms"),
            Column(id="queue_bytes", title="queue", unit="B", kind="count"),
            Column(id="weight_percent", title="weight", unit="%"),
        ),
        rows=tuple(
            {
                "id": one["id"],
                "down_mbps": one["down_bps"] / 1e6,
                "up_mbps": one["up_bps"] / 1e6,
                "rtt_ms": one["rtt_us"] / 1e3,
                "queue_bytes": one["queue_bytes"],
                "weight_percent": 100 * average.get(one["id"], 0.0),
            }
            for one in profiles
        ),
        source=source,
        query="jq .profiles replay.json",
        notes=tuple(f"{one['id']}: measured {one['measured']}; {one['source']}" for one in populations),
    )
