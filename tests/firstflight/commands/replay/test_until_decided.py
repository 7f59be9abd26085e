"""`firstflight replay run --until decided`: a run that is killed goes on to
the answer of one that was not."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from firstflight.commands.replay import stage_loads
from firstflight.main import main
from replay.runs.cells import Cell
from replay.runs.parts import replay_part
from replay.runs.run import Result as Replayed
from reports.decision.stored_stages import all_stages_folders
from tests.factories.made_up_crawl import NAME, MadeUp
from tests.factories.made_up_report import write_release

OPTIONS = (
    *("--crawl", "2026-11", "--until", "decided", "--budget", "18loads", "--iw", "10,16", "--guests", "1"),
    *("--population", "lines.csv", "--population-measured", "2026-05", "--population-source", "tests"),
)

OF_TIME = {"wall_s", "core_minutes", "sentence", "needs", "ledger"}
"""Fields of a decision that tell how long its loads took."""

KILLED = """
import sys
from firstflight.main import main
from replay.runs import parts

parts.PART_S = 0.001
main(["replay", "run", *sys.argv[1:]])
"""


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the stages of a run that was not stopped."""
    folder = make_data(tmp_path_factory.mktemp("unbroken"))
    with pytest.MonkeyPatch.context() as patch:
        enter(folder, patch)
        assert run().exit_code == 0
    return folder


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of a run that has not begun."""
    enter(make_data(tmp_path), monkeypatch)
    return tmp_path


def make_data(folder: Path) -> Path:
    made_up = MadeUp()
    for page in range(2):
        made_up.add_visit(host=f"page{page}.test")
        made_up.add_connection(tls_handshake_bytes=3_000, record_bytes=200, frame_bytes=90)
        made_up.add_response(20_000 + 10_000 * page, sent_ms=100, first_ms=150)
    write_release(folder, made_up)
    lines = "bandwidth_kbps,rtt_ms,loss,weight\n2000,60,0,1\n"
    (folder / "lines.csv").write_text(lines, encoding="utf-8")
    return folder


def enter(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("FIRSTFLIGHT_DATA_DIR", str(folder))
    patch.chdir(folder)
    patch.setattr("replay.runs.parts.PART_S", 0.001)


def run(*options: str) -> Result:
    return CliRunner().invoke(main, ["replay", "run", *OPTIONS, *options])


def stages(data: Path) -> Path:
    (folder,) = all_stages_folders(data / "replays" / str(NAME)).values()
    return folder


def kill_after_a_part(data: Path) -> list[Path]:
    """Start a run, kill it once a part of its first stage is stored, and return the parts that it leaves."""
    command = [sys.executable, "-c", KILLED, *OPTIONS]
    parts = data / "replays"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not [*parts.glob("*.stages/stage-01.run.chunks/*-of-*")]:
            assert process.poll() is None
            time.sleep(0.005)
        process.kill()
    assert not [*parts.glob("*.stages/stage-01")]
    return [*parts.glob("*.stages/stage-01.run.chunks/*-of-*")]


def keys(rows: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = ("visit_id", "profile", "iw", "seed", "route", "queue", "background_load", "everyone", "probe")
    return [tuple(row[name] for name in names) for row in rows]


def answer(data: Path) -> dict[str, Any]:
    found = json.loads((stages(data) / "decision.json").read_text(encoding="utf-8"))
    return {name: value for name, value in found.items() if name not in OF_TIME}


@pytest.mark.lab
def test_a_killed_run_goes_on_to_the_same_answer_and_loads_nothing_twice(
    data: Path, unbroken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [
        row for part in kill_after_a_part(data) for row in pq.read_table(part / "cells.parquet").to_pylist()
    ]
    loaded: list[Cell] = []

    def counted(lab: Any, cells: Sequence[Cell], number: int, **options: Any) -> Replayed:
        loaded.extend(cells)
        return replay_part(lab, cells, number, **options)

    monkeypatch.setattr(stage_loads, "replay_part", counted)
    resumed = run()
    assert resumed.exit_code == 0, resumed.output
    assert "parts were done already" in resumed.output
    ours, theirs = stages(data), stages(unbroken)
    names = sorted(path.name for path in theirs.glob("stage-*"))
    assert sorted(path.name for path in ours.glob("stage-*")) == names
    assert len(names) > 1
    rows: list[dict[str, Any]] = []
    for name in names:
        cells = (ours / name / "cells.parquet").read_bytes()
        assert cells == (theirs / name / "cells.parquet").read_bytes()
        rows += pq.read_table(ours / name / "cells.parquet").to_pylist()
    assert answer(data) == answer(unbroken)
    # What was kept and what was loaded since are all loads, each once.
    since = [cell.id for cell in loaded]
    assert len(set(since)) == len(since)
    assert len(kept) + len(since) == len(rows) == len(set(keys(rows)))


@pytest.mark.lab
def test_the_ledger_says_of_each_stage_when_by_what_and_why_another_followed(unbroken: Path) -> None:
    found = json.loads((stages(unbroken) / "decision.json").read_text(encoding="utf-8"))
    ledger = found["ledger"]
    assert [one["stage"] for one in ledger] == [*range(1, found["stages"] + 1)]
    assert sum(one["loads"] for one in ledger) == found["loads"]
    for one in ledger:
        (start,) = one["starts"]
        assert start <= one["ended"]
        assert len(one["programs"][0]["kernel"]) == 64
        assert one["kernel"]["recipe"]
        assert one["commit"]
        assert set(one["windows"]) == {10, 16}
    assert [one["part_of_budget"] for one in ledger] == sorted(one["part_of_budget"] for one in ledger)
    assert all("is open" in one["reason"] for one in ledger)
    assert found["possible_answers"] == ledger[-1]["possible_answers"]


@pytest.mark.lab
def test_stages_whose_budget_is_used_say_that_a_longer_one_adds_nothing(
    unbroken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(unbroken, monkeypatch)
    before = answer(unbroken)
    again = run("--budget", "60loads")
    assert again.exit_code == 0, again.output
    assert "begin another run, with --run 2 and a larger --budget" in again.output
    assert answer(unbroken) == before


@pytest.mark.lab
def test_stages_that_are_over_are_kept_at_a_later_commit_of_the_same_kernel_and_player(
    unbroken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(unbroken, monkeypatch)
    folder = stages(unbroken)
    monkeypatch.setattr("firstflight.commands.replay.decision.code_commit", lambda _stated: "c0ffee")
    again = run("--unless-stored")
    assert (again.exit_code, again.output) == (0, f"decided already: {folder}\n")
    assert stages(unbroken) == folder
    monkeypatch.setattr("replay.runs.replay_folder.player_key", lambda: "another")
    other = run("--unless-stored", "--plan")
    assert other.exit_code == 0, other.output
    assert "decided already" not in other.output


@pytest.mark.lab
def test_a_stage_says_which_budget_planned_it(unbroken: Path) -> None:
    stage = json.loads((stages(unbroken) / "stage-01" / "stage.json").read_text(encoding="utf-8"))
    assert stage["budget"] == {"amount": 18, "unit": "loads"}


@pytest.mark.lab
def test_loads_of_another_kernel_are_not_joined(unbroken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(unbroken, monkeypatch)
    monkeypatch.setattr(
        "replay.lab.guest_process.Lab.sums", lambda _lab: {"kernel": "other", "player": "other"}
    )
    refused = run()
    assert refused.exit_code == 1
    assert "made by another build of the kernel and the player: go on with that build" in refused.output


@pytest.fixture
def unfinished(data: Path) -> Path:
    """A data folder with a run that was killed in its first stage."""
    kill_after_a_part(data)
    return data


@pytest.mark.lab
def test_an_unfinished_run_of_another_commit_is_not_begun_again_unasked(
    unfinished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firstflight.commands.replay.decision.code_commit", lambda _stated: "c0ffee")
    refused = run()
    assert refused.exit_code == 1
    assert "has an unfinished run that differs by its commit (" in refused.output
    assert ", now c0ffee): go on with what made it" in refused.output
    assert run("--run", "2", "--plan").exit_code == 0


@pytest.mark.parametrize("budget", ["0m", "loads", "12", "0loads", "1.5h"])
def test_a_budget_that_is_none_is_one_line(data: Path, budget: str) -> None:
    done = run("--budget", budget)
    assert done.exit_code == 2
    assert "is neither a time such as 45m or 2h nor a number such as 20000loads" in done.output


@pytest.mark.parametrize("option", ["--networks", "--seeds", "--harm-pages", "--harm-iw", "--harm-seeds"])
def test_what_stages_choose_themselves_is_refused(data: Path, option: str) -> None:
    done = run(option, "3")
    assert done.exit_code == 2
    assert f"leave {option} out" in done.output


def test_the_window_in_force_alone_is_no_question(data: Path) -> None:
    done = run("--iw", "10")
    assert done.exit_code == 2
    assert "IW 10 is in force: name a window beside it" in done.output
