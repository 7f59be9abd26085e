"""The comparison of two years, from pairs of loads at two windows."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from releases.interval import Interval
from replay.runs.policy import Policy
from studies.pairs import evidence_of_pairs, net_benefit, net_benefit_factors, saved
from verdict.effects import Effects, Name, changes_of, effects_of
from verdict.evidence import Evidence
from verdict.ledger import PRICE_OF_ALL_PP
from verdict.student import Floats
from verdict.two_years import AFTER, ALL, BEFORE, CANDIDATE, YEARS, Comparison, Worth

PAIRS = Path(__file__).with_name("pairs.parquet")
"""A row for each page, network and seed: what a load at CANDIDATE differs by from one at INCUMBENT."""

INCUMBENT = Policy(10)

TAIL = 0.025

QUANTITIES = ("page", "resent")

SCHEMA = pa.schema(
    [
        ("pages", pa.string()),
        ("year", pa.int16()),
        ("page", pa.int32()),
        ("network", pa.string()),
        ("stratum", pa.int8()),
        ("share", pa.float64()),
        ("log_time", pa.float32()),
        ("resent_pp", pa.float32()),
    ]
)


def rows_of(pages: str, year: int, evidence: Evidence) -> pa.Table:
    """Return the pairs of loads of one year, those alone that are complete."""
    load, base = evidence.at(CANDIDATE), evidence.at(INCUMBENT)
    changes = changes_of(load, base)
    is_complete = np.isfinite(np.array([*changes.values()])).all(axis=0)
    at = [evidence.networks[place] for place in evidence.places]
    return pa.table(
        {
            "pages": pa.array([pages] * len(at), pa.string()),
            "year": pa.array([year] * len(at), pa.int16()),
            "page": pa.array(evidence.visits, pa.int32()),
            "network": pa.array([network.id for network in at], pa.string()),
            "stratum": pa.array([network.stratum for network in at], pa.int8()),
            "share": pa.array([network.share for network in at], pa.float64()),
            "log_time": pa.array(changes["page"], pa.float32()),
            "resent_pp": pa.array(changes["resent"], pa.float32()),
        },
        schema=SCHEMA,
    ).filter(pa.array(is_complete))


def pairs_of(evidence_by_year: Mapping[tuple[str, int], Evidence]) -> pa.Table:
    """Return the pairs of loads of each kind of pages and year."""
    table = pa.concat_tables([rows_of(*key, evidence) for key, evidence in evidence_by_year.items()])
    return table.sort_by([(name, "ascending") for name in ("pages", "year", "page", "network")])


def compare(table: pa.Table, pages: str) -> Comparison:
    """Return what the candidate does to such pages of both years, and how much more in the later one."""
    table = table.filter(pc.equal(table["pages"], pages))
    effects, counts = measure_years(table, are_same=pages != ALL)
    return Comparison(
        of={year: worth(effects, year) for year in YEARS},
        change=change(effects),
        counts=counts,
        networks=len(pc.unique(table["network"])),
        pairs=len(table),
    )


def measure_years(table: pa.Table, *, are_same: bool) -> tuple[Effects, dict[int, int]]:
    """Return the effects with the year in the place of the window, and pages by year.

    Errors of a difference take both years' networks, and the sites if they `are_same`, for the same draw.
    """
    years, numbers = (table[name].to_numpy().astype(np.intp) for name in ("year", "page"))
    sites = numbers if are_same else numbers + 100_000 * (years == AFTER)
    changes: dict[Name, Floats] = {
        (name, year): np.where(years == year, table[column].to_numpy().astype(np.float64), np.nan)
        for name, column in zip(QUANTITIES, ("log_time", "resent_pp"), strict=True)
        for year in YEARS
    }
    return effects_of(evidence_of_pairs(table, sites), changes), {
        year: len(np.unique(numbers[years == year])) for year in YEARS
    }


def worth(effects: Effects, year: int) -> Worth:
    return Worth(
        gain_percent=saved(effects, "page", year, TAIL),
        resent_pp=saved(effects, "resent", year, TAIL),
        net_benefit_pp=net_benefit(effects, year, TAIL, price_pp=PRICE_OF_ALL_PP),
    )


def change(effects: Effects) -> Worth:
    """Return the later year less the earlier, by the delta method."""
    price, values = PRICE_OF_ALL_PP, {year: worth(effects, year) for year in YEARS}
    factors = {
        year: {
            name: sign * factor for name, factor in net_benefit_factors(effects, year, price_pp=price).items()
        }
        for year, sign in ((BEFORE, -1.0), (AFTER, 1.0))
    }
    both = {**factors[BEFORE], **factors[AFTER]}

    def interval(value: float, of: Mapping[Name, float]) -> Interval:
        half = effects.combine(of).interval(TAIL)
        return Interval(value, value - (half.upper - half.estimate), value + (half.upper - half.estimate))

    def less(name: str) -> float:
        return float(getattr(values[AFTER], name).estimate - getattr(values[BEFORE], name).estimate)

    return Worth(
        gain_percent=interval(
            less("gain_percent"), {name: factor / price for name, factor in both.items() if name[0] == "page"}
        ),
        resent_pp=interval(
            less("resent_pp"), {name: factor for name, factor in both.items() if name[0] == "resent"}
        ),
        net_benefit_pp=interval(less("net_benefit_pp"), both),
    )
