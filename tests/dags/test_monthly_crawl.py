"""The DAG in Airflow's own environment: it loads, it names commands that exist, and it makes a release."""

import ast
import contextlib
import datetime
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import psycopg
import pytest
from sqlalchemy import make_url

from firstflight.main import main
from schema.releases import broken_sums, find_release

ROOT = Path(__file__).parents[2]
DAG_FILE = ROOT / "dags/monthly_crawl.py"
# Beside ours, wherever that is: scripts/environment says where.
AIRFLOW_PYTHON = Path(sys.prefix).with_name(".venv-dags") / "bin/python"

LOAD = """
import json, sys
from airflow.dag_processing.dagbag import DagBag
from airflow.serialization.serialized_objects import DagSerialization
bag = DagBag(sys.argv[1])
monthly = DagSerialization.from_dict(DagSerialization.to_dict(bag.dags["monthly_crawl"]))
print(json.dumps({
    "errors": bag.import_errors,
    "downstream": {
        name: {task.task_id: sorted(task.downstream_task_ids) for task in dag.tasks}
        for name, dag in bag.dags.items()
    },
    "first_run": monthly.next_dagrun_info(last_automated_run_info=None).run_after.isoformat(),
}))
"""

RUN = """
import sys, json
from airflow.dag_processing.dagbag import DagBag
run = DagBag(sys.argv[1]).dags["monthly_crawl"].test(run_conf=json.loads(sys.argv[2]))
print(run.state, {ti.task_id: ti.state for ti in run.get_task_instances()})
sys.exit(run.state != "success")
"""


@pytest.fixture(scope="module")
def airflow(embedded_server: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of an Airflow whose metadata lie in PostgreSQL, migrated; our data lie beside them."""
    folder = tmp_path_factory.mktemp("airflow")
    with psycopg.connect(embedded_server, autocommit=True) as connection:
        for name in ("dag_airflow", "dag_firstflight"):
            connection.execute(f"CREATE DATABASE {name}".encode())
    ours, theirs = (
        make_url(embedded_server).set(database=f"dag_{name}") for name in ("firstflight", "airflow")
    )
    metadata = theirs.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(folder),
        "AIRFLOW__CORE__DAGS_FOLDER": str(DAG_FILE.parent),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": metadata,
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN_ASYNC": metadata,
        "FIRSTFLIGHT_BIN": str(Path(sys.executable).with_name("firstflight")),
        "FIRSTFLIGHT_DATA_DIR": str(folder / "data"),
        "FIRSTFLIGHT_DATABASE_URL": ours.render_as_string(hide_password=False),
    }
    call = [str(AIRFLOW_PYTHON), "-m", "airflow", "db", "migrate"]
    migrated = subprocess.run(call, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert migrated.returncode == 0, migrated.stderr[-4000:]
    return environment


def in_airflow(script: str, *arguments: str, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [AIRFLOW_PYTHON, "-c", script, str(DAG_FILE.parent), *arguments],
        env=env,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def commands() -> dict[str, list[str]]:
    """Words of the command line of each task, read from the source: no Airflow is needed for it."""
    found = {}
    for call in ast.walk(ast.parse(DAG_FILE.read_text())):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "firstflight":
            name, *parts = [
                str(argument.value) if isinstance(argument, ast.Constant) else ast.unparse(argument)
                for argument in call.args
            ]
            line = re.sub(r"\$\{\w+:\+(.*?)\}", r"\1", " ".join(parts))
            found[name] = shlex.split(line)
    return found


def test_it_imports_airflow_alone() -> None:
    modules = set()
    for node in ast.walk(ast.parse(DAG_FILE.read_text())):
        if isinstance(node, ast.ImportFrom):
            modules.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.Import):
            modules.update(alias.name.split(".")[0] for alias in node.names)
    assert modules - sys.stdlib_module_names == {"airflow"}


@pytest.fixture(scope="module")
def loaded(airflow: dict[str, str]) -> dict[str, Any]:
    """What Airflow makes of the folder of DAGs."""
    ran = in_airflow(LOAD, env=airflow)
    assert ran.returncode == 0, ran.stderr
    said: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    assert said["errors"] == {}
    return said


def test_unpausing_it_in_mid_month_runs_nothing_for_the_first_of_that_month(loaded: dict[str, Any]) -> None:
    assert datetime.datetime.fromisoformat(loaded["first_run"]) > datetime.datetime.now(datetime.UTC)


def test_it_names_its_steps_in_order(loaded: dict[str, Any]) -> None:
    assert loaded["downstream"] == {
        "monthly_crawl": {
            "list": ["plan"],
            "plan": ["crawl_1", "crawl_2"],
            "crawl_1": ["seal"],
            "crawl_2": ["seal"],
            "seal": ["build"],
            "build": ["verify"],
            "verify": [],
        }
    }


@pytest.mark.parametrize("task", sorted(commands()))
def test_every_command_exists_and_takes_these_arguments(task: str) -> None:
    words = commands()[task]
    command: click.Command = main
    context = click.Context(command)
    while isinstance(command, click.Group):
        name, *words = words
        found = command.get_command(context, name)
        assert found is not None, f"{task}: no command {name}"
        command = found
        context = click.Context(command, parent=context, info_name=name)
    values, rest, _ = command.make_parser(context).parse_args(list(words))
    assert rest == []
    missing = [
        parameter.name for parameter in command.params if parameter.required and parameter.name not in values
    ]
    assert missing == []


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
        deadline = time.monotonic() + 90
        while not state.exists():
            assert web.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield json.loads(state.read_text())["sites"]
        web.terminate()


@pytest.mark.browser
@pytest.mark.slow
def test_it_crawls_the_local_web_to_a_release(airflow: dict[str, str], tmp_path: Path) -> None:
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
        ran = in_airflow(RUN, json.dumps(parameters), env=airflow)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]
    release = find_release(Path(airflow["FIRSTFLIGHT_DATA_DIR"]) / "releases", "2026-11")
    assert broken_sums(release) == []
    assert release.manifest.crawl.kind == "localweb"
    assert release.manifest.rows["site"] == 4
    assert release.manifest.rows["visit"] >= 4
    assert release.manifest.rows["response"] > 40
