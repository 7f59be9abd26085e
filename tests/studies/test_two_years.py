"""What a larger window does to the pages of two years: the stored pairs of loads, and their comparison."""

import collections
import math

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from studies.two_years.comparing import PAIRS, compare
from verdict.ledger import PRICE_OF_ALL_PP
from verdict.two_years import AFTER, ALIKE, ALL, BEFORE, SAME, YEARS, comparison
from verdict.verdict_file import round_numbers


def rows(pages: str, year: int) -> list[dict[str, float]]:
    table = pq.read_table(PAIRS)
    return [row for row in table.to_pylist() if (row["pages"], row["year"]) == (pages, year)]


def mean(rows: list[dict[str, float]], column: str) -> float:
    """The mean over networks, and over strata by their shares, in plain Python."""
    of_network = collections.defaultdict(list)
    for row in rows:
        of_network[row["stratum"], row["share"], row["network"]].append(row[column])
    of_stratum = collections.defaultdict(list)
    for (stratum, share, _), values in of_network.items():
        of_stratum[stratum, share].append(sum(values) / len(values))
    whole = math.fsum(share for _, share in of_stratum)
    return math.fsum(share * sum(values) / len(values) for (_, share), values in of_stratum.items()) / whole


@pytest.mark.parametrize("pages", [SAME, ALL, ALIKE])
def test_every_number_can_be_recomputed_from_the_stored_pairs(pages: str) -> None:
    years = comparison(pages)
    for year, worth in years.of.items():
        stored = rows(pages, year)
        gain = -100 * math.expm1(mean(stored, "log_time"))
        resent = mean(stored, "resent_pp")
        assert worth.gain_percent.estimate == pytest.approx(gain, abs=1e-6)
        assert worth.resent_pp.estimate == pytest.approx(resent, abs=1e-6)
        assert worth.net_benefit_pp.estimate == pytest.approx(PRICE_OF_ALL_PP * gain - resent, abs=1e-6)
    for name in ("gain_percent", "resent_pp", "net_benefit_pp"):
        before, after = (getattr(years.of[year], name).estimate for year in YEARS)
        change = getattr(years.change, name)
        assert change.estimate == pytest.approx(after - before, abs=1e-9)
        assert change.lower < change.estimate < change.upper


@pytest.mark.parametrize("pages", [SAME, ALL, ALIKE])
def test_the_stored_comparison_is_that_of_the_stored_pairs(pages: str) -> None:
    again, stored = map(msgspec.to_builtins, (compare(pq.read_table(PAIRS), pages), comparison(pages)))
    assert round_numbers(again) == round_numbers(stored)


def test_both_years_were_loaded_over_the_same_networks_and_the_same_sites_with_the_same_seeds() -> None:
    for pages in (SAME, ALL, ALIKE):
        before, after = (rows(pages, year) for year in YEARS)
        assert {row["network"] for row in before} == {row["network"] for row in after}
    pairs = [{(row["page"], row["network"]) for row in rows(SAME, year)} for year in YEARS]
    assert len(pairs[0] ^ pairs[1]) <= 0.01 * len(pairs[0])  # loads that were refused
    assert comparison(SAME).counts == {BEFORE: 28, AFTER: 28}


def test_a_year_does_not_differ_from_itself() -> None:
    table = pq.read_table(PAIRS)
    before = table.filter(pa.compute.equal(table["year"], BEFORE))
    again = before.set_column(1, "year", pa.array(np.full(len(before), AFTER, np.int16)))
    both = pa.concat_tables([before, again])
    change = compare(both, SAME).change
    assert (change.gain_percent.lower, change.gain_percent.upper) == pytest.approx((0, 0), abs=1e-9)
    # Other pages over the same networks share the networks' errors alone.
    change = compare(both, ALL).change
    assert change.gain_percent.lower < -0.01
    assert change.gain_percent.upper > 0.01
