"""Groups of lines: who would get another answer."""

import dataclasses
import json

import numpy as np
import pytest

from replay.runs.policy import Policy
from tests.verdict.worlds import PACED, RULE_OF_ONE, TEN, quiet, saving
from verdict.closing import Closing, find_closing
from verdict.effects import measure
from verdict.evidence import Evidence
from verdict.judgement import Look, judge
from verdict.ledger import GROUPS, clauses, judge_groups, measure_levels, select_group, share_of
from verdict.stored import encode_verdict, verdict_of


def with_lines(evidence: Evidence, *, slow_resent_pp: float) -> Evidence:
    """Every second stratum has slow lines, over which the larger window sends more again."""
    networks = tuple(
        dataclasses.replace(
            network, down_bps=1e6 if network.stratum % 2 else 50e6, rtt_ms=10.0 + 30 * (at % 3)
        )
        for at, network in enumerate(evidence.networks)
    )
    slow = np.array([network.stratum % 2 for network in networks])[evidence.places]
    values = dict(evidence.values)
    sent = values["bytes_retransmitted"].copy()
    sent[:, 1] += 10 * slow_resent_pp * slow
    values["bytes_retransmitted"] = sent
    return dataclasses.replace(evidence, networks=networks, values=values)


def a_world() -> Evidence:
    return quiet(5, 0.1).evidence(np.random.default_rng(1), pages=100, networks=256, each=2)


def test_lines_for_which_a_larger_window_is_worth_it_and_those_for_which_none_is_are_told_apart() -> None:
    evidence = with_lines(a_world(), slow_resent_pp=2.0)
    look = Look(evidence=evidence)
    rows = {entry.id: entry for entry in judge_groups(look, RULE_OF_ONE)}
    assert (rows["slow"].kind, rows["quick"].kind, rows["quick"].window) == ("stays", "raise", PACED)
    assert "middle" not in rows
    phrases = clauses(tuple(rows.values()), judge([look], RULE_OF_ONE))
    assert len(phrases) == 1
    assert phrases[0].startswith("over lines above 25 Mbps (50")


def test_groups_by_one_bound_share_out_all_lines() -> None:
    evidence = with_lines(a_world(), slow_resent_pp=0.0)
    for column in ("rtt_ms", "down_bps"):
        shares = [share_of(evidence, group) for group in GROUPS if group.column == column]
        assert sum(shares) == pytest.approx(1)


def test_a_group_counts_each_stratum_by_the_part_of_it_that_is_inside() -> None:
    evidence = with_lines(a_world(), slow_resent_pp=0.0)
    group = next(group for group in GROUPS if group.id == "rtt-20")
    inside = select_group(evidence, group)
    assert {evidence.networks[place].rtt_ms for place in inside.places} == {10.0}
    assert share_of(evidence, group) == pytest.approx(1 / 3, abs=0.01)


def test_noise_of_pairs_is_closed_by_loads_and_differences_of_pages_by_pages_alone() -> None:
    for of_pages, of_pairs in ((0.0001, 0.4), (0.2, 0.0001)):
        world = dataclasses.replace(saving(4, 0.3), of_pages=of_pages, of_networks=0.0, of_pairs=of_pairs)
        evidence = world.evidence(np.random.default_rng(3), pages=60, networks=64, each=4)
        answer = judge([Look(evidence=evidence)], RULE_OF_ONE)
        assert answer.of(PACED).verdict == "open"
        effects = measure(evidence, [PACED], incumbent=TEN)
        needed = find_closing(effects, answer.of(PACED), RULE_OF_ONE)
        assert (needed.loads is None) is (of_pages > of_pairs)
        assert needed.pages is not None
        assert needed.pages > 1


@pytest.mark.parametrize(
    ("loads", "pages", "sentence"),
    [
        (2.01, 1.0, "Deciding on IW 20 takes about 3 times the loads."),
        (5_000.0, 1.0, "Deciding on IW 20 takes more than 100 times the loads."),
        (None, 8.9, "Deciding on IW 20 takes about 9 times the pages; more loads alone will not do."),
        (None, None, "How many loads or pages decide on IW 20 is not known."),
    ],
)
def test_a_factor_beyond_what_is_feasible_is_not_stated(
    loads: float | None, pages: float | None, sentence: str
) -> None:
    assert Closing(window=Policy(20), loads=loads, pages=pages).sentence == sentence


def test_what_the_incumbent_sends_again_is_told_by_class_of_rate() -> None:
    evidence = with_lines(a_world(), slow_resent_pp=0.0)
    slow = np.array([network.stratum % 2 for network in evidence.networks])[evidence.places]
    sent = evidence.values["bytes_retransmitted"].copy()
    sent[:, 0] = np.where(slow, 40.0, 10.0)
    looked = dataclasses.replace(evidence, values={**evidence.values, "bytes_retransmitted": sent})
    by_group_id = {level.id: level for level in measure_levels(Look(evidence=looked), RULE_OF_ONE)}
    assert {*by_group_id} == {"slow", "quick"}
    assert by_group_id["slow"].resent_percent.estimate == pytest.approx(4.0)
    assert by_group_id["quick"].resent_percent.estimate == pytest.approx(1.0)
    assert by_group_id["slow"].share == pytest.approx(0.5)


def test_where_too_few_draws_give_no_interval_nothing_is_said_of_what_closes_it() -> None:
    evidence = a_world().where(np.arange(512) < 2)
    answer = judge([Look(evidence=evidence)], RULE_OF_ONE)
    assert answer.of(PACED).verdict == "open"
    needed = find_closing(measure(evidence, [PACED], incumbent=TEN), answer.of(PACED), RULE_OF_ONE)
    assert (needed.loads, needed.pages) == (None, None)
    assert needed.sentence.endswith("decide on IW 16 paced is not known.")
    verdict = verdict_of(answer, RULE_OF_ONE, closing=(needed,))
    assert json.loads(encode_verdict(verdict))["closing"][0]["pages"] is None
