"""`firstflight replay run` with a population of its own and the harm conditions, over a few made-up pages."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from firstflight.errors import INTERRUPTED
from firstflight.main import main
from replay.lab.guest_process import usable_cpus
from replay.runs.replay_folder import is_stored
from tests.factories.made_up_crawl import NAME, MadeUp
from tests.factories.made_up_report import write_release
from verdict.replayed import of_pairs

FILE = "bandwidth_kbps,rtt_ms,loss,weight\n2000,60,0,3\n800,120,0.01,1\n"
TOLD = ("--population-measured", "2026-05", "--population-source", "tests")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a release of two small pages, and a population's file."""
    made_up = MadeUp()
    for page in range(2):
        made_up.add_visit(host=f"page{page}.test")
        made_up.add_connection(tls_handshake_bytes=3_000, record_bytes=200, frame_bytes=90)
        made_up.add_response(20_000 + 10_000 * page, sent_ms=100, first_ms=150)
    write_release(tmp_path, made_up)
    (tmp_path / "ndt-2026-05.csv").write_text(FILE, encoding="utf-8")
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(tmp_path))
    return tmp_path


def invoke(command: str, *options: str) -> Result:
    return CliRunner().invoke(main, ["replay", command, "--crawl", "2026-11", "--iw", "10,16", *options])


def run(*options: str) -> Result:
    return invoke("run", *options)


@pytest.mark.lab
def test_a_population_and_what_the_guards_ask_are_replayed_and_kept(data: Path) -> None:
    population = str(data / "ndt-2026-05.csv")
    options = ("--population", population, *TOLD, "--seeds", "1", "--everyone", "--everyone-pages", "1")
    done = run(*options, "--guests", "1")
    assert done.exit_code == 0, done.output
    folder = data / "replays" / str(NAME)
    facts = json.loads((folder / "replay.json").read_text(encoding="utf-8"))
    whole, slow = facts["populations"]
    assert (whole["id"], whole["measured"], whole["source"]) == ("ndt-2026-05", "2026-05", "tests")
    assert (slow["slow"], slow["weights"]) == (True, {"ndt-2026-05-2": 1.0})
    cells = pq.read_table(folder / "cells.parquet")
    assert set(cells["state"].to_pylist()) == {"done"}
    assert cells.num_rows == 2 * 2 * 2 + 2 * 2 + 2
    assert set(cells["profile"].to_pylist()) == {"ndt-2026-05-1", "ndt-2026-05-2"}
    found = of_pairs(cells, facts["populations"])
    assert found.rule.rivals() == (16,)
    assert found.everyone is not None
    assert (len(found.looks[0].evidence), len(found.everyone)) == (4, 2)
    assert np.isfinite(found.looks[0].evidence.again["page_ms"]).sum() == 2

    again = run(*options, "--unless-stored")
    assert (again.exit_code, again.output) == (0, f"stored already: {folder}\n")
    assert is_stored(folder, facts)
    assert is_stored(folder, facts | {"commit": "a later one"})
    for name in ("kernel", "player", "rule_version", "parameters"):
        assert not is_stored(folder, facts | {name: "another"})
    (folder / "cells.parquet").write_bytes(b"")
    assert not is_stored(folder, facts)


