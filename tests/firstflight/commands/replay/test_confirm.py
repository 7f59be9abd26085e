"""`firstflight replay confirm`: what a decision leaves to other lists of pages."""

import dataclasses
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from firstflight.commands.replay.confirm import check_over
from firstflight.main import main
from recordings.pages.sets import AUGUST_2025
from replay.runs.policy import Policy
from replay.runs.replay_folder import store_loads
from tests.verdict.made_up import FAR, PACED, noisy
from verdict.judgement import Look
from verdict.rule import RULE
from verdict.verdict import PageList, Verdict, asked_of_others, verdict_of
from verdict.verdict_file import write_verdict

AUGUST = "2025-08.desktop.ar-vpn.quic.recorded"


def decided(
    effects: dict[Policy, tuple[float, float]], *, noise: float = 0.02, fraction: float = 1.0
) -> Verdict:
    """The verdict over made-up loads by policies' gains in per cent and costs in points, after a fraction of
    the budget."""
    evidence = noisy(np.random.default_rng(1), 3000, effects, noise=noise)
    rule = dataclasses.replace(RULE, candidates=tuple(effects), shown=(), guards=())
    look = Look(evidence=evidence, fraction=fraction)
    own = PageList(looks=(look,), rule=rule, month="2025-08", crawl=AUGUST)
    return verdict_of(own, ends=fraction == 1)


def confirm(data: Path, *options: str) -> Result:
    return CliRunner().invoke(
        main, ["replay", "confirm", *options, "--plan"], env={"FIRSTFLIGHT_DATA_DIR": str(data)}
    )


def test_others_are_asked_about_what_is_worth_it_or_else_about_what_is_open_and_seems_to_be() -> None:
    worth, dear = (6.0, 0.05), (1.5, 0.8)
    assert asked_of_others(decided({FAR: worth, PACED: dear})) == (FAR,)
    open_ = decided({FAR: (3.0, 0.05), PACED: (1.5, 0.5)}, noise=0.1, fraction=1 / 8)
    assert open_.of(FAR).standing == "open"
    assert asked_of_others(open_) == (FAR,)
    assert asked_of_others(decided({PACED: dear})) == ()


def test_a_decision_that_was_stopped_before_its_budget_is_gone_on_with_before_it_is_confirmed(
    tmp_path: Path,
) -> None:
    folder, asked = tmp_path / f"{AUGUST}.01234567", {"budget_minutes": 4}
    stopped = decided({FAR: (3.0, 0.05), PACED: (1.5, 0.5)}, noise=0.1, fraction=1 / 8)
    loads = pa.table({"page_ms": [1.0]})
    store_loads(folder / "stage-01", "stage", loads, {"core_s": 30.0, "plan": {"asked": asked}})
    with pytest.raises(ValueError, match=r"stopped before its end.*`firstflight replay run edition") as told:
        check_over(folder, stopped)
    assert "--set budget_minutes=4" in str(told.value)
    check_over(folder, decided({FAR: (6.0, 0.05)}))
    store_loads(folder / "stage-02", "stage", loads, {"core_s": 210.0, "plan": {"asked": asked}})
    check_over(folder, stopped)


@pytest.mark.process
def test_the_pages_of_two_other_months_are_planned_with_the_policies_of_the_only_decision(
    tmp_path: Path,
) -> None:
    missing = confirm(tmp_path)
    assert (missing.exit_code, missing.output.count("\n")) == (1, 1)
    assert "run `firstflight replay run edition` first" in missing.output
    for name in (AUGUST_2025, "tranco-2023-11", "tranco-2024-11"):
        imported = ["import", "pages", name]
        done = CliRunner().invoke(main, imported, env={"FIRSTFLIGHT_DATA_DIR": str(tmp_path)})
        assert done.exit_code == 0, done.output
    folders = [tmp_path / "replays" / f"{AUGUST}.{name}" for name in ("01234567", "89abcdef")]
    for folder, gain in zip(folders, ({FAR: (6.0, 0.05)}, {PACED: (1.5, 0.8)}), strict=True):
        folder.mkdir(parents=True)
        write_verdict(folder, decided(gain))
    several = confirm(tmp_path)
    assert "has 2 decisions (01234567, 89abcdef); choose one with --replay" in several.output
    planned = confirm(tmp_path, "--replay", "01234567", "--set", "budget_minutes=2")
    assert planned.exit_code == 0, planned.output
    first, november, year_later = planned.output.splitlines()
    assert first == "to confirm: 16 paced beyond 100 ms"
    for line in (november, year_later):
        assert " pages, 1 policies, a first stage of " in line
        assert "all stages at most 2 minutes, then 0 arms" in line
    assert november != year_later
    nothing = confirm(tmp_path, "--replay", "89abcdef")
    assert (nothing.exit_code, nothing.output) == (
        0,
        "Nothing is worth it or seems to be: there is nothing to confirm.\n",
    )
