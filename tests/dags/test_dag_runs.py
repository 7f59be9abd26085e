"""The DAGs in Airflow's own environment: the monthly one makes a release,
the others call their commands in order."""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from releases.catalogue import find_release
from storage.sums import broken_sums
from tests.dags.conftest import InAirflow

RUN = """
import json, os, sys
from airflow.dag_processing.dagbag import BundleDagBag
dags = BundleDagBag(sys.argv[1], bundle_path=sys.argv[1], bundle_name="dags-folder").dags

def run(name, parameters):
    run = dags[name].test(run_conf=parameters)
    print(name, run.state, [(ti.task_id, ti.map_index, ti.state) for ti in run.get_task_instances()])
    assert run.state == "success"

run("monthly_crawl", json.loads(sys.argv[2]))
os.environ["FIRSTFLIGHT_BIN"] = sys.argv[3]
run("annual_report", {"year": 2026, "budget_minutes": 1, "arms": False})
run("maintenance", {"detach_after": 24})
"""

CRAWL = "2026-11.desktop.local.tcp.web"

RECORDER = f"""#!/bin/sh
echo "$@" >> {{called}}
echo "a line of progress"
case "$1 $2" in
    "report ready") echo {CRAWL} ;;
    "replay run") echo /data/replays/{CRAWL}.0123abcd/verdict.json ;;
esac
"""
"""A stand-in for the command line, since a replay would take minutes.

`scripts/test-compose` runs the real ones.
"""


@contextlib.contextmanager
def local_web(state: Path) -> Iterator[list[str]]:
    """The bundled web in a process of its own; yields the sites in it."""
    command = [
        sys.executable,
        "-m",
        "firstflight",
        "localweb",
        "serve",
        "--mode",
        "recorded",
        "--state",
        str(state),
    ]
    with subprocess.Popen(command) as web:
        try:
            deadline = time.monotonic() + 90
            while not state.exists():
                assert web.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.1)
            yield json.loads(state.read_text())["sites"]
        finally:
            web.terminate()


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.thorough
def test_they_crawl_the_local_web_to_a_release_and_go_on_to_its_report(
    airflow: dict[str, str], in_airflow: InAirflow, tmp_path: Path
) -> None:
    state, sites = tmp_path / "web.json", tmp_path / "sites.txt"
    with local_web(state) as hosts:
        sites.write_text("".join(f"{host}\n" for host in hosts))
        parameters = {
            "crawl": "2026-11",
            "kind": "localweb",
            "list": str(sites),
            "top": 4,
            "minutes": 5,
            "local_web": str(state),
        }
        recorder, called = tmp_path / "recorder", tmp_path / "called"
        recorder.write_text(RECORDER.format(called=called))
        recorder.chmod(0o755)
        ran = in_airflow(RUN, json.dumps(parameters), str(recorder))
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]
    release = find_release(Path(airflow["FIRSTFLIGHT_DATA_DIR"]) / "releases", "2026-11")
    assert broken_sums(release.path) == []
    assert release.manifest.crawl.kind == "localweb"
    assert release.manifest.rows["site"] == 4
    assert release.manifest.rows["visit"] >= 4
    assert release.manifest.rows["response"] > 40
    *report, verify, other, third, last = called.read_text().splitlines()
    assert report == [
        "report ready --year 2026 --series desktop.local.tcp.web",
        f"verify release {CRAWL}",
        f"replay run edition --set pages={CRAWL} --set budget_minutes=1 --set arms=[] --guests 2",
        f"report build --year 2026 --crawl {CRAWL} --replay 0123abcd --version next "
        "--reason the annual run found other inputs than those of the version before "
        "--corrects no known mistake: it has the inputs that are named as changed",
    ]
    assert sorted([verify, other, third]) == [
        "database backup --keep 4",
        "verify --offline",
        "verify database",
    ]
    assert last == "database detach --older-than 24"