@pytest.mark.lab
def test_chunks_replayed_apart_and_merged_are_what_one_run_leaves(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--profiles", "wpt-cable", "--seeds", "1", "--responses")
    (cpu, *_) = usable_cpus()
    monkeypatch.setattr("firstflight.commands.replay.run.usable_cpus", lambda: [cpu, cpu])
    assert run(*options).exit_code == 0
    folder = data / "replays" / str(NAME)
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert run(*options, "--guests", "1").exit_code == 0
    assert (folder / "cells.parquet").read_bytes() == whole["cells.parquet"]
    shutil.rmtree(folder)
    planned = invoke("plan", *options, "--at-least", "2")
    assert planned.output.splitlines()[0].startswith(
        "2 of 2 pages, 1 networks (by --profiles), 2 windows, 1 seeds: 4 loads"
    )
    assert planned.output.splitlines()[-1] == "2"
    too_early = invoke("merge", *options, "--chunks", "2")
    assert (too_early.exit_code, "chunk 1/2 is not there" in too_early.output) == (1, True)
    for chunk in ("1/2", "2/2", "2/2"):
        done = run(*options, "--guests", "1", "--chunk", chunk)
        assert done.exit_code == 0, done.output
    assert "chunk 2/2 was done already" in done.output
    merged = invoke("merge", *options, "--chunks", "2")
    assert merged.exit_code == 0, merged.output
    assert {path.name for path in folder.iterdir()} == set(whole)
    for name in ("cells.parquet", "responses.parquet"):
        assert (folder / name).read_bytes() == whole[name], name
    one, other = (json.loads(text) for text in (whole["replay.json"], (folder / "replay.json").read_text()))
    for measured in ("wall_s", "guests"):
        assert one.pop(measured)
        assert other.pop(measured)
    assert one == other


KILLED = """
import sys
from firstflight.main import main
from replay.runs import parts

parts.PART_S = 0.01
main(["replay", "run", *sys.argv[1:]])
"""


@pytest.mark.lab
def test_a_killed_run_goes_on_from_its_whole_parts_to_what_one_run_leaves(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--profiles", "wpt-cable", "--seeds", "80", "--guests", "1")
    folder = data / "replays" / str(NAME)
    parts = folder.with_name(f"{NAME}.run.chunks")
    command = [sys.executable, "-c", KILLED, "--crawl", "2026-11", "--iw", "10,16", *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as killed:
        while not (parts / "1-of-2").exists():
            assert killed.poll() is None
            time.sleep(0.01)
        killed.kill()
    assert not folder.exists()
    monkeypatch.setattr("replay.runs.parts.PART_S", 0.01)
    resumed = run(*options)
    assert resumed.exit_code == 0, resumed.output
    assert "1 of 2 parts were done already" in resumed.output
    assert not parts.exists()
    cells = (folder / "cells.parquet").read_bytes()
    shutil.rmtree(folder)
    monkeypatch.setattr("replay.runs.parts.PART_S", 3600)
    assert run(*options).exit_code == 0
    assert (folder / "cells.parquet").read_bytes() == cells


@pytest.mark.lab
def test_an_interrupted_run_finishes_its_part_and_says_that_it_goes_on_from_there(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replay.runs.parts.PART_S", 0.01)
    monkeypatch.setattr("replay.runs.parts.as_completed", interrupted)
    stopped = run("--profiles", "wpt-cable", "--seeds", "20", "--guests", "1")
    assert stopped.exit_code == INTERRUPTED
    assert stopped.output.splitlines()[-1] == (
        "stopped: 1 of 2 parts are kept, and the same command goes on from there"
    )


def interrupted(running: Sequence[Future[None]]) -> Iterator[Future[None]]:
    """Interrupt the run once its first part runs."""
    while not (running[0].running() or running[0].done()):
        time.sleep(0.01)
    raise KeyboardInterrupt
    yield from running


def test_a_sample_of_the_pages_is_said_to_be_one(data: Path) -> None:
    assert invoke("plan", "--pages", "1").output.startswith("1 of 2 pages")


def test_more_windows_than_a_guest_has_room_for_are_one_line(data: Path) -> None:
    done = run("--iw", ",".join(map(str, range(1, 50))))
    assert done.exit_code == 2
    assert "a guest has room for 48 windows, and these are 49" in done.output


@pytest.mark.parametrize("chunk", ["0/2", "3/2", "2", "1/1001", "a/b"])
def test_a_chunk_that_cannot_be_is_one_line(data: Path, chunk: str) -> None:
    done = run("--chunk", chunk)
    assert done.exit_code == 2
    assert "is no chunk" in done.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (TOLD, "belong to --population"),
        (("--population", "ndt-2026-05.csv"), "--population-measured is empty, not a month such as 2026-05"),
        (("--population", "ndt-2026-05.csv", *TOLD[:2]), "--population-source is empty"),
        (("--population", "ndt-2026-05.csv", *TOLD, "--profiles", "wpt-cable"), "leave --profiles out"),
        (("--population", "broken.csv", *TOLD), "line 2: loss must be a number from 0 to 0.5, not '7'"),
    ],
)
def test_a_population_that_is_told_badly_is_one_line(
    data: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], said: str
) -> None:
    (data / "broken.csv").write_text(FILE.replace(",0,3", ",7,3"), encoding="utf-8")
    monkeypatch.chdir(data)
    done = run(*options)
    assert done.exit_code != 0
    assert said in done.output
    assert "Traceback" not in done.output


def test_a_replay_of_a_release_is_over_todays_networks_and_says_how_many(data: Path) -> None:
    planned = invoke("plan", "--seeds", "2").output.splitlines()[0]
    assert planned.startswith(
        "2 of 2 pages, 8 networks (for the 64 of mlab-2025-10), 2 windows, 2 seeds: 64 loads"
    )
    assert "64 networks (for the 64 of mlab-2025-10)" in invoke("plan", "--networks", "all").output
    assert "), 3 windows, " in invoke("plan", "--iw", "10,16,16p").output


@pytest.mark.parametrize("networks", ["1", "201", "-3", "few"])
def test_a_number_of_networks_that_cannot_be_is_one_line(data: Path, networks: str) -> None:
    done = run("--networks", networks)
    assert done.exit_code == 2
    assert "neither a number from 2 to 200 nor all" in done.output
