"""The DAG files: they load, import Airflow alone, name commands that exist, and share no asset."""

import ast
import datetime
import json
import re
import shlex
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import click
import pytest

from firstflight.main import main
from tests.dags.conftest import DAGS, InAirflow

STEPS = DAGS / "steps.py"
FILES = sorted(DAGS.glob("*.py"))

LOAD = """
import json, sys, tempfile
from airflow.dag_processing.dagbag import BundleDagBag
from airflow.exceptions import AirflowException
from airflow.serialization.serialized_objects import DagSerialization
sys.path.insert(0, sys.argv[1])
import steps

# What becomes of a lane whose command ends with these codes, one after the other; how often it runs, and how long it waits.
def lane(*codes):
    ran, slept = tempfile.NamedTemporaryFile(), []
    steps.time.sleep = slept.append
    command = f"echo >> {ran.name}; codes=({' '.join(map(str, codes))}); exit ${{codes[$(wc -l < {ran.name}) - 1]}}"
    try:
        steps.Lane(task_id="lane", bash_command=command, skip_on_exit_code=steps.AGAIN).execute({})
    except AirflowException as exc:
        became = type(exc).__name__
    else:
        became = "success"
    return [became, len(open(ran.name).readlines()), sum(slept)]

bag = BundleDagBag(sys.argv[1], bundle_path=sys.argv[1], bundle_name="dags-folder")
monthly = DagSerialization.from_dict(DagSerialization.to_dict(bag.dags["monthly_crawl"]))
print(json.dumps({
    "errors": bag.import_errors,
    "downstream": {
        name: {task.task_id: sorted(task.downstream_task_ids) for task in dag.tasks}
        for name, dag in bag.dags.items()
    },
    "assets": [asset.uri for dag in bag.dags.values() for task in dag.tasks for asset in task.outlets],
    "undocumented": [
        one for dag in bag.dags.values() for one in [dag.dag_id, *dag.task_ids]
        if not (dag if one == dag.dag_id else dag.get_task(one)).doc_md
    ],
    "silent": [
        task.task_id for dag in bag.dags.values() for task in dag.tasks
        if [callback.__name__ for callback in task.on_failure_callback] != ["report_failure"]
    ],
    "tries": {task.task_id: [task.retries, task.retry_delay.total_seconds()] for task in monthly.tasks},
    "lane": [lane(*codes) for codes in ([75], [1, 1, 0], [1] * 9, [1, 75])],
    "first_run": monthly.next_dagrun_info(last_automated_run_info=None).run_after.isoformat(),
}))
"""  # noqa: E501


TELL = """
import os, sys, tempfile
from types import SimpleNamespace
sys.path.insert(0, sys.argv[1])
from steps import report_failure
context = {"ti": SimpleNamespace(dag_id="a_dag", task_id="a_task", run_id="a run", try_number=3)}
os.environ["FIRSTFLIGHT_WEBHOOK_URL"] = sys.argv[2]
report_failure(context)
os.environ["FIRSTFLIGHT_WEBHOOK_URL"] = "http://127.0.0.1:1/"
report_failure(context)
del os.environ["FIRSTFLIGHT_WEBHOOK_URL"]
report_failure(context)
with tempfile.NamedTemporaryFile("w") as secret:
    os.environ["FIRSTFLIGHT_WEBHOOK_URL_FILE"] = secret.name
    report_failure(context)
    print(sys.argv[2], file=secret, flush=True)
    report_failure(context)
"""


class Webhook(BaseHTTPRequestHandler):
    """A stand-in for an operator's chat service."""

    reports: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        self.reports.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()


@pytest.fixture(scope="module")
def loaded(in_airflow: InAirflow) -> dict[str, Any]:
    """The DAGs as Airflow reads them from the folder."""
    ran = in_airflow(LOAD)
    assert ran.returncode == 0, ran.stderr
    facts: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    assert facts["errors"] == {}
    return facts


def test_unpausing_the_crawl_in_mid_month_runs_nothing_for_the_first_of_that_month(
    loaded: dict[str, Any],
) -> None:
    assert datetime.datetime.fromisoformat(loaded["first_run"]) > datetime.datetime.now(datetime.UTC)


