"""`firstflight replay run edition` as an operator runs it: over drawn networks, in the lab."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import firstflight.commands.replay.run
import verdict.arms
from firstflight.main import main
from recordings.pages.sets import AUGUST_2025
from replay.runs.policy import Policy
from tests.factories.undrawn import undrawn
from verdict.calibration import read_finding
from verdict.question import STRATA
from verdict.replayed import policies_of_stages
from verdict.stages import read_stages
from verdict.verdict_file import encode


def decide(data: Path, *given: str) -> Result:
    options = [word for value in given for word in ("--set", value)]
    return CliRunner(env={"FIRSTFLIGHT_DATA_DIR": str(data)}).invoke(
        main, ["replay", "run", "edition", *options]
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("arms=['slow']", "not slow"),
        ("windows=10", "windows"),
        ("pages=page.har", "page.har"),
        ("pages=2026-11", "no release of crawl"),
    ],
)
def test_a_value_that_is_none_is_refused_by_name(tmp_path: Path, given: str, message: str) -> None:
    done = decide(tmp_path, given)
    assert done.exit_code == 1, done.output
    assert message in done.output
    assert done.output.count("\n") == 1
    assert not (tmp_path / "replays").exists()


@pytest.mark.lab
def test_a_decision_ends_with_its_budget_compares_arms_on_the_same_draws_and_is_read_again_from_its_files(
    recorded_releases: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(recorded_releases(AUGUST_2025), tmp_path / "releases")
    for where in (firstflight.commands.replay.run, verdict.arms):
        monkeypatch.setattr(where, "STRATA", STRATA[::8])
    monkeypatch.setattr(verdict.arms, "NETWORKS", 2)
    monkeypatch.setattr(verdict.arms, "PAGES", 1)
    candidates = "candidates=['16 paced', '16 paced beyond 100 ms', '20 spread beyond 100 ms']"
    given = (candidates, "budget_minutes=0.05", "arms=['bbr']")
    done = decide(tmp_path, *given)
    assert done.exit_code == 0, done.output
    (folder,) = (tmp_path / "replays").iterdir()
    assert {path.name for path in folder.iterdir()} == {
        "stage-01",
        "arm-default",
        "arm-bbr",
        "verdict.json",
    }
    stored = json.loads((folder / "verdict.json").read_bytes())
    assert [candidate["policy"] for candidate in stored["candidates"]] == [
        "16 paced",
        "16 paced beyond 100 ms",
        "20 spread beyond 100 ms",
        "3",
        "6",
    ]
    assert stored["rule"]["version"] == 7
    assert stored["headline"].startswith("Keep the initial window at 10 segments: ")
    assert "bbr" in {row["id"] for row in stored["ledger"]}

    tables, facts = read_stages(folder)
    sites = facts[0]["plan"]["sites"]
    assert len(sites) == 591
    assert len(set(sites.values())) == 500
    replayed = policies_of_stages(tables, facts)
    (bbr,) = replayed.pages.arms
    assert bbr.id == "bbr"
    assert bbr.base.visits.tolist() == bbr.evidence.visits.tolist()
    evidence = replayed.pages.looks[-1].evidence
    far = Policy.parse("16 paced beyond 100 ms")
    untouched = ~evidence.touched(far, incumbent=Policy(10))
    pair = np.column_stack([evidence.at(policy)["page_ms"] for policy in (Policy(10), far)])[untouched]
    known = pair[np.isfinite(pair).all(axis=1)]
    assert len(known)
    assert known[:, 0].tolist() == known[:, 1].tolist()
    again = replayed.verdict(read_finding(tmp_path / "backcast", of=facts[0]["plan"]))
    assert encode(again) == (folder / "verdict.json").read_bytes()

    shutil.rmtree(folder / "arm-bbr")
    (folder / "verdict.json").unlink()
    loads = (folder / "stage-01" / "cells.parquet").stat().st_mtime_ns
    assert decide(tmp_path, *given).exit_code == 0
    assert (folder / "stage-01" / "cells.parquet").stat().st_mtime_ns == loads
    assert encode(again) == (folder / "verdict.json").read_bytes()

    with undrawn():
        built = CliRunner(env={"FIRSTFLIGHT_DATA_DIR": str(tmp_path)}).invoke(
            main, ["report", "build", "--year", "2026", "--crawl", "2025-08"]
        )
    assert built.exit_code == 0, built.output
    facts = json.loads((tmp_path / "reports" / "2026" / "v1" / "report.json").read_bytes())
    assert facts["verdict"]["candidates"] == stored["candidates"]
    assert "bbr" in {row["id"] for row in facts["verdict"]["ledger"]}
