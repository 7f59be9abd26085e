"""The tables of a verdict: every form has the same rows, and no row says more than the verdict."""

import dataclasses
from typing import Any

import pytest

from replay.runs.policy import Policy
from reports.sections.verdict import (
    describe_plane,
    describe_turns,
    lists_section,
    otherwise_section,
    policies_table,
    policy_rows,
    rate_classes_table,
    round_trips_table,
)
from tests.factories.answers import made_up_verdict
from tests.verdict.made_up import FAR
from verdict.verdict import Verdict

RAISED = made_up_verdict("raise")


def row_of(verdict: Verdict, policy: str) -> dict[str, Any]:
    (row,) = (row for row in policy_rows(verdict) if row["policy"] == policy)
    return dict(row)


def test_a_row_has_gain_and_cost_in_both_units_and_what_others_pay() -> None:
    row = row_of(RAISED, "16 paced, beyond 100 ms")
    assert row["standing"] == "worth it, recommended"
    assert row["gain"]["estimate"] == pytest.approx(6 / 3, abs=0.1)
    assert row["resent"]["estimate"] == pytest.approx(0.05 / 3, abs=0.01)
    assert row["dropped"]["estimate"] == row["spurious"]["estimate"] == 0
    assert row["others"]["estimate"] == pytest.approx(1.0, abs=0.1)
    assert row["confirmed"] == "November 2023"
    assert row_of(RAISED, "3 at once")["standing"] == "shown alone"
    assert policies_table(RAISED).rows == tuple(policy_rows(RAISED))


def test_a_policy_that_no_other_list_loaded_or_confirms_says_so() -> None:
    (other,) = RAISED.lists
    for changed, text in (
        (dataclasses.replace(other, confirms=()), "by none"),
        (dataclasses.replace(other, candidates=()), "not asked"),
    ):
        verdict = dataclasses.replace(RAISED, lists=(changed,))
        assert row_of(verdict, "16 paced, beyond 100 ms")["confirmed"] == text


def test_groups_by_round_trip_are_of_policies_for_all() -> None:
    (row,) = round_trips_table(RAISED.groups).rows
    assert row["policy"] == "16 paced"
    gains = [row[f"{group.id}-gain"]["estimate"] for group in RAISED.groups]
    assert gains == pytest.approx([1.5] * len(gains), abs=0.3)


def test_lists_stand_side_by_side_with_their_spread_and_are_never_pooled() -> None:
    (section,) = lists_section(RAISED)
    (table,) = section.tables
    assert [column.title.partition(",")[0] for column in table.columns][3:5] == [
        "August 2025",
        "November 2023",
    ]
    rows = [row for row in table.rows if row["policy"] == "16 paced, beyond 100 ms"]
    assert [row["what"] for row in rows] == [
        "net benefit per load",
        "net benefit in sum",
        "page time saved where it applies",
    ]
    own, other = RAISED.of(FAR), RAISED.lists[0].candidates[-2]
    assert other.policy == FAR
    assert own.per_load_pp is not None
    assert other.per_load_pp is not None
    estimates = [own.per_load_pp.estimate, other.per_load_pp.estimate]
    assert [rows[0][each]["estimate"] for each in (RAISED.crawl, RAISED.lists[0].crawl)] == estimates
    assert rows[0]["spread"] == pytest.approx(abs(estimates[0] - estimates[1]))
    assert "spans" in section.lead
    assert not list(lists_section(dataclasses.replace(RAISED, lists=())))


def test_only_a_row_whose_interval_turns_the_answer_is_said_to_turn_it() -> None:
    row = RAISED.ledger[0]
    rows = [dataclasses.replace(row, title=str(turns), turns=turns) for turns in (True, False, None)]
    verdict = dataclasses.replace(RAISED, ledger=tuple(rows))
    (table,) = otherwise_section(verdict).tables
    assert [row["turns"] for row in table.rows] == ["yes", "no", "the loads do not tell"]
    assert describe_turns(rows).startswith(
        "Whether the policy is worth both prices turns with True. With 1 of 3"
    )
    assert describe_turns(rows[1:2]) == "No other price or input that was tried turns the answer."


def test_rates_explain_and_advise_nothing() -> None:
    table = rate_classes_table(RAISED.levels, RAISED.rule)
    assert [row["title"] for row in table.rows] == [level.title for level in RAISED.levels]
    assert sum(row["share"] for row in table.rows) == pytest.approx(100)
    assert "advises nothing" in table.notes[0]


def test_the_plane_of_a_verdict_without_a_candidate_says_that_nothing_was_loaded() -> None:
    bare = dataclasses.replace(RAISED, candidates=(), asked=None, policy=Policy(10))
    assert describe_plane(bare) == "No larger first flight was loaded."