def test_they_name_their_steps_in_order(loaded: dict[str, Any]) -> None:
    assert loaded["downstream"] == {
        "monthly_crawl": {
            "list": ["plan"],
            "plan": ["crawl_1", "crawl_2"],
            "crawl_1": ["gate"],
            "crawl_2": ["gate"],
            "gate": ["seal"],
            "seal": ["build"],
            "build": ["verify"],
            "verify": ["publish"],
            "publish": [],
        },
        "annual_report": {"ready": ["verify"], "verify": ["replay"], "replay": ["report"], "report": []},
        "maintenance": {"verify": ["detach"], "check": ["detach"], "backup": ["detach"], "detach": []},
    }


def test_lanes_are_tried_again_for_days_and_nothing_else_is(loaded: dict[str, Any]) -> None:
    lanes = {name: tries for name, tries in loaded["tries"].items() if name.startswith("crawl_")}
    assert set(map(tuple, lanes.values())) == {(480, 10.0)}
    assert {tries[0] for name, tries in loaded["tries"].items() if name not in lanes} == {1}


def test_a_lane_whose_time_is_over_is_tried_again_and_one_that_cannot_work_is_soon_given_up(
    loaded: dict[str, Any],
) -> None:
    assert loaded["lane"] == [
        ["AirflowException", 1, 0],
        ["success", 3, 30],
        ["AirflowFailException", 7, 630],
        ["AirflowException", 2, 10],
    ]


def test_a_failure_is_told_to_the_webhook_and_one_that_does_not_answer_is_no_failure(
    loaded: dict[str, Any], in_airflow: InAirflow
) -> None:
    assert loaded["silent"] == []
    with HTTPServer(("127.0.0.1", 0), Webhook) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            ran = in_airflow(TELL, f"http://127.0.0.1:{server.server_port}/hook")
        finally:
            server.shutdown()
    assert ran.returncode == 0, ran.stderr
    # By the URL itself and by the file that holds it.
    report, again = Webhook.reports
    assert report == again
    assert report == {
        "text": "a_dag.a_task failed after 3 tries",
        "dag": "a_dag",
        "task": "a_task",
        "run": "a run",
        "tries": 3,
    }
    assert ran.stdout.count("failed:") == 5


def test_no_two_tasks_make_an_asset_of_one_name(loaded: dict[str, Any]) -> None:
    assert sorted(loaded["assets"]) == ["firstflight://release/", "firstflight://report/"]


def test_every_dag_and_every_task_says_in_airflow_what_it_is_for(loaded: dict[str, Any]) -> None:
    assert loaded["undocumented"] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_dag_file_imports_airflow_and_the_steps_alone(file: Path) -> None:
    modules = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            modules.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.Import):
            modules.update(alias.name.split(".")[0] for alias in node.names)
    wanted = {"airflow"} if file == STEPS else {"airflow", "steps"}
    assert modules - sys.stdlib_module_names == wanted


def constants(tree: ast.Module) -> dict[str, Any]:
    """Names that a DAG file defines itself."""
    return {
        ast.unparse(statement.targets[0]): statement.value.value
        for statement in tree.body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
    }


def commands() -> dict[str, list[str]]:
    """Words of the command line of each task, read from the source: no Airflow is needed for it."""
    collected = {}
    for file in FILES:
        tree = ast.parse(file.read_text())
        known = constants(tree) | {"lane": "N"}
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "firstflight":
                name, command = (eval(ast.unparse(argument), {}, known) for argument in call.args)
                line = re.sub(r"\$\{\w+:\+(.*?)\}", r"\1", command)
                collected[f"{file.stem}.{name}"] = shlex.split(line)
    return collected


@pytest.mark.parametrize("task", sorted(commands()))
def test_every_command_exists_and_takes_these_arguments(task: str) -> None:
    words = commands()[task]
    command: click.Command = main
    context = click.Context(command)
    while isinstance(command, click.Group):
        name, *words = words
        loaded = command.get_command(context, name)
        assert loaded is not None, f"{task}: no command {name}"
        command = loaded
        context = click.Context(command, parent=context, info_name=name)
    values, rest, _ = command.make_parser(context).parse_args(list(words))
    assert rest == []
    missing = [
        parameter.name for parameter in command.params if parameter.required and parameter.name not in values
    ]
    assert missing == []
