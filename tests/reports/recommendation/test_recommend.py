"""Each answer of the rule, and each reason for it, brought out by made-up cells."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from releases.interval import Interval
from replay.runs.conditions import Competition, Conditions, Loss
from reports.recommendation.choice import choose
from reports.recommendation.estimates import estimates_of
from reports.recommendation.harm_verdicts import HarmVerdict, verdict_of
from reports.recommendation.recommend import Recommendation, decide
from reports.recommendation.rule import (
    CANDIDATES,
    MARGINS,
    RULE,
    UNMEASURED,
    Candidate,
    Margin,
    Role,
    Unmeasured,
)
from reports.recommendation.sensitivity import sensitivity
from reports.recommendation.window_pair import NotEstimable
from reports.statistics.paired_loads import CellsError, pair_loads
from schema.computed_tables import CELL
from tests.factories.made_up import POPULATIONS, cells

if TYPE_CHECKING:
    from collections.abc import Sequence

FIG_2_MEANS_MS = {3: 489.8, 6: 474.6, 10: 467.5, 16: 466.1, 26: 466.8, 42: 468.2}
"""Dukkipati et al. 2010, Fig. 2: mean latency of web search by initial window."""

QUICK = dataclasses.replace(RULE, replicates=400, harm_conditions=())
"""Harm is asked in the ordinary cells alone, but where a test says otherwise."""


def recommend(table: pa.Table) -> Recommendation:
    loads = pair_loads(table, congestion_control="cubic")
    return decide(estimates_of(loads, POPULATIONS, rule=QUICK), rule=QUICK)


def fig_2_gain(window: int, against: int) -> float:
    return 100 * (1 - FIG_2_MEANS_MS[window] / FIG_2_MEANS_MS[against])


def test_fig_2_of_2010_gives_ten_where_three_was_in_force() -> None:
    assert choose([*FIG_2_MEANS_MS], incumbent=3, admissible={*FIG_2_MEANS_MS}, lower_gain=fig_2_gain) == 10


def test_fig_2_of_2010_leaves_ten_where_ten_is_in_force() -> None:
    chosen = choose([*FIG_2_MEANS_MS], incumbent=10, admissible={*FIG_2_MEANS_MS}, lower_gain=fig_2_gain)
    assert chosen is None


def test_fig_2_with_a_lower_bound_asks_for_more() -> None:
    chosen = choose(
        [*FIG_2_MEANS_MS],
        incumbent=3,
        admissible={*FIG_2_MEANS_MS},
        lower_gain=fig_2_gain,
        worthwhile_percent=0.2,
    )
    assert chosen == 16


def test_fig_2_without_ten_admissible_gives_sixteen() -> None:
    admissible = {*FIG_2_MEANS_MS} - {10}
    assert choose([*FIG_2_MEANS_MS], incumbent=3, admissible=admissible, lower_gain=fig_2_gain) == 16


def test_a_larger_window_that_gains_and_does_no_harm_is_recommended() -> None:
    found = recommend(cells(gain_percent={3: -6, 10: 0, 16: 4, 30: 4.3}))
    assert (found.iw, found.is_decided) == (16, True)
    assert found.answer == "IW 16"
    assert found.reasons[0].startswith("IW 16 saves 4.")
    assert found.reasons[-1].startswith("Not measured in this edition, and not counted as passed: ")


def test_a_still_larger_window_is_recommended_where_it_gains_again() -> None:
    found = recommend(cells(gain_percent={3: -6, 10: 0, 16: 4, 30: 7}))
    assert found.iw == 30
    assert next(v for v in found.candidates if v.candidate.segments == 16).surpassed_by == (30,)


def test_a_smaller_window_is_recommended_where_it_gains() -> None:
    assert recommend(cells(gain_percent={3: 5, 10: 0, 16: -3, 30: -9})).iw == 3


def test_no_change_where_nothing_gains_enough() -> None:
    found = recommend(cells(gain_percent={3: -6, 10: 0, 16: 0.4, 30: 0.5}))
    assert (found.iw, found.is_decided, found.answer) == (None, True, "no change")
    assert found.reasons[0] == (
        "No candidate is admissible, worthwhile against IW 10 and unsurpassed: IW 10 stays."
    )
    assert "IW 10 saves 5.6" in found.reasons[-1]


def test_no_change_where_the_gain_costs_retransmissions() -> None:
    table = cells(gain_percent={3: -6, 10: 0, 16: 4, 30: 5}, retransmitted_percent={16: 2.0, 30: 4.0})
    found = recommend(table)
    assert (found.iw, found.is_decided) == (None, True)
    verdict = next(v for v in found.candidates if v.candidate.segments == 16)
    assert (verdict.is_worthwhile, verdict.is_admissible) == (True, False)
    failed = {harm.margin.id for harm in verdict.harms if harm.verdict == "failed"}
    assert failed == {
        "retransmitted_bytes_average",
        "retransmitted_bytes_slow",
        "responses_retransmitted_average",
    }
    assert "retransmitted bytes, average population, worse by 1.90 pp" in verdict.sentence


def test_a_harmful_window_does_not_surpass_a_harmless_one() -> None:
    table = cells(gain_percent={3: -6, 10: 0, 16: 4, 30: 9}, retransmitted_percent={30: 4.0})
    assert recommend(table).iw == 16


def test_a_gain_of_the_many_does_not_excuse_a_loss_of_the_slow() -> None:
    table = cells(gain_percent={3: 0, 10: 0, 16: 40, 30: 0}, slow_gain_percent={3: 0, 10: 0, 16: -1.5, 30: 0})
    found = recommend(table)
    assert found.iw is None
    verdict = next(v for v in found.candidates if v.candidate.segments == 16)
    assert verdict.is_worthwhile
    assert "slow_mean" in {harm.margin.id for harm in verdict.harms if harm.verdict == "failed"}


LEVEL = tuple(margin for margin in MARGINS if margin.is_level)


def level_of(incumbents_percent: float, candidates_percent: float) -> HarmVerdict:
    """The verdict on loss inside the window, alone."""
    table = cells(
        gain_percent={10: 0, 16: 4}, retransmitted_percent={10: incumbents_percent, 16: candidates_percent}
    )
    rule = dataclasses.replace(QUICK, margins=LEVEL)
    found = decide(
        estimates_of(pair_loads(table, congestion_control="cubic"), POPULATIONS, rule=rule), rule=rule
    )
    (verdict,) = next(v for v in found.candidates if v.candidate.segments == 16).harms
    return verdict


def test_loss_inside_the_window_is_held_as_a_level() -> None:
    verdict = level_of(4.8, 5.2)
    assert (verdict.verdict, verdict.is_level, verdict.limit) == ("failed", True, 5.0)
    assert level_of(4.0, 4.9).verdict == "passed"


def test_a_level_that_the_incumbent_breaks_too_is_held_as_a_worsening() -> None:
    verdict = level_of(6.0, 6.5)
    assert (verdict.verdict, verdict.is_level, verdict.limit) == ("passed", False, 0.76)
    assert verdict.worsening is not None
    assert verdict.worsening.estimate == pytest.approx(0.5)
    worse = level_of(6.0, 7.0)
    assert (worse.verdict, worse.is_level) == ("failed", False)
    assert "worse by 1.00 pp" in worse.objection


def test_where_nothing_was_lost_the_bound_knows_how_few_loads_that_were() -> None:
    """24 pages with 4 seeds; the profile that weighs most, 0.7, could hide what the others do not show."""
    harm = estimates_of(
        pair_loads(
            cells(gain_percent={10: 0, 16: 4}, retransmitted_percent={10: 0.0, 16: 0.0}),
            congestion_control="cubic",
        ),
        POPULATIONS,
        rule=QUICK,
    ).harms["retransmitted_bytes_average", 16, 10]["ordinary"]
    assert not isinstance(harm, NotEstimable)
    interval = harm.interval(0.95)
    assert interval.estimate == 0
    assert interval.upper == pytest.approx(100 * (1 - 0.025 ** (0.7 / 96)))
    assert interval.lower == -interval.upper


def test_a_bound_that_the_loads_cannot_tell_is_neither_kept_nor_broken() -> None:
    """Nothing is ever lost: 96 loads cannot rule out 0.2 % of responses."""
    found = recommend(
        cells(gain_percent={10: 0, 16: 4}, retransmitted_percent={10: 0.0, 16: 0.0}, noise_percent=0.01)
    )
    verdict = next(v for v in found.candidates if v.candidate.segments == 16)
    assert "too few loads" in {h.verdict for h in verdict.harms}
    assert "failed" not in {h.verdict for h in verdict.harms}
    assert (verdict.is_admissible, found.iw, found.is_decided) == (False, None, False)
    assert found.reasons[-1].startswith("IW 16 would be the answer, but too little is known of its harm: ")


def test_harm_beyond_doubt_is_failed_however_wide_its_interval() -> None:
    assert verdict_of(Interval(9.0, 1.0, 17.0), 0.5) == "failed"
    assert verdict_of(Interval(0.6, 0.55, 0.65), 0.5) == "failed"
    assert verdict_of(Interval(0.2, -9.0, 9.4), 0.5) == "too few loads"
    assert verdict_of(Interval(-9.0, -18.0, 0.4), 0.5) == "passed"


@pytest.mark.parametrize(
    "arm",
    [
        Conditions(pacing=True),
        Conditions(loss=Loss(share=0.0)),
        Conditions(loss=Loss(share=0.01, burst=4)),
        Conditions(competition=Competition(flows=1, congestion_control="cubic", iw=10)),
        Conditions(congestion_control="bbr"),
        Conditions(server_delay=True),
        Conditions(warm_cache=True),
    ],
)
def test_cells_under_other_conditions_have_no_say(arm: Conditions) -> None:
    table = cells(gain_percent={10: 0, 16: 4}).to_pylist()
    others = [{**row, **arm.columns(), "page_ms": row["page_ms"] * row["iw"]} for row in table]
    both = pa.Table.from_pylist(table + others, schema=CELL)
    assert recommend(both) == recommend(pa.Table.from_pylist(table, schema=CELL))
    assert not pair_loads(pa.Table.from_pylist(others, schema=CELL), congestion_control="cubic").pages


def test_a_p99_without_enough_loads_is_not_measured_and_not_passed() -> None:
    found = recommend(cells(gain_percent={10: 0, 16: 4}))
    verdict = next(v for v in found.candidates if v.candidate.segments == 16)
    unmeasured = {harm.margin.id: harm.reason for harm in verdict.harms if harm.verdict == "not measured"}
    assert unmeasured == {
        "page_time_p95": "needs 200 paired loads, has 192",
        "page_time_p99": "needs 1000 paired loads, has 192",
        "page_time_p999": "needs 10000 paired loads, has 192",
    }


@pytest.mark.parametrize(("pages", "expected"), [(5, "too few loads"), (20, "failed")])
def test_a_tail_that_grows_stops_a_candidate(pages: int, expected: str) -> None:
    table = cells(gain_percent={10: 0, 16: 4}, pages=30).to_pylist()
    for row in table:
        if row["iw"] == 16 and row["profile"] == "slow" and row["page"] >= f"page{30 - pages}":
            row["page_ms"] *= 1.2
    found = recommend(pa.Table.from_pylist(table, schema=CELL))
    verdict = next(v for v in found.candidates if v.candidate.segments == 16)
    assert {h.margin.id: h.verdict for h in verdict.harms}["page_time_p95"] == expected
    assert not verdict.is_admissible


def test_without_a_slow_profile_the_required_margins_stop_every_candidate() -> None:
    populations: dict[Role, dict[str, float]] = {"average": {"cable": 1.0}, "slow": {"slow": 1.0}}
    table = cells(gain_percent={10: 0, 16: 4}, profiles=("cable",))
    loads = pair_loads(table, congestion_control="cubic")
    found = decide(estimates_of(loads, populations, rule=QUICK), rule=QUICK)
    assert found.iw is None
    assert "could not be measured (no cell of the profiles slow)" in " ".join(found.reasons)


def test_the_aa_gate_fails_where_seeds_alone_move_page_times() -> None:
    found = recommend(cells(gain_percent={3: -6, 10: 0, 16: 8, 30: 8}, noise_percent=12, seeds=3))
    aa = next(check for check in found.checks if check.id == "aa")
    assert (found.iw, found.is_decided, aa.passed) == (None, False, False)
    assert "too few loads to tell; about" in found.reasons[0]


def test_the_aa_gate_is_not_passed_by_luck() -> None:
    """Three seeds with 2 % of noise: whatever the difference is, chance moves it by more than the bound."""
    for seed_noise in (2.0, 3.0, 4.0):
        found = recommend(cells(gain_percent={10: 0, 16: 8}, noise_percent=seed_noise, seeds=3))
        assert not next(check for check in found.checks if check.id == "aa").passed


def test_chance_in_the_aa_gate_is_what_repetition_finds() -> None:
    """The stated chance covers about 95 % of the differences that other seeds give."""
    inside = 0
    for draw in range(60):
        table = cells(gain_percent={10: 0}, noise_percent=2.0, seeds=4, pages=12, draw=draw)
        found = estimates_of(pair_loads(table, congestion_control="cubic"), POPULATIONS, rule=QUICK).aa
        assert not isinstance(found, NotEstimable)
        inside += abs(found.deviation_percent) <= found.chance_percent
    assert 52 <= inside <= 60


def test_the_aa_gate_proves_nothing_without_loss() -> None:
    found = recommend(cells(gain_percent={10: 0, 16: 4}, retransmitted_percent={10: 0.0, 16: 0.0}))
    assert (found.iw, found.is_decided) == (None, False)
    assert (
        found.reasons[0]
        == "The A/A comparison could not be made: no page was loaded under loss with two seeds."
    )


def test_too_few_pages_decide_nothing() -> None:
    found = recommend(cells(gain_percent={10: 0, 16: 8}, pages=12))
    assert (found.iw, found.is_decided) == (None, False)
    assert "12 pages pair in the smallest comparison; the rule asks for 20." in found.reasons


def test_too_few_seeds_decide_nothing() -> None:
    found = recommend(cells(gain_percent={10: 0, 16: 8}, seeds=2))
    assert found.reasons == ("Each page has at least 2 paired seeds; the rule asks for 3.",)


def test_an_interval_too_wide_decides_nothing() -> None:
    found = recommend(cells(gain_percent={10: 0, 16: 2}, spread_percent=15))
    power = next(check for check in found.checks if check.id == "power")
    assert (found.iw, found.is_decided, power.passed) == (None, False, False)


def test_refused_cells_are_left_out_counted_and_stop_the_answer_when_many() -> None:
    few = frozenset({("page03.test", 16, 2)})
    table = cells(gain_percent={10: 0, 16: 4}, refused=few)
    loads = pair_loads(table, congestion_control="cubic")
    assert loads.states == {"done": 382, "refused": 2}
    assert [(m.profile, m.iw, m.state, m.cells) for m in loads.missing] == [
        ("cable", 16, "refused", 1),
        ("slow", 16, "refused", 1),
    ]
    assert recommend(table).iw == 16
    many = frozenset((f"page{page:02}.test", 16, 2) for page in range(24))
    found = recommend(cells(gain_percent={10: 0, 16: 4}, refused=many))
    assert (found.iw, found.is_decided) == (None, False)
    assert (
        "On each network and at each window at least 75.0 % of the cells are done; the rule asks for 95 %."
        in found.reasons
    )


def test_a_refused_cell_takes_its_pair_out_with_it() -> None:
    """Page 3 would turn the mean were its one slow load at IW 10 held against nothing."""
    lone = frozenset(("page03.test", 16, seed) for seed in range(1, 5))
    loads = pair_loads(cells(gain_percent={10: 0, 16: 4}, refused=lone), congestion_control="cubic")
    estimates = estimates_of(loads, POPULATIONS, rule=QUICK)
    assert estimates.pages == 23
    found = estimates.gains[16, 10]
    assert not isinstance(found, NotEstimable)
    assert found.pages == 23


def test_a_replay_without_the_incumbent_decides_nothing() -> None:
    found = recommend(cells(gain_percent={3: 0, 16: 4}))
    assert (found.iw, found.is_decided) == (None, False)
    assert "The incumbent IW 10 was not replayed." in found.reasons


def test_last_years_window_is_the_incumbent_and_ten_stays_one_too() -> None:
    table = cells(gain_percent={3: -6, 10: 0, 16: 4, 30: 9}, retransmitted_percent={16: 0.35, 30: 0.75})
    loads = pair_loads(table, congestion_control="cubic")
    margins = tuple(m for m in MARGINS if m.measure == "retransmitted_bytes")
    rule = dataclasses.replace(QUICK, margins=margins)
    found = decide(estimates_of(loads, POPULATIONS, rule=rule, last_years=16), rule=rule)
    assert found.incumbent == 16
    verdict = next(v for v in found.candidates if v.candidate.segments == 30)
    assert {(h.against, h.verdict) for h in verdict.harms if h.margin.population == "average"} == {
        (16, "passed"),
        (10, "failed"),
    }
    assert found.iw is None


@pytest.mark.parametrize(
    ("gains", "allowed"), [({10: 0, 16: 4}, 12), ({10: 0, 16: 0.1}, 10), ({3: 5, 10: 0}, 3)]
)
def test_rfc_9040_grows_by_two_segments_a_year_at_most(gains: dict[int, float], allowed: int) -> None:
    assert recommend(cells(gain_percent=gains)).rfc9040_iw == allowed


def test_sensitivity_says_what_another_bound_would_do() -> None:
    table = cells(
        gain_percent={3: -6, 10: 0, 16: 1.5, 30: 4}, retransmitted_percent={30: 0.7}, spread_percent=0.5
    )
    estimates = estimates_of(pair_loads(table, congestion_control="cubic"), POPULATIONS, rule=QUICK)
    assert decide(estimates, rule=QUICK).iw == 16
    answers = {variant.id: found.answer for variant, found in sensitivity(estimates, rule=QUICK)}
    assert answers["worthwhile_double"] == "no change"
    assert answers["harm_ignored"] == "IW 30"
    assert answers["margins_half"] == "IW 16"


def test_another_congestion_control_does_not_mix_in() -> None:
    table = cells(gain_percent={10: 0, 16: 4})
    assert pair_loads(table, congestion_control="bbr").pages == ()


def test_a_cell_that_stands_twice_is_refused() -> None:
    table = cells(gain_percent={10: 0})
    with pytest.raises(CellsError, match="occurs twice"):
        pair_loads(pa.concat_tables([table, table.slice(0, 1)]), congestion_control="cubic")


def test_the_same_cells_give_the_same_recommendation() -> None:
    table = cells(gain_percent={3: -6, 10: 0, 16: 4, 30: 4.3})
    assert recommend(table) == recommend(table.take(list(range(table.num_rows))[::-1]))


def test_ids_of_the_rule_are_unique_and_each_judgement_names_its_source() -> None:
    every: tuple[Sequence[Candidate | Margin | Unmeasured], ...] = (CANDIDATES, MARGINS, UNMEASURED)
    for judgements in every:
        ids = [judgement.id for judgement in judgements]
        assert len(set(ids)) == len(ids)
        assert all(judgement.source for judgement in judgements)
