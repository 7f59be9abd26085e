"""A replay in stages as a verdict matrix: its marks and numbers are those of the world that was replayed."""

import dataclasses
import functools
from pathlib import Path
from typing import Any

import pytest

from releases.formatting import interval_text
from releases.interval import Interval
from replay.runs.conditions import Conditions
from reports.answer.of_stages import findings_of
from reports.answer.shape import Findings, VerdictCell, VerdictRow
from reports.decision.problem import Problem
from reports.decision.stage import Stage
from reports.decision.stored_problem import problem_of, read_staged
from reports.decision.stored_stages import StageError, stages_folders, write_stage
from reports.decision.until_decided import Budget, Outcome, until_decided
from tests.reports.decision.worlds import World, plan_of, problem

BETTER = World(saves={16: -0.06, 30: -0.061}, sends_again={16: 0.0, 30: 3.0})
ON_THE_LIMIT = World(saves={16: -0.06, 30: 0.05}, sends_again={16: 0.5, 30: 0.0})
COMMAND = "firstflight replay run --until decided"


@functools.cache
def replayed(world_name: str) -> tuple[Outcome, tuple[Stage, ...]]:
    stages: list[Stage] = []
    outcome = until_decided(
        problem(),
        [],
        budget=Budget(amount=12.0),
        guests=1,
        load={"better": BETTER, "on the limit": ON_THE_LIMIT}[world_name].load,
        keep=lambda _number, stage: stages.append(stage),
    )
    return outcome, tuple(stages)


def cells(found: Findings, row_id: str) -> dict[int, VerdictCell]:
    (row,) = (row for row in found.rows if row.id == row_id)
    return {cell.window: cell for cell in row.cells}


def test_a_settled_replay_gives_the_window_and_why_the_others_are_out() -> None:
    found = findings_of(replayed("better")[0], command=COMMAND)
    assert (found.iw, found.is_decided, found.is_sound, found.deciding) == (16, True, True, None)
    (against,) = (reason for reason in found.reasons if reason.startswith("IW 30 is ruled out by"))
    again = cells(found, "retransmitted_bytes_average")[30].value
    assert again is not None
    assert (
        f"retransmitted bytes, average population: {interval_text(again, 'pp')} more than at IW 10" in against
    )
    assert against.endswith("and the rule asks for below 0.5\u202fpp.")


def test_the_matrix_has_the_effects_that_were_put_into_the_world() -> None:
    found = findings_of(replayed("better")[0], command=COMMAND)
    gain = cells(found, "gain")[16]
    assert gain.mark == "holds"
    assert gain.value is not None
    assert gain.value.lower < 5.82 < gain.value.upper  # 1 - exp(-0.06)
    again = cells(found, "retransmitted_bytes_average")
    assert (again[16].mark, again[30].mark) == ("holds", "fails")
    assert again[30].value is not None
    assert again[30].value.lower < 3.0 < again[30].value.upper
    assert found.rows[0].limit == 1.0


def follows(row: VerdictRow, found: Interval) -> str:
    """The mark that an interval gives by itself."""
    low, high = found.lower, found.upper
    if row.kind == "gain":
        return "holds" if low > row.limit else "fails" if high <= row.limit else "open"
    return "holds" if high < row.limit else "fails" if low >= row.limit else "open"


@pytest.mark.parametrize("world", ["better", "on the limit"])
def test_each_mark_follows_from_the_interval_that_is_printed_beside_it(world: str) -> None:
    found = findings_of(replayed(world)[0], command=COMMAND)
    printed = [
        (row, cell, cell.printed) for row in found.rows for cell in row.cells if cell.printed is not None
    ]
    assert {cell.mark for _, cell, _ in printed} >= {"holds", "fails"}
    for row, cell, interval in printed:
        assert follows(row, interval) == cell.mark, (row.id, cell)
        assert cell.value is not None
        assert cell.value.lower > interval.lower or cell.value.upper < interval.upper


def test_an_open_replay_says_what_would_decide_it() -> None:
    found = findings_of(replayed("on the limit")[0], command=COMMAND)
    assert (found.iw, found.is_decided) == (None, False)
    assert cells(found, "retransmitted_bytes_average")[16].mark == "open"
    assert found.deciding is not None
    assert "retransmitted bytes" in found.deciding.what
    assert found.deciding.command == COMMAND
    assert found.deciding.loads is None or found.deciding.loads > 0


def stored(folder: Path, asked: Problem) -> Path:
    place = folder / "crawl.0123abcd.stages"
    guests: dict[str, list[Any]] = {"gates": [], "failures": [], "programs": []}
    for number, stage in enumerate(replayed("better")[1], start=1):
        write_stage(place, number, stage, plan_of(asked), guests)
    return place


def test_stored_stages_are_read_back_to_the_same_answer(tmp_path: Path) -> None:
    asked = problem()
    place = stored(tmp_path, asked)
    assert stages_folders(tmp_path / "crawl") == {"0123abcd": place}
    found = read_staged(place, asked.recipes, rule=asked.rule)
    assert findings_of(found.outcome, command=COMMAND) == findings_of(replayed("better")[0], command=COMMAND)
    assert found.provenance["wall_s"] == pytest.approx(replayed("better")[0].wall_s, abs=0.001)


def test_stages_of_another_rule_or_other_conditions_are_refused(tmp_path: Path) -> None:
    asked = problem()
    other = dataclasses.replace(asked.rule, version=asked.rule.version + 1)
    with pytest.raises(StageError, match="of the rule"):
        problem_of(plan_of(asked), asked.recipes, rule=other)
    paced = plan_of(asked)
    paced["parameters"] = paced["parameters"] | {"conditions": [Conditions(pacing=True).columns()]}
    with pytest.raises(StageError, match="default conditions"):
        problem_of(paced, asked.recipes, rule=asked.rule)
    with pytest.raises(StageError, match="no stage"):
        read_staged(tmp_path / "crawl.00000000.stages", asked.recipes, rule=asked.rule)


def test_a_damaged_stage_is_refused(tmp_path: Path) -> None:
    place = stored(tmp_path, problem())
    (place / "stage-01" / "cells.parquet").write_bytes(b"")
    with pytest.raises(StageError, match="damaged"):
        read_staged(place, problem().recipes, rule=problem().rule)
