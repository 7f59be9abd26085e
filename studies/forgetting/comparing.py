"""What 16 segments paced do to recorded and to forgotten pages, from pairs of loads, and how far it moves."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from releases.interval import Interval
from studies.pairs import evidence_of_pairs, saved
from verdict.effects import Effects, Name, effects_of
from verdict.student import Floats

PAIRS = Path(__file__).with_name("pairs.parquet")
"""A row for each page and network: what a load by the candidate differs by from one by the incumbent, of the
recorded and of the forgotten page."""

COPIES = (RECORDED, FORGOTTEN) = ("recorded", "forgotten")

BEYOND_MS = 100
"""Round trip to the main document's server from which on a load counts as beyond."""

TAIL = 0.025

SCHEMA = pa.schema(
    [
        ("page", pa.int32()),
        ("site", pa.string()),
        ("network", pa.string()),
        ("stratum", pa.int8()),
        ("share", pa.float64()),
        ("round_trip_ms", pa.float32()),
        *((f"log_time_{copy}", pa.float32()) for copy in COPIES),
        *((f"resent_pp_{copy}", pa.float32()) for copy in COPIES),
    ]
)

HEAD = ("loads", "quantity", "sites", "pairs", RECORDED, FORGOTTEN, "difference")


def table_of(pairs: pa.Table) -> Iterator[tuple[object, ...]]:
    """Yield for all loads, and for those beyond 100 ms, both quantities and their difference."""
    for loads, table in (
        ("all", pairs),
        (f"beyond {BEYOND_MS} ms", pairs.filter(pc.field("round_trip_ms") > BEYOND_MS)),
    ):
        effects = measure(table)
        sites = len(pc.unique(table["site"]))
        for name, quantity in (("page", "G, %"), ("resent", "C, pp")):
            values = {copy: saved(effects, name, copy, TAIL) for copy in COPIES}
            shown = [
                format_interval(value) for value in (*values.values(), difference(effects, name, values))
            ]
            yield (loads, quantity, sites, len(table), *shown)


def measure(table: pa.Table) -> Effects:
    """Return the effects with the copy in the place of the policy; clusters are sites and networks."""
    sites = np.unique(np.array(table["site"].to_pylist()), return_inverse=True)[1].astype(np.intp)
    changes: dict[Name, Floats] = {
        (name, copy): table[f"{column}_{copy}"].to_numpy().astype(np.float64)
        for name, column in (("page", "log_time"), ("resent", "resent_pp"))
        for copy in COPIES
    }
    return effects_of(evidence_of_pairs(table, sites), changes)


def difference(effects: Effects, name: str, values: Mapping[str, Interval]) -> Interval:
    """Return the forgotten pages' value less the recorded ones', by the delta method."""
    slopes = {
        copy: -100 * math.exp(float(effects.values[effects.names[name, copy]])) if name == "page" else 1.0
        for copy in COPIES
    }
    half = effects.combine(
        {(name, FORGOTTEN): slopes[FORGOTTEN], (name, RECORDED): -slopes[RECORDED]}
    ).interval(TAIL)
    value = values[FORGOTTEN].estimate - values[RECORDED].estimate
    reach = half.upper - half.estimate
    return Interval(value, value - reach, value + reach)


def format_interval(interval: Interval) -> str:
    """Return an interval as text.

    >>> format_interval(Interval(1.234, 1, 1.5))
    '1.23 (1.00 to 1.50)'
    """
    return f"{interval.estimate:.2f} ({interval.lower:.2f} to {interval.upper:.2f})"
