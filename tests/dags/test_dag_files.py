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
LANES, RELEASING = ("crawl_1", "crawl_2"), ("seal", "build", "verify", "publish")
FILES = sorted(DAGS.glob("*.py"))

LOAD = """
import datetime, json, sys, tempfile, warnings
from types import SimpleNamespace
from airflow.dag_processing.dagbag import BundleDagBag
from airflow.sdk.exceptions import AirflowException
from airflow.serialization.serialized_objects import DagSerialization
sys.path.insert(0, sys.argv[1])
warnings.simplefilter("error")
import annual_report, maintenance, monthly_crawl, steps
warnings.simplefilter("default")

# What becomes of a lane whose command ends with these codes, one after the other; how often it runs, and how long it waits.
def lane(*codes):
    ran, slept = tempfile.NamedTemporaryFile(), []
    steps.time.sleep = slept.append
    command = f"echo >> {ran.name}; codes=({' '.join(map(str, codes))}); exit ${{codes[$(wc -l < {ran.name}) - 1]}}"
    try:
        steps.Lane(task_id="lane", bash_command=command, again_after=datetime.timedelta(seconds=10)).execute({})
    except AirflowException as exc:
        became = type(exc).__name__
    else:
        became = "success"
    return [became, len(open(ran.name).readlines()), sum(slept)]

# Minutes that a task of the yearly report may take.
def limit(name, **params):
    task = SimpleNamespace(execution_timeout=None)
    hook = bag.dags["annual_report"].get_task(name)._pre_execute_hook
    hook({"ti": SimpleNamespace(task=task), "params": params})
    return task.execution_timeout.total_seconds() / 60

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
    "elsewhere": [
        task.task_id for dag in bag.dags.values() for task in dag.tasks if task.queue == "crawl"
    ],
    "deadlines": {
        name: [alert.interval.total_seconds() / 86400 for alert in [dag.deadline or []] for alert in (alert if isinstance(alert, list) else [alert])]
        for name, dag in bag.dags.items()
    },
    "limits": [
        limit("replay", budget_minutes=5, arms=False), limit("replay", budget_minutes=150, arms=True),
        limit("confirm", confirming_minutes=5),
    ],
    "defaults": {name: monthly.params[name] for name in ("list", "top", "devices")},
    "lane": [lane(*codes) for codes in ([75], [1, 1, 0], [1] * 9, [1, 75])],
    "first_run": monthly.next_dagrun_info(last_automated_run_info=None).run_after.isoformat(),
}))
"""  # noqa: E501


TELL = """
import sys
from types import SimpleNamespace
sys.path.insert(0, sys.argv[1])
import steps
steps.report_failure({"ti": SimpleNamespace(dag_id="a_dag", task_id="a_task", run_id="a run", try_number=3)})
missed = steps.deadline("The month's release is not made").callback
run = {"dag_id": "a_dag", "dag_run_id": "a run"}
getattr(steps, missed.path.rpartition(".")[2])(**missed.kwargs, context={"dag_run": run})
"""


class Webhook(BaseHTTPRequestHandler):
    """A stand-in for an operator's chat service."""

    reports: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        self.reports.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
        self.send_response(204)
        self.end_headers()


@pytest.fixture(scope="module")
def loaded(in_airflow: InAirflow) -> dict[str, Any]:
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
            # Each step takes the device from it.
            "check": sorted(f"device.{step}" for step in (*LANES, "plan", "gate", *RELEASING)),
            "device.plan": ["device.crawl_1", "device.crawl_2"],
            "device.crawl_1": ["device.gate"],
            "device.crawl_2": ["device.gate"],
            "device.gate": ["device.seal"],
            "device.seal": ["device.build"],
            "device.build": ["device.verify"],
            "device.verify": ["device.publish"],
            "device.publish": [],
        },
        "annual_report": {
            "check": ["ready"],
            "ready": ["verify"],
            "verify": ["replay"],
            "replay": ["lists"],
            "lists": ["confirm"],
            "confirm": ["report"],
            "report": [],
        },
        "maintenance": {"verify": ["detach"], "check": ["detach"], "backup": ["detach"], "detach": []},
    }


def test_an_operator_sets_nothing_for_the_newest_list_of_tranco(loaded: dict[str, Any]) -> None:
    assert loaded["defaults"] == {"list": "tranco", "top": 10_000, "devices": ["desktop"]}


def test_a_killed_lane_is_tried_again_at_once_and_everything_else_once(loaded: dict[str, Any]) -> None:
    lanes = {name: tries for name, tries in loaded["tries"].items() if name.startswith("device.crawl_")}
    assert set(map(tuple, lanes.values())) == {(20, 10.0)}
    assert {tries[0] for name, tries in loaded["tries"].items() if name not in lanes} == {1}


def test_other_machines_run_lanes_alone(loaded: dict[str, Any]) -> None:
    assert loaded["elsewhere"] == ["device.crawl_1", "device.crawl_2"]


def test_a_lane_whose_time_is_over_is_scheduled_again_and_one_that_cannot_work_is_soon_given_up(
    loaded: dict[str, Any],
) -> None:
    assert loaded["lane"] == [
        ["AirflowRescheduleException", 1, 0],
        ["success", 3, 30],
        ["AirflowFailException", 7, 630],
        ["AirflowRescheduleException", 2, 10],
    ]


def test_the_time_of_a_replay_follows_its_budget(loaded: dict[str, Any]) -> None:
    assert loaded["limits"] == [40, 390, 50]


def test_failures_and_missed_deadlines_are_sent_to_where_alerts_go(
    loaded: dict[str, Any], in_airflow: InAirflow, airflow: dict[str, str]
) -> None:
    assert loaded["silent"] == []
    assert loaded["deadlines"] == {"monthly_crawl": [7], "annual_report": [7], "maintenance": []}
    with HTTPServer(("127.0.0.1", 0), Webhook) as server:
        threading.Thread(target=server.serve_forever).start()
        airflow["FIRSTFLIGHT_ALERTS"] = f"http://127.0.0.1:{server.server_port}/hook"
        try:
            ran = in_airflow(TELL)
        finally:
            del airflow["FIRSTFLIGHT_ALERTS"]
            server.shutdown()
    assert ran.returncode == 0, ran.stderr
    assert Webhook.reports == [
        "a_dag.a_task failed after 3 tries, in the run a run",
        "The month's release is not made: the run a run of a_dag is not over by its deadline",
    ]
    nowhere = in_airflow(TELL)
    assert nowhere.returncode == 0, nowhere.stderr
    assert "alerts go nowhere" in nowhere.stderr


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
                collected[f"{file.stem}.{name}"] = shlex.split(re.split(r"&&|\|", line)[0])
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
