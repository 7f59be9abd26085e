"""Stored stages: what they may differ in from what is asked now."""

import json
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from replay.errors import ReplayError
from replay.runs.facts import LoadsPlan
from storage.sums import seal
from verdict.stages import CoreSeconds, read_stage

PLAN: LoadsPlan = {"commit": "c0ffee", "kernel": {"version": "6.12"}, "player": "one", "rule_version": 7}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "stage.json").write_text(json.dumps({"plan": PLAN, "core_s": 1.5}))
    seal(tmp_path, {"kind": "stage"})
    return tmp_path


def test_a_stage_of_another_commit_counts_while_kernel_and_programs_are_the_same(place: Path) -> None:
    assert read_stage(place, {**PLAN, "commit": "a later one"})["core_s"] == 1.5


@pytest.mark.parametrize("name", ["kernel", "player", "rule_version"])
def test_a_stage_that_was_loaded_with_something_else_is_refused_by_its_name(place: Path, name: str) -> None:
    with pytest.raises(ReplayError, match=f"another {name}"):
        read_stage(place, cast("LoadsPlan", {**PLAN, name: "another"}))


def test_a_damaged_stage_is_refused(place: Path) -> None:
    (place / "stage.json").write_text("{}")
    with pytest.raises(ReplayError, match="is damaged"):
        read_stage(place, PLAN)


def test_seconds_of_a_core_count_on_after_a_stop(tmp_path: Path) -> None:
    path = tmp_path / "stage-01.parts" / "core_s"
    first = CoreSeconds(path)
    subprocess.run([sys.executable, "-c", "sum(range(2_000_000))"], check=True)
    first.store()
    kept = float(path.read_text(encoding="utf-8"))
    assert kept > 0.01
    again = CoreSeconds(path)
    assert again.seconds == pytest.approx(kept)
    subprocess.run([sys.executable, "-c", "sum(range(2_000_000))"], check=True)
    assert again.seconds > kept + 0.01
