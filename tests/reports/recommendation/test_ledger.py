"""The ledger: which inputs turn the answer, by made-up loads at the ends of their ranges."""

import dataclasses
from typing import Any

import pytest

from replay.runs.conditions import HANDSHAKES, Conditions
from reports.recommendation.estimates import estimates_of
from reports.recommendation.inputs import ENDS, INPUTS, End
from reports.recommendation.ledger import CHOICES, Entry, Sample, ledger
from reports.recommendation.recommend import decide
from reports.recommendation.sensitivity import sensitivity, variants
from reports.statistics.paired_loads import pair_loads
from tests.factories.made_up import POPULATIONS, cells
from tests.factories.recommendations import QUICK

DEFAULT: dict[str, Any] = {"gain_percent": {10: 0, 16: 4.0, 30: 4.2}, "spread_percent": 0.5}


def sample(*, profiles: tuple[str, ...] = ("cable", "slow"), **made_up: Any) -> Sample:
    table = cells(**{**DEFAULT, "pages": 20, "seeds": 1, "profiles": profiles, **made_up})
    return Sample(loads=pair_loads(table, congestion_control="cubic"), weights=POPULATIONS)


def end(name: str, side: str) -> End:
    found: End = getattr(next(one for one in INPUTS if one.id == name), side)
    return found


def entries(at_ends: dict[End, Sample]) -> dict[str, Entry]:
    estimates = estimates_of(
        pair_loads(cells(**DEFAULT), congestion_control="cubic"), POPULATIONS, rule=QUICK
    )
    found = ledger(
        estimates,
        decide(estimates, rule=QUICK),
        sensitivity(estimates, rule=QUICK),
        at_ends,
        sample() if at_ends else None,
        window=16,
        rule=QUICK,
    )
    return {one.input: one for one in found}


def test_an_input_that_takes_the_gain_away_turns_the_answer() -> None:
    found = entries(
        {
            end("discovery", "low"): sample(gain_percent={10: 0, 16: 0.6, 30: 0.8}),
            end("discovery", "high"): sample(gain_percent={10: 0, 16: 6.0, 30: 9.0}),
        }
    )["discovery"]
    assert (found.low, found.default, found.high) == ("first byte", "as recorded", "last byte")
    assert (found.answer_low, found.answer_default, found.answer_high) == ("no change", "IW 16", "IW 30")
    assert found.turns
    assert (found.window, found.pages) == (16, 20)
    assert found.basis == "a few pages, by estimates, with harm in ordinary loads alone"
    assert found.gain_low is not None
    assert found.gain_default is not None
    assert found.gain_high is not None
    assert found.gain_low.estimate == pytest.approx(0.6, abs=0.4)
    assert found.gain_default.lower < 4 < found.gain_default.upper
    assert found.gain_high.estimate == pytest.approx(6, abs=0.4)


def test_an_input_that_brings_harm_turns_the_answer() -> None:
    lossy = sample(retransmitted_percent={16: 2.0, 30: 4.0})
    found = entries({end("loss", "high"): lossy})["loss"]
    assert (found.answer_low, found.answer_default, found.answer_high) == (None, "IW 16", "no change")
    assert (found.low, found.gain_low) == (None, None)


def test_an_end_that_was_not_replayed_is_unknown_and_no_answer() -> None:
    found = entries({end("pacing", "high"): sample()})
    assert set(found) == {*(one.id for one in CHOICES), "pacing"}
    assert not found["pacing"].turns
    assert set(entries({})) == {one.id for one in CHOICES}


def test_choices_of_the_rule_have_the_answers_of_their_variants() -> None:
    found = entries({})
    assert found["worthwhile"].answer_high == "IW 16"
    widths = [
        one.upper - one.lower
        for one in (
            found["confidence"].gain_low,
            found["confidence"].gain_default,
            found["confidence"].gain_high,
        )
        if one
    ]
    assert widths == sorted(widths)
    assert len(set(widths)) == 3


def test_estimates_of_a_few_pages_have_an_answer_where_chance_leaves_the_whole_replay_undecided() -> None:
    one_seed = pair_loads(cells(**DEFAULT, pages=120, seeds=1), congestion_control="cubic")
    estimates = estimates_of(one_seed, POPULATIONS, rule=QUICK)
    answer = decide(estimates, rule=QUICK)
    assert not answer.is_decided
    ends = {end("pacing", "high"): sample(gain_percent={10: 0, 16: 0.2, 30: 0.3})}
    found = {one.input: one for one in ledger(estimates, answer, [], ends, sample(), window=16, rule=QUICK)}
    assert found["worthwhile"].answer_default == "undecided"
    assert (found["pacing"].answer_default, found["pacing"].answer_high) == ("IW 16", "no change")


def test_an_answer_that_is_not_decided_is_no_answer_of_no_change() -> None:
    noisy = dataclasses.replace(QUICK, minimum_pages=100)
    estimates = estimates_of(
        pair_loads(cells(**DEFAULT), congestion_control="cubic"), POPULATIONS, rule=noisy
    )
    found = ledger(estimates, decide(estimates, rule=noisy), [], {}, None, window=16, rule=noisy)
    assert {one.answer_default for one in found} == {"undecided"}


def test_every_condition_of_a_load_is_an_input_with_an_end() -> None:
    changed = {
        one.name
        for one in dataclasses.fields(Conditions)
        for end in ENDS
        if getattr(end.conditions, one.name) != one.default
    }
    # Bulk flows are of the harm conditions, and the alias route is the comparison of a window with itself.
    assert {one.name for one in dataclasses.fields(Conditions)} - changed == {"competition", "alias"}
    handshakes = {end.conditions.tls_handshake for end in ENDS}
    assert handshakes == set(HANDSHAKES)


def test_ids_are_unique_and_every_input_has_an_end_and_a_source() -> None:
    ids = [*(one.id for one in INPUTS), *(one.id for one in CHOICES)]
    assert len(set(ids)) == len(ids)
    assert all(one.ends and one.source for one in INPUTS)
    assert len(set(ENDS)) == len(ENDS)
    known = {one.id for one in variants()} | {"harm_beyond_core"}
    assert {side[1] for one in CHOICES for side in (one.low, one.high) if side} <= known
