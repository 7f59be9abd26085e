"""The rule's choices in the ledger of a replay in stages, over a made-up world whose gain is known."""

import pytest

from reports.answer.choices_of_stages import choices_of
from reports.decision.stage import Stage
from reports.decision.stored_problem import StagedReplay
from reports.decision.until_decided import Budget, until_decided
from reports.recommendation.ledger import CHOICES, Entry
from tests.reports.decision.worlds import World, problem

SAVES_LITTLE = World(saves={16: -0.013}, sends_again={16: 0.0}, of_page=0.01, of_load=0.01)
"""IW 16 saves 1.3 %: more than the rule asks for, and less than twice as much."""


@pytest.fixture(scope="module")
def entries() -> dict[str, Entry]:
    asked = problem(windows=(10, 16))
    stages: list[Stage] = []
    found = until_decided(
        asked,
        [],
        budget=Budget(amount=8.0),
        guests=1,
        load=SAVES_LITTLE.load,
        keep=lambda _number, stage: stages.append(stage),
    )
    assert found.standing.answers == {16}
    staged = StagedReplay(
        problem=asked, stages=tuple(stages), provenance={}, plan="made up", checksum="", facts=()
    )
    return {one.input: one for one in choices_of(staged, window=16)}


def test_every_choice_of_the_rule_has_an_entry(entries: dict[str, Entry]) -> None:
    assert list(entries) == [one.id for one in CHOICES]
    assert {one.basis for one in entries.values()} == {"all loads in stages, by intervals"}
    assert {one.answer_default for one in entries.values()} == {"IW 16"}


def test_a_gain_between_the_ends_of_what_is_worthwhile_turns_the_answer(entries: dict[str, Entry]) -> None:
    worthwhile = entries["worthwhile"]
    assert (worthwhile.answer_low, worthwhile.answer_high, worthwhile.turns) == ("IW 16", "no change", True)
    assert worthwhile.window == 16
    assert worthwhile.gain_default is not None
    assert 1 < worthwhile.gain_default.lower < 1.3 < worthwhile.gain_default.upper < 2


def test_a_wider_confidence_has_a_wider_interval_around_the_same_gain(entries: dict[str, Entry]) -> None:
    low, default, high = (
        one
        for one in (
            entries["confidence"].gain_low,
            entries["confidence"].gain_default,
            entries["confidence"].gain_high,
        )
        if one is not None
    )
    assert low.estimate == default.estimate == high.estimate
    assert high.lower < default.lower < low.lower < low.upper < default.upper < high.upper
