"""Answers of the rule for made-up cells."""

import dataclasses
from collections.abc import Sequence

import pyarrow as pa
import pytest

from replay.runs.conditions import Competition, Conditions, Loss
from reports.recommendation.candidates import CANDIDATES, Candidate
from reports.recommendation.estimates import estimates_of
from reports.recommendation.recommend import decide
from reports.recommendation.rule import MARGINS, UNMEASURED, Margin, Unmeasured
from reports.recommendation.sensitivity import sensitivity
from reports.statistics.paired_loads import pair_loads
from schema.computed_tables import CELL
from tests.factories.made_up import POPULATIONS, cells
from tests.factories.recommendations import QUICK, recommend


def test_a_larger_window_that_gains_and_does_no_harm_is_recommended() -> None:
    found = recommend(cells(gain_percent={3: -6, 10: 0, 16: 4, 30: 4.3}))
    assert (found.iw, found.is_decided) == (16, True)
    assert found.answer == "IW 16"
    assert found.reasons[0].startswith("IW 16 saves 4.")
    assert found.reasons[-1].startswith("Not measured in this edition, and not counted as passed: ")


def test_a_still_larger_window_is_recommended_where_it_gains_again() -> None:
    found = recommend(cells(gain_percent={3: -6, 10: 0, 16: 4, 30: 7}))
    assert found.iw == 30
    assert next(v for v in found.candidates if v.candidate.window == 16).surpassed_by == (30,)


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
    verdict = next(v for v in found.candidates if v.candidate.window == 16)
    assert (verdict.is_worthwhile, verdict.is_admissible) == (True, False)
    failed = {harm.margin.id for harm in verdict.harms if harm.verdict == "failed" and not harm.permits}
    assert failed == {
        "retransmitted_bytes_average",
        "retransmitted_bytes_slow",
        "responses_retransmitted_average",
    }
    # This bound is exceeded by the largest multiple of all that are not met.
    assert "responses with any retransmission, average population, worse by 1.90\u202fpp" in verdict.sentence


def test_a_harmful_window_does_not_surpass_a_harmless_one() -> None:
    table = cells(gain_percent={3: -6, 10: 0, 16: 4, 30: 9}, retransmitted_percent={30: 4.0})
    assert recommend(table).iw == 16


def test_a_gain_of_the_average_does_not_excuse_a_loss_of_the_slow() -> None:
    table = cells(gain_percent={3: 0, 10: 0, 16: 40, 30: 0}, slow_gain_percent={3: 0, 10: 0, 16: -1.5, 30: 0})
    found = recommend(table)
    assert found.iw is None
    verdict = next(v for v in found.candidates if v.candidate.window == 16)
    assert verdict.is_worthwhile
    assert "slow_mean" in {harm.margin.id for harm in verdict.harms if harm.verdict == "failed"}


@pytest.mark.parametrize(
    "arm",
    [
        Conditions(pacing=True),
        Conditions(loss=Loss(share=0.0)),
        Conditions(loss=Loss(share=0.01, burst=4)),
        Conditions(competition=Competition(flows=1, congestion_control="cubic", iw=10)),
        Conditions(congestion_control="bbr"),
        Conditions(server_delay=False),
        Conditions(tls_records="16k"),
        Conditions(discovery="last-byte"),
        Conditions(warm_cache=True),
    ],
)
def test_cells_under_other_conditions_do_not_count(arm: Conditions) -> None:
    table = cells(gain_percent={10: 0, 16: 4}).to_pylist()
    others = [{**row, **arm.columns(), "page_ms": row["page_ms"] * row["iw"]} for row in table]
    both = pa.Table.from_pylist(table + others, schema=CELL)
    assert recommend(both) == recommend(pa.Table.from_pylist(table, schema=CELL))
    assert not pair_loads(pa.Table.from_pylist(others, schema=CELL), congestion_control="cubic").pages


def test_harm_is_bounded_against_last_years_window_and_against_ten() -> None:
    table = cells(gain_percent={3: -6, 10: 0, 16: 4, 30: 9}, retransmitted_percent={16: 0.35, 30: 0.75})
    loads = pair_loads(table, congestion_control="cubic")
    margins = tuple(m for m in MARGINS if m.measure == "retransmitted_bytes")
    rule = dataclasses.replace(QUICK, margins=margins)
    found = decide(estimates_of(loads, POPULATIONS, rule=rule, last_years=16), rule=rule)
    assert found.incumbent == 16
    verdict = next(v for v in found.candidates if v.candidate.window == 30)
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


def test_sensitivity_gives_the_answers_under_other_bounds() -> None:
    table = cells(
        gain_percent={3: -6, 10: 0, 16: 1.5, 30: 4}, retransmitted_percent={30: 0.7}, spread_percent=0.5
    )
    estimates = estimates_of(pair_loads(table, congestion_control="cubic"), POPULATIONS, rule=QUICK)
    assert decide(estimates, rule=QUICK).iw == 16
    answers = {variant.id: found.answer for variant, found in sensitivity(estimates, rule=QUICK)}
    assert answers["worthwhile_double"] == "no change"
    assert answers["harm_ignored"] == "IW 30"
    assert answers["margins_half"] == "IW 16"


def test_the_same_cells_give_the_same_recommendation() -> None:
    table = cells(gain_percent={3: -6, 10: 0, 16: 4, 30: 4.3})
    assert recommend(table) == recommend(table.take(list(range(table.num_rows))[::-1]))


def test_ids_of_the_rule_are_unique_and_each_entry_names_its_source() -> None:
    every: tuple[Sequence[Candidate | Margin | Unmeasured], ...] = (CANDIDATES, MARGINS, UNMEASURED)
    for entries in every:
        ids = [entry.id for entry in entries]
        assert len(set(ids)) == len(ids)
        assert all(entry.source for entry in entries)
