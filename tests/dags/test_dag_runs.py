"""The DAGs in Airflow's own environment: a month of two devices from the newest list to releases, the year's
report and the maintenance after it.

The commands are real but for the replays and the report over them, which take minutes; `scripts/test-compose`
runs those.
"""

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
from tests.factories.list_server import list_server

RUN = """
import json, os, sys
from airflow.dag_processing.dagbag import BundleDagBag
from airflow.models.asset import AssetEvent
from airflow.utils.session import create_session
dags = BundleDagBag(sys.argv[1], bundle_path=sys.argv[1], bundle_name="dags-folder").dags

def run(name, parameters):
    dags[name].deadline = None  # `test` takes it for rows of the database, which a running scheduler has
    run = dags[name].test(run_conf=parameters)
    states = sorted((ti.task_id, ti.map_index, str(ti.state), ti.try_number) for ti in run.get_task_instances())
    print(name, run.state, states)
    assert run.state == "success"
    return states

states = run("monthly_crawl", json.loads(sys.argv[2]))
year = run("annual_report", {"year": 2026, "series": "desktop.local.tcp.localweb", "budget_minutes": 1, "arms": False})
week = run("maintenance", {"detach_after": 24})
with create_session() as session:
    extras = [event.extra for event in session.query(AssetEvent).order_by(AssetEvent.id)]
print(json.dumps({"month": states, "year": year, "week": week, "assets": extras}))
"""  # noqa: E501

CRAWL = "2026-11.desktop.local.tcp.localweb"

STAND_IN = """#!/bin/sh
echo "$@" >> {called}
case "$1 $2" in
    "import pages" | "replay confirm") ;;
    "replay run") echo /data/replays/{crawl}.0123abcd/verdict.json ;;
    "report build") echo {report}/index.html ;;
    *) exec {real} "$@" ;;
esac
"""
"""The command line, without the commands that take minutes."""


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
def test_a_month_of_two_devices_its_report_and_maintenance_run_without_a_failed_task(
    airflow: dict[str, str], in_airflow: InAirflow, tmp_path: Path
) -> None:
    state, called, stand_in = (tmp_path / name for name in ("web.json", "called", "firstflight"))
    report = tmp_path / "v1"
    report.mkdir()
    (report / "SHA256SUMS").write_text("sums\n")
    real = airflow["FIRSTFLIGHT_BIN"]
    stand_in.write_text(STAND_IN.format(called=called, crawl=CRAWL, report=report, real=real))
    stand_in.chmod(0o755)
    parameters = {
        "crawl": "2026-11",
        "kind": "localweb",
        "devices": ["desktop", "mobile"],
        "top": 3,
        "minutes": 5,
        "local_web": str(state),
    }
    with local_web(state) as hosts, list_server(hosts) as lists:
        airflow |= {"FIRSTFLIGHT_BIN": str(stand_in), "FIRSTFLIGHT_LIST_MIRROR": lists.url}
        try:
            ran = in_airflow(RUN, json.dumps(parameters))
        finally:
            airflow["FIRSTFLIGHT_BIN"] = real
            del airflow["FIRSTFLIGHT_LIST_MIRROR"]
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-6000:]
    facts = json.loads(ran.stdout.splitlines()[-1])
    assert {
        (state, attempt) for name in ("month", "year", "week") for _, _, state, attempt in facts[name]
    } == {("success", 1)}
    assert [task for task in facts["month"] if task[0] == "device.publish"] == [
        ["device.publish", index, "success", 1] for index in (0, 1)
    ]
    releases = Path(airflow["FIRSTFLIGHT_DATA_DIR"]) / "releases"
    found = [
        find_release(releases, f"2026-11.{device}.local.tcp.localweb") for device in ("desktop", "mobile")
    ]
    for release in found:
        assert broken_sums(release.path) == []
        assert (release.manifest.list_id, release.manifest.rows["site"]) == ("tranco:K2LPW-top3", 3)
        assert release.manifest.rows["response"] > 30
    assert lists.asked == ["/tranco/top-1m-id", "/tranco/download/K2LPW/3"]
    assert sorted(facts["assets"][:2], key=lambda asset: asset["crawl"]) == [
        {"crawl": str(release.crawl), "version": 1, "checksum": release.checksum} for release in found
    ]
    assert (facts["assets"][2]["crawl"], facts["assets"][2]["version"]) == (CRAWL, "v1")
    commands = called.read_text().splitlines()
    year = commands.index("report ready --year 2026 --series desktop.local.tcp.localweb")
    assert commands[year - 1 : year + 6] == [
        "doctor",
        "report ready --year 2026 --series desktop.local.tcp.localweb",
        f"verify release {CRAWL}",
        f"replay run edition --set pages={CRAWL} --set budget_minutes=1 --set arms=[] --guests 2",
        "import pages tranco-2023-11 tranco-2024-11",
        f"replay confirm --of {CRAWL} --replay 0123abcd --set budget_minutes=40 --guests 2",
        f"report build --year 2026 --crawl {CRAWL} --replay 0123abcd --version next "
        "--reason the annual run found other inputs than those of the version before "
        "--corrects no known mistake: it has the inputs that are named as changed",
    ]
    assert sorted(commands[year + 6 : -1]) == [
        "database backup --keep 4",
        "verify --offline",
        "verify database",
    ]
    assert commands[-1] == "database detach --older-than 24"
