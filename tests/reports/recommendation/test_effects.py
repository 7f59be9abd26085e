"""Harm in the rule's harm conditions: the worst decides, and what was not measured has not passed."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from releases.interval import Interval
from reports.recommendation.candidate_verdicts import CandidateVerdict
from reports.recommendation.effects import Effect, Harm
from reports.recommendation.estimates import NOT_REPLAYED, estimates_of
from reports.recommendation.harm_conditions import CORE, HARM_CONDITIONS, KINDS, HarmCondition
from reports.recommendation.harm_verdicts import judge, verdict_of
from reports.recommendation.mixture import MIXTURE
from reports.recommendation.recommend import Recommendation, decide
from reports.recommendation.rule import MARGINS, OWN_STEP, RULE, Rule
from reports.recommendation.window_family import NotEstimable
from reports.statistics.paired_loads import pair_loads
from reports.statistics.simultaneous import PageMeans
from schema.computed_tables import CELL
from tests.factories.made_up import POPULATIONS, cells

IDLE, BULK, ALONE = (next(one for one in CORE if one.kind == kind) for kind in ("idle", "bulk", "alone"))
CONDITIONS = (IDLE, BULK, ALONE)
QUICK = dataclasses.replace(RULE, replicates=200, harm_conditions=CONDITIONS, asks_for_alias=False)
NETWORKS: list[dict[str, Any]] = [
    {"id": "cable", "down_bps": 8_000_000},
    {"id": "slow", "down_bps": 1_000_000},
]
QUIET: dict[str, Any] = {
    "gain_percent": {10: 0, 16: 4},
    "pages": 40,
    "retransmitted_percent": {10: 0.1, 16: 0.1},
}


def there(one: HarmCondition, changes: Mapping[str, Any] | None = None, **made_up: Any) -> pa.Table:
    """Cells under a condition. `changes` sets columns; a pair gives the values of IW 16 and of IW 10."""
    rows = cells(**{**QUIET, **made_up}).to_pylist()
    for row in rows:
        row |= one.conditions.columns()
        for name, value in (changes or {}).items():
            row[name] = value[0 if row["iw"] == 16 else 1] if isinstance(value, tuple) else value
    return pa.Table.from_pylist(rows, schema=CELL)


def harmless() -> dict[str, pa.Table]:
    return {
        IDLE.id: there(IDLE, {"probe_p95_ms": (62.0, 60.0)}),
        BULK.id: there(BULK, {"competition_bytes": 1_000_000}, gain_percent={10: 0, 16: 0}),
        ALONE.id: there(ALONE, {"short_flow_ms": (202.0, 200.0)}),
    }


def recommend(tables: Mapping[str, pa.Table], rule: Rule = QUICK) -> Recommendation:
    ordinary = pair_loads(cells(**QUIET), congestion_control="cubic", networks=NETWORKS)
    beside = {
        one.id: pair_loads(
            tables[one.id], congestion_control="cubic", conditions=one.conditions, networks=NETWORKS
        )
        for one in rule.harm_conditions
        if one.id in tables
    }
    estimates = estimates_of(ordinary, POPULATIONS, rule=rule, harm_loads=beside)
    return decide(estimates, rule=rule)


def of_16(found: Recommendation) -> CandidateVerdict:
    return next(one for one in found.candidates if one.candidate.window == 16)


def verdicts(found: Recommendation) -> dict[str, tuple[str, str]]:
    return {harm.margin.id: (harm.verdict, harm.condition) for harm in of_16(found).harms}


def test_ids_are_unique_and_every_kind_is_described_and_bounded() -> None:
    ids = [one.id for one in HARM_CONDITIONS]
    assert len(set(ids)) == len(ids) == 24
    assert len(CORE) == 16
    assert len({one.conditions for one in HARM_CONDITIONS}) == 24
    asked = {kind for margin in MARGINS for kind in margin.asked_in}
    assert asked == set(KINDS) == {"ordinary", *(one.kind for one in HARM_CONDITIONS)}


def test_a_candidate_that_does_no_harm_anywhere_is_recommended() -> None:
    found = recommend(harmless())
    assert {one.verdict for one in of_16(found).harms if one.margin.is_required} == {"passed"}
    assert (found.iw, found.is_decided) == (16, True)


def test_a_harm_in_one_condition_stops_the_candidate_and_is_named() -> None:
    tables = harmless() | {
        ALONE.id: there(ALONE, {"short_flow_ms": 200.0}, slow_gain_percent={10: 0, 16: -2})
    }
    found = recommend(tables)
    assert verdicts(found)["slow_mean"] == ("failed", ALONE.id)
    assert (found.iw, found.is_decided) == (None, True)
    assert f"in {ALONE.id}, is not shown to stay below 0.5\u202f%" in of_16(found).sentence


@pytest.mark.parametrize(("lost", "verdict"), [(0.9, "passed"), (1.3, "failed")])
def test_a_margin_of_production_is_held_against_the_weighted_mixture_of_queues(
    lost: float, verdict: str
) -> None:
    """The idle condition adds 0.8 or 1.2 pp, the other one nothing: half of it counts, against 0.5 pp."""
    tables = harmless() | {
        IDLE.id: there(IDLE, {"probe_p95_ms": 60.0}, retransmitted_percent={10: 0.1, 16: lost})
    }
    found = recommend(tables)
    assert verdicts(found)["retransmitted_bytes_average"] == (verdict, MIXTURE)


def test_networks_with_queues_of_their_own_are_the_mixture_themselves() -> None:
    tables = harmless() | {
        IDLE.id: there(IDLE, {"probe_p95_ms": 60.0}, retransmitted_percent={10: 0.1, 16: 5.0})
    }
    found = recommend(tables, dataclasses.replace(QUICK, has_queues_in_population=True))
    assert verdicts(found)["retransmitted_bytes_average"] == ("passed", "ordinary")


@pytest.mark.parametrize(("lost", "verdict"), [(1.0, "passed"), (3.0, "failed")])
def test_more_sent_again_than_the_step_from_3_to_10_added_is_shown_and_decides_nothing(
    lost: float, verdict: str
) -> None:
    """IW 10 sends 2 pp more again than IW 3; the candidate adds 1 or 3 pp to it."""
    table = cells(gain_percent={3: -6, 10: 0, 16: 4}, retransmitted_percent={3: 0.1, 10: 2.1, 16: 2.1 + lost})
    loads = pair_loads(table, congestion_control="cubic")
    rule = dataclasses.replace(QUICK, harm_conditions=(), margins=OWN_STEP[:1])
    found = decide(estimates_of(loads, POPULATIONS, rule=rule), rule=rule)
    (harm,) = of_16(found).harms
    assert harm.worsening is not None
    assert harm.worsening.estimate == pytest.approx(lost - 2, abs=0.02)
    assert (harm.verdict, of_16(found).is_admissible) == (verdict, True)


def test_conditions_that_were_not_replayed_are_not_passed() -> None:
    found = recommend({})
    harms = {harm.margin.id: harm for harm in of_16(found).harms}
    assert harms["retransmitted_bytes_average"].reason == NOT_REPLAYED.reason
    assert (found.iw, found.is_decided) == (None, False)
    assert (
        "0 of the 3 harm conditions that decide were replayed; "
        "the others need `firstflight replay run --harm core`." in found.reasons
    )


def test_a_missing_condition_leaves_the_answer_open() -> None:
    tables = harmless()
    del tables[BULK.id]
    found = recommend(tables)
    assert verdicts(found)["competing_bulk_flow"] == ("not measured", BULK.id)
    assert (found.iw, found.is_decided) == (None, False)


@pytest.mark.parametrize(
    ("candidate_ms", "expected"), [(205.0, "passed"), (207.0, "failed"), (193.0, "passed")]
)
def test_others_short_flows_may_take_three_percent_longer_and_any_less(
    candidate_ms: float, expected: str
) -> None:
    found = recommend(harmless() | {ALONE.id: there(ALONE, {"short_flow_ms": (candidate_ms, 200.0)})})
    assert verdicts(found)["competing_short_flows"] == (expected, ALONE.id)


@pytest.mark.parametrize(("added_ms", "expected"), [(19.0, "passed"), (21.0, "failed")])
def test_a_probe_may_be_delayed_by_twenty_milliseconds_more(added_ms: float, expected: str) -> None:
    found = recommend(harmless() | {IDLE.id: there(IDLE, {"probe_p95_ms": (60 + added_ms, 60.0)})})
    assert verdicts(found)["probe_delay"] == (expected, IDLE.id)


def test_a_bulk_flow_catches_up_after_a_shorter_load() -> None:
    """The load is 10 % shorter, and the bulk flow lacks the bytes that the rate gives in that time:
    no harm."""
    rows = there(BULK, gain_percent={10: 0, 16: 10}, noise_percent=0, spread_percent=0).to_pylist()
    rate = {one["id"]: one["down_bps"] * 1448 / 1514 / 8e3 for one in NETWORKS}
    for row in rows:
        row["competition_bytes"] = round(1_000_000 + rate[row["profile"]] * row["page_ms"])
    found = recommend(harmless() | {BULK.id: pa.Table.from_pylist(rows, schema=CELL)})
    harm = next(one for one in of_16(found).harms if one.margin.id == "competing_bulk_flow")
    assert harm.worsening is not None
    assert harm.worsening.estimate == pytest.approx(0, abs=1e-3)
    assert harm.verdict == "passed"


def test_a_bulk_flow_that_receives_less_in_the_same_time_is_harmed() -> None:
    rows = there(BULK, gain_percent={10: 0, 16: 0}, noise_percent=0, spread_percent=0).to_pylist()
    for row in rows:
        wire = {one["id"]: one["down_bps"] * 1448 / 1514 / 8e3 for one in NETWORKS}[row["profile"]]
        row["competition_bytes"] = round(wire * row["page_ms"] * (0.4 if row["iw"] == 16 else 0.5))
    found = recommend(harmless() | {BULK.id: pa.Table.from_pylist(rows, schema=CELL)})
    harm = next(one for one in of_16(found).harms if one.margin.id == "competing_bulk_flow")
    assert harm.worsening is not None
    assert harm.worsening.estimate == pytest.approx(
        10, abs=0.01
    )  # it lacks a tenth of the bytes of that time
    assert harm.verdict == "failed"


def test_harm_of_fewer_pages_than_the_rule_asks_for_is_not_measured() -> None:
    found = recommend(harmless() | {IDLE.id: there(IDLE, {"probe_p95_ms": 60.0}, pages=8)})
    assert verdicts(found)["probe_delay"] == ("not measured", IDLE.id)


def test_the_worst_condition_has_the_gravest_verdict_and_then_the_largest_excess() -> None:
    def harm(value: float, half: float) -> Harm:
        t = np.linspace(-1, 1, 1001)[:, np.newaxis]
        means = PageMeans(np.array([value]), np.array([half / 2]), 2 * t, 100)
        return Harm(effect=Effect(means=means, column=0, scale="plain"))

    margin = next(one for one in MARGINS if one.id == "slow_mean")
    found: dict[str, Harm | NotEstimable] = {"ordinary": harm(0.1, 0.1), IDLE.id: harm(0.2, 0.1)}
    worst = judge(margin, 10, found, QUICK)
    assert worst is not None
    assert (worst.condition, worst.verdict) == (IDLE.id, "passed")
    for more, verdict in (
        (NotEstimable("no cell"), "not measured"),
        (harm(0.1, 9.0), "too few loads"),
        (harm(0.9, 0.1), "failed"),
    ):
        worst = judge(margin, 10, found | {ALONE.id: more}, QUICK)
        assert worst is not None
        assert (worst.condition, worst.verdict) == (ALONE.id, verdict)
    assert judge(margin, 10, {"elsewhere": harm(9.0, 0.1)}, QUICK) is None


def test_equivalence_is_bounded_on_both_sides() -> None:
    for interval, expected in (
        (Interval(-2.0, -2.5, -1.5), "passed"),
        (Interval(-2.0, -3.5, -0.5), "failed"),
        (Interval(-9.0, -9.5, -8.5), "failed"),
        (Interval(-2.0, -9.0, 5.0), "too few loads"),
    ):
        assert verdict_of(interval, 3.0, is_equivalence=True) == expected
        assert verdict_of(interval, 3.0) in ("passed", "too few loads")


def test_cells_of_a_condition_do_not_mix_with_the_ordinary_ones() -> None:
    both = pa.concat_tables([cells(**QUIET), harmless()[ALONE.id]])
    ordinary = pair_loads(both, congestion_control="cubic")
    assert ordinary.states == pair_loads(cells(**QUIET), congestion_control="cubic").states
    alone = pair_loads(both, congestion_control="cubic", conditions=ALONE.conditions)
    assert set(np.unique(alone.values["short_flow_ms"])) == {200.0, 202.0}
