"""The last task of the annual DAG, run again with its own command and its own parameters, over real files."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from storage.sums import manifest_of
from tests.dags.conftest import InAirflow
from tests.factories.made_up_crawl import NAME
from tests.factories.made_up_report import (
    REPLAY,
    crawl_with_another_page,
    data_folder,
    write_release,
    write_replay,
)

TASK = """
import json, sys
from airflow.dag_processing.dagbag import BundleDagBag
dag = BundleDagBag(sys.argv[1], bundle_path=sys.argv[1], bundle_name="dags-folder").dags["annual_report"]
task = dag.get_task("report")
print(json.dumps({"command": task.bash_command, "reason": dag.params["reason"], "corrects": dag.params["corrects"]}))
"""  # noqa: E501


@pytest.fixture(scope="module")
def task(in_airflow: InAirflow) -> dict[str, Any]:
    ran = in_airflow(TASK)
    assert ran.returncode == 0, ran.stderr
    result: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return result


def run(task: dict[str, Any], data: Path) -> subprocess.CompletedProcess[str]:
    variables = {
        "FIRSTFLIGHT_BIN": str(Path(sys.executable).with_name("firstflight")),
        "FIRSTFLIGHT_DATA_DIR": str(data),
        "YEAR": "2026",
        "CRAWL": str(NAME),
        "DECISION": REPLAY,
        "REASON": task["reason"],
        "CORRECTS": task["corrects"],
    }
    return subprocess.run(
        ["bash", "-c", task["command"]],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.thorough
def test_the_same_inputs_end_well_without_a_version_and_other_inputs_make_the_next(
    task: dict[str, Any], tmp_path: Path
) -> None:
    data_folder(tmp_path)
    year = tmp_path / "reports/2026"
    first = run(task, tmp_path)
    assert (first.returncode, first.stdout) == (0, f"{year}/v1/index.html\n"), first.stderr
    before = (year / "v1/SHA256SUMS").read_bytes()
    again = run(task, tmp_path)
    assert (again.returncode, again.stdout) == (0, first.stdout), again.stderr
    assert "version 1 is there already with equal content" in again.stderr
    write_replay(tmp_path, write_release(tmp_path, crawl_with_another_page(), version=2))
    other = run(task, tmp_path)
    assert (other.returncode, other.stdout) == (0, f"{year}/v2/index.html\n"), other.stderr
    published = manifest_of(year / "v2")["publication"]
    assert (published["reason"], published["corrects"]) == (task["reason"], task["corrects"])
    assert [line.split(":")[0] for line in published["changed"]] == ["the release", "the replay"]
    assert (year / "v1/SHA256SUMS").read_bytes() == before
