"""A report of three lists as an operator makes it: loaded, built, carried and computed again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import firstflight.commands.replay.run
from firstflight.main import main
from recordings.pages.sets import AUGUST_2025
from tests.factories.undrawn import undrawn
from verdict.question import STRATA

pytestmark = [pytest.mark.lab, pytest.mark.slow]


def run(data: Path, *arguments: str) -> Result:
    done = CliRunner().invoke(main, arguments, env={"FIRSTFLIGHT_DATA_DIR": str(data)})
    assert done.exit_code == 0, done.output
    return done


def replay(data: Path, preset: str, *given: str) -> None:
    values = ("candidates=['16 paced', '16 paced beyond 100 ms']", "budget_minutes=0.05", "arms=[]", *given)
    run(data, "replay", "run", preset, *(word for value in values for word in ("--set", value)))


def test_a_verdict_over_other_pages_too_is_computed_again_from_the_loads_that_its_report_carries(
    recorded_releases: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (AUGUST_2025, "tranco-2023-11", "tranco-2024-11"):
        shutil.copytree(recorded_releases(name), tmp_path / "releases", dirs_exist_ok=True)
    monkeypatch.setattr(firstflight.commands.replay.run, "STRATA", STRATA[::8])
    replay(tmp_path, "edition")
    for month in ("2023-11", "2024-11"):
        replay(tmp_path, "confirmation", f"pages={month}")
    build = ("report", "build", "--year", "2026", "--crawl", "2025-08")
    with undrawn():
        built = run(tmp_path, *build, "--json")
        report = json.loads(built.stdout)
    assert built.stderr.count("\nreplay ") + built.stderr.startswith("replay ") == 3
    verdict = report["verdict"]
    assert [listed["title"] for listed in verdict["lists"]] == ["November 2023", "November 2024"]
    shutil.rmtree(tmp_path / "replays")
    again = run(tmp_path, "report", "recompute", "2026", "v1", "all")
    assert all(line.startswith("equal ") for line in again.stdout.splitlines()), again.stdout
    assert "computed by the loads that the report carries\n" in again.stderr
    assert "none damaged" in run(tmp_path, "verify", "--offline").stdout
    edition = tmp_path / "v1"
    shutil.copytree(tmp_path / "reports" / "2026" / "v1", edition)
    anew = ("--version", "2", "--reason", "again", "--corrects", "nothing", "--json")
    with undrawn():
        loaded = run(tmp_path, *build, "--loads", str(edition), *anew)
    assert json.loads(loaded.stdout)["verdict"] == verdict
