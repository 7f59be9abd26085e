"""Gains by strata of ranks, from made-up loads whose gain differs with rank."""

import pyarrow as pa
import pytest

from releases.ranks import Rank
from reports.recommendation.strata import ALL_ALIKE, BY_RANK, StratumGain, gains_by_stratum
from reports.statistics.paired_loads import PairedLoads, pair_loads
from schema.computed_tables import CELL
from tests.factories.made_up import POPULATIONS, cells
from tests.factories.recommendations import QUICK

POPULAR = 10
"""Pages of ranks up to 1,000; the other twenty have ranks beyond 5,000."""

RANKS = {f"page{page:02}.test": Rank(page + 1 if page < POPULAR else 5_001 + page) for page in range(30)}


def loads() -> PairedLoads:
    """IW 16 saves 2 % on popular pages, and 8 % on the others."""
    parts = {gain: cells(gain_percent={10: 0, 16: gain}).to_pylist() for gain in (2.0, 8.0)}
    rows = [row for row in parts[2.0] if row["visit_id"] <= POPULAR]
    rows += [row for row in parts[8.0] if row["visit_id"] > POPULAR]
    return pair_loads(pa.Table.from_pylist(rows, schema=CELL), congestion_control="cubic")


def of(ranks: dict[str, Rank]) -> dict[str, StratumGain]:
    found = gains_by_stratum(loads(), ranks, POPULATIONS["average"], incumbent=10, rule=QUICK)
    return {one.stratum: one for one in found}


def test_each_stratum_has_the_gain_of_its_pages_and_weights_by_rank_favour_the_popular() -> None:
    found = of(RANKS)
    assert {name: one.pages for name, one in found.items()} == {
        "up to rank 1\u202f000": 10,
        "up to rank 10\u202f000": 20,
        ALL_ALIKE: 30,
        BY_RANK: 30,
    }
    gains = {name: one.saved_percent.estimate for name, one in found.items()}
    assert gains["up to rank 1\u202f000"] == pytest.approx(2, abs=0.2)
    assert gains["up to rank 10\u202f000"] == pytest.approx(8, abs=0.2)
    assert gains[ALL_ALIKE] == pytest.approx(6, abs=0.3)
    assert gains[BY_RANK] == pytest.approx(2, abs=0.2)
    for one in found.values():
        assert one.saved_percent.lower < one.saved_percent.estimate < one.saved_percent.upper


def test_a_stratum_of_one_page_is_not_stated_and_pages_without_a_rank_are_left_out() -> None:
    some = {
        name: rank for name, rank in RANKS.items() if name in ("page00.test", "page20.test", "page21.test")
    }
    assert {name: one.pages for name, one in of(some).items()} == {
        "up to rank 10\u202f000": 2,
        ALL_ALIKE: 3,
        BY_RANK: 3,
    }


def test_without_ranks_there_is_no_stratum() -> None:
    assert of({}) == {}
