"""Harm verdicts in the ordinary cells."""

import dataclasses

import pyarrow as pa
import pytest

from releases.interval import Interval
from reports.recommendation.estimates import estimates_of
from reports.recommendation.harm_verdicts import HarmVerdict, verdict_of
from reports.recommendation.recommend import decide
from reports.recommendation.rule import MARGINS, Role
from reports.recommendation.window_family import NotEstimable
from reports.statistics.paired_loads import pair_loads
from schema.computed_tables import CELL
from tests.factories.made_up import POPULATIONS, cells
from tests.factories.recommendations import QUICK, recommend

LEVEL = tuple(margin for margin in MARGINS if margin.is_level)


def level_of(incumbents_percent: float, candidates_percent: float) -> HarmVerdict:
    """The verdict on loss inside the initial window, as the only margin."""
    table = cells(
        gain_percent={10: 0, 16: 4}, retransmitted_percent={10: incumbents_percent, 16: candidates_percent}
    )
    rule = dataclasses.replace(QUICK, margins=LEVEL)
    found = decide(
        estimates_of(pair_loads(table, congestion_control="cubic"), POPULATIONS, rule=rule), rule=rule
    )
    (verdict,) = next(v for v in found.candidates if v.candidate.window == 16).harms
    return verdict


def test_loss_inside_the_window_is_bounded_as_a_level() -> None:
    verdict = level_of(4.8, 5.2)
    assert (verdict.verdict, verdict.is_level, verdict.limit) == ("failed", True, 5.0)
    assert level_of(4.0, 4.9).verdict == "passed"


def test_a_level_that_the_incumbent_reaches_too_is_bounded_as_a_worsening() -> None:
    verdict = level_of(6.0, 6.5)
    assert (verdict.verdict, verdict.is_level, verdict.limit) == ("passed", False, 0.76)
    assert verdict.worsening is not None
    assert verdict.worsening.estimate == pytest.approx(0.5)
    worse = level_of(6.0, 7.0)
    assert (worse.verdict, worse.is_level) == ("failed", False)
    assert "worse by 1.00\u202fpp" in worse.objection


@pytest.mark.parametrize(("lossy", "upper"), [(0, 14.25), (1, 21.12), (9, 59.41)])
def test_of_few_pages_with_an_event_clopper_and_pearson_bound_the_share(lossy: int, upper: float) -> None:
    """24 pages: the printed bounds for 0, 1 and 9 of 24. An event more never lowers the bound."""
    rows = cells(gain_percent={10: 0, 16: 4}, retransmitted_percent={10: 0.0, 16: 0.0}, pages=24).to_pylist()
    for row in rows:
        if row["iw"] == 16 and row["visit_id"] <= lossy:
            row["bytes_retransmitted"] = row["payload_bytes"] // 1000
    loads = pair_loads(pa.Table.from_pylist(rows, schema=CELL), congestion_control="cubic")
    harm = estimates_of(loads, POPULATIONS, rule=QUICK).harms["retransmitted_bytes_average", 16, 10][
        "ordinary"
    ]
    assert not isinstance(harm, NotEstimable)
    interval = harm.effect.interval(0.95)
    assert interval.estimate == pytest.approx(0.1 * lossy / 24, rel=1e-3)
    assert interval.upper == pytest.approx(upper, abs=0.01)
    assert interval.lower == pytest.approx(-14.25, abs=0.01)


@pytest.mark.parametrize("lossy", [0, 1, 3])
def test_one_page_with_an_event_does_not_pass_where_none_is_too_few(lossy: int) -> None:
    rows = cells(gain_percent={10: 0, 16: 4}, retransmitted_percent={10: 0.0, 16: 0.0}, pages=30).to_pylist()
    for row in rows:
        if row["iw"] == 16 and row["visit_id"] <= lossy:
            row["bytes_retransmitted"] = 1448
    found = recommend(pa.Table.from_pylist(rows, schema=CELL))
    verdict = next(one for one in found.candidates if one.candidate.window == 16)
    assert {one.margin.id: one.verdict for one in verdict.harms}["retransmitted_bytes_average"] == (
        "too few loads"
    )


def test_a_bound_with_too_few_loads_neither_holds_nor_fails() -> None:
    """No load has a loss, but 96 loads cannot rule out 0.2 % of responses."""
    found = recommend(
        cells(gain_percent={10: 0, 16: 4}, retransmitted_percent={10: 0.0, 16: 0.0}, noise_percent=0.01)
    )
    verdict = next(v for v in found.candidates if v.candidate.window == 16)
    assert "too few loads" in {h.verdict for h in verdict.harms}
    assert "failed" not in {h.verdict for h in verdict.harms}
    assert (verdict.is_admissible, found.iw, found.is_decided) == (False, None, False)
    assert found.reasons[-1].startswith("IW 16 would be the answer, but too little is known of its harm: ")


def test_proved_harm_fails_however_wide_its_interval() -> None:
    assert verdict_of(Interval(9.0, 1.0, 17.0), 0.5) == "failed"
    assert verdict_of(Interval(0.6, 0.55, 0.65), 0.5) == "failed"
    assert verdict_of(Interval(0.2, -9.0, 9.4), 0.5) == "too few loads"
    assert verdict_of(Interval(-9.0, -18.0, 0.4), 0.5) == "passed"


def test_a_percentile_without_enough_loads_stops_a_candidate_where_it_is_required() -> None:
    found = recommend(cells(gain_percent={3: -6, 10: 0, 16: 4}, pages=24))
    verdict = next(v for v in found.candidates if v.candidate.window == 16)
    unmeasured = {harm.margin.id: harm.reason for harm in verdict.harms if harm.verdict == "not measured"}
    assert unmeasured == {
        "page_time_p95": "needs 200 paired loads of 20 pages, has 192 of 24",
        "page_time_p99": "needs 1000 paired loads of 20 pages, has 192 of 24",
        "page_time_p999": "needs 10000 paired loads of 20 pages, has 192 of 24",
    }
    assert not verdict.is_admissible
    assert {harm.margin.id for harm in verdict.harms if not harm.permits} == {"page_time_p95"}


@pytest.mark.parametrize(("pages", "expected"), [(5, "too few loads"), (20, "failed")])
def test_a_tail_that_grows_stops_a_candidate(pages: int, expected: str) -> None:
    table = cells(gain_percent={10: 0, 16: 4}, pages=30).to_pylist()
    for row in table:
        if row["iw"] == 16 and row["profile"] == "slow" and row["page"] >= f"page{30 - pages}":
            row["page_ms"] *= 1.2
    found = recommend(pa.Table.from_pylist(table, schema=CELL))
    verdict = next(v for v in found.candidates if v.candidate.window == 16)
    assert {h.margin.id: h.verdict for h in verdict.harms}["page_time_p95"] == expected
    assert not verdict.is_admissible


def test_without_a_slow_profile_the_required_margins_stop_every_candidate() -> None:
    populations: dict[Role, dict[str, float]] = {"average": {"cable": 1.0}, "slow": {"slow": 1.0}}
    table = cells(gain_percent={10: 0, 16: 4}, profiles=("cable",))
    loads = pair_loads(table, congestion_control="cubic")
    found = decide(estimates_of(loads, populations, rule=QUICK), rule=QUICK)
    assert found.iw is None
    assert "could not be measured (no cell of the profiles slow)" in " ".join(found.reasons)
