"""`firstflight replay run` until all is replayed, over a few made-up pages."""

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
from replay.runs.policy import Policy
from tests.factories.made_up_crawl import NAME, MadeUp
from tests.factories.made_up_report import write_release
from verdict.replayed import policies_of_stages

FILE = "bandwidth_kbps,rtt_ms,loss,weight\n2000,60,0,3\n800,120,0.01,1\n"
TOLD = ("population_measured=2026-05", "population_source=tests")


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


def words(*given: str) -> list[str]:
    values = ("pages=2026-11", "candidates=10,16", *given)
    return ["replay", "run", "demo", *(option for value in values for option in ("--set", value))]


def run(*given: str, options: Sequence[str] = ("--guests", "1")) -> Result:
    return CliRunner().invoke(main, [*words(*given), *options])


@pytest.mark.lab
def test_a_population_and_what_the_guards_ask_are_replayed_and_kept(data: Path) -> None:
    done = run(f"networks={data / 'ndt-2026-05.csv'}", *TOLD, "seeds=1", "everyone_pages=1")
    assert done.exit_code == 0, done.output
    (folder,) = (data / "replays").glob(f"{NAME}.*/stage-01")
    facts = json.loads((folder / "stage.json").read_text(encoding="utf-8"))["plan"]
    whole, slow = facts["populations"]
    assert (whole["id"], whole["measured"], whole["source"]) == ("ndt-2026-05", "2026-05", "tests")
    assert (slow["slow"], slow["weights"]) == (True, {"ndt-2026-05-2": 1.0})
    cells = pq.read_table(folder / "cells.parquet")
    assert set(cells["state"].to_pylist()) == {"done"}
    assert cells.num_rows == 2 * 2 * 2 + 2 * 2 + 2
    assert set(cells["profile"].to_pylist()) == {"ndt-2026-05-1", "ndt-2026-05-2"}
    pages = policies_of_stages([cells], [{"plan": facts}]).pages
    assert (pages.rule.candidates, pages.rule.shown) == ((Policy(16),), ())
    assert pages.everyone is not None
    evidence = pages.looks[0].evidence
    assert (len(evidence), len(pages.everyone)) == (4, 2)
    assert np.isfinite(evidence.again["page_ms"]).sum() == 2


KILLED = """
import sys
from firstflight.main import main
from replay.runs import parts

parts.PART_S = 0.01
main(sys.argv[1:])
"""


@pytest.mark.lab
def test_a_killed_run_goes_on_from_its_whole_parts_to_what_one_run_leaves(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("networks=wpt-cable", "seeds=150")
    replays, parts = data / "replays", f"{NAME}.*/stage-01.parts"
    command = [sys.executable, "-c", KILLED, *words(*given), "--guests", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as killed:
        while not [*replays.glob(f"{parts}/1-of-2")]:
            assert killed.poll() is None
            time.sleep(0.01)
        killed.kill()
    assert not [*replays.glob("*/stage-01")]
    monkeypatch.setattr("replay.runs.parts.PART_S", 0.01)
    resumed = run(*given)
    assert resumed.exit_code == 0, resumed.output
    assert "1 of 2 parts were done already" in resumed.output
    assert not [*replays.glob(parts)]
    (folder,) = replays.glob("*/stage-01")
    cells = (folder / "cells.parquet").read_bytes()
    shutil.rmtree(folder)
    monkeypatch.setattr("replay.runs.parts.PART_S", 3600)
    assert run(*given).exit_code == 0
    assert (folder / "cells.parquet").read_bytes() == cells


@pytest.mark.lab
def test_an_interrupted_run_finishes_its_part_and_says_that_it_goes_on_from_there(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replay.runs.parts.PART_S", 0.01)
    monkeypatch.setattr("replay.runs.parts.as_completed", interrupted)
    stopped = run("networks=wpt-cable", "seeds=20")
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


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (TOLD, "a stored population knows its month and source"),
        (("networks=nothing",), "no stored population or file 'nothing'"),
        (("networks=wpt-cable,dialup",), "no profile dialup; there are"),
        (("networks=ndt-2026-05.csv",), "population_measured is empty, not a month such as 2026-05"),
        (("networks=ndt-2026-05.csv", TOLD[0]), "population_source is empty"),
        (("networks=broken.csv", *TOLD), "line 2: Expected `float` <= 0.5 - at `$.loss`"),
        (("max_networks=1",), "max_networks"),
    ],
)
def test_networks_that_are_told_badly_are_one_line(
    data: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], message: str
) -> None:
    (data / "broken.csv").write_text(FILE.replace(",0,3", ",7,3"), encoding="utf-8")
    monkeypatch.chdir(data)
    done = run(*given)
    assert (done.exit_code, done.output.count("\n")) == (1, 1)
    assert message in done.output


def test_a_plan_says_the_extent_and_the_price_and_replays_nothing(data: Path) -> None:
    def planned(*given: str) -> str:
        done = run(*given, options=["--plan"])
        assert done.exit_code == 0, done.output
        return done.output

    assert planned("seeds=2", "max_networks=8") == (
        "2 of 2 pages, 8 networks (for the 64 of mlab-2025-10), 2 policies, 2 seeds: 64 loads, about 1 "
        "minute of a core\n"
    )
    assert planned("max_pages=1", "max_networks=200").startswith("1 of 2 pages, 64 networks (for the 64 of ")
    assert "), 3 policies, " in planned("candidates=10,16,16p")
    decision = CliRunner().invoke(main, ["replay", "run", "--set", "pages=2026-11", "--plan"])
    assert decision.output.startswith("2 pages, 12 policies, a first stage of "), decision.output
    assert not (data / "replays").exists()


def test_the_schema_is_printed_as_json() -> None:
    printed = CliRunner().invoke(main, ["replay", "run", "--schema"])
    assert json.loads(printed.stdout)["$defs"]["ReplayFile"]["properties"]["seeds"]["minimum"] == 1
