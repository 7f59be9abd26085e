"""A running stack from outside: Airflow's API, the containers, the database. Standard library alone.

FIRSTFLIGHT_SECRETS in the environment is the folder that docker/secrets made.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any

AIRFLOW = os.environ.get("AIRFLOW_URL", "http://127.0.0.1:8080")
SITE = os.environ.get("SITE_URL", "http://127.0.0.1:8750")
WITHIN_S = 600

LOCAL_WEB = {"kind": "localweb", "list": "/data/lists/localweb.txt", "local_web": "/var/tmp/localweb.json"}
"""Parameters of a monthly crawl of the bundled web."""

REPORT = {"series": "desktop.local.tcp.localweb", "budget_minutes": 1, "arms": False}
"""Parameters of a quick report, without its year."""


class ComposeError(Exception):
    """A command of docker compose failed."""


UNREACHABLE = (OSError, HTTPException, ComposeError)
"""Errors of a stack whose parts are away."""


def call(url: str, body: dict[str, Any] | None = None, *, token: str = "", method: str | None = None) -> Any:
    """The JSON that `url` answers with; POST where there is a body, unless another method is asked for."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, method=method)
    request.add_header("Content-Type", "application/json")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def airflow(path: str, body: dict[str, Any] | None = None, *, method: str | None = None) -> Any:
    """Airflow's answer to the one user there is."""
    password = (Path(os.environ["FIRSTFLIGHT_SECRETS"]) / "values/airflow_admin_password").read_text().strip()
    token = call(f"{AIRFLOW}/auth/token", {"username": "admin", "password": password})["access_token"]
    return call(f"{AIRFLOW}/api/v2/{path}", body, token=token, method=method)


def compose(*arguments: str, given: str = "") -> str:
    """Output of `docker compose`, which gets `given` on its standard input."""
    call = ["docker", "compose", *arguments]
    done = subprocess.run(call, input=given, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ComposeError(f"docker compose {' '.join(arguments)}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def in_tasks(*command: str) -> str:
    """Output of a command in the scheduler's container, run as its tasks are."""
    return compose("exec", "-T", "airflow-scheduler", "with-guard", *command)


def ask(statement: str, *, month: str) -> list[list[str]]:
    """Rows of the database of crawls; `:crawl` is the month's crawl of the bundled web."""
    crawl = "(SELECT id FROM crawl WHERE month = :'month' AND kind = 'localweb')"
    psql = ["psql", "-U", "postgres", "-d", "firstflight", "-qAtF ", "-v", "ON_ERROR_STOP=1"]
    found = compose(
        "exec", "-T", "postgres", *psql, "-v", f"month={month}", given=statement.replace(":crawl", crawl)
    )
    return [line.split(" ") for line in found.splitlines()]


VISITS = """
SELECT v.host, v.outcome, count(r.id), sum(r.body_bytes)
FROM visit v LEFT JOIN response r ON r.crawl_id = v.crawl_id AND r.visit_id = v.id
WHERE v.crawl_id = :crawl AND v.is_final GROUP BY v.host, v.outcome ORDER BY v.host
"""
"""Final visits of a crawl. Of their bytes, the bodies':
headers' in HTTP/2 depend on those before them on the connection."""


def same_visits(month: str, other: str) -> int:
    """The number of sites of two crawls of the bundled web, which must end alike with the same responses."""
    found, wanted = ask(VISITS, month=month), ask(VISITS, month=other)
    assert found == wanted, [pair for pair in zip(found, wanted, strict=False) if pair[0] != pair[1]]
    return len(found)


class Run:
    """One run of a DAG."""

    def __init__(self, dag_id: str, parameters: dict[str, Any]) -> None:
        """Start it."""
        airflow(f"dags/{dag_id}", {"is_paused": False}, method="PATCH")
        asked = {"logical_date": None, "conf": parameters}
        self.dag_id = dag_id
        self.id = airflow(f"dags/{dag_id}/dagRuns", asked)["dag_run_id"]
        self.began = time.monotonic()

    @property
    def _path(self) -> str:
        return f"dags/{self.dag_id}/dagRuns/{self.id}"

    def state(self) -> str:
        """Airflow's word for it."""
        return str(airflow(self._path)["state"])

    def tasks(self) -> list[dict[str, Any]]:
        """The current state of its tasks."""
        found: list[dict[str, Any]] = airflow(f"{self._path}/taskInstances")["task_instances"]
        return found

    def task(self, task_id: str) -> dict[str, Any]:
        """One of them."""
        return next(task for task in self.tasks() if task["task_id"] == task_id)

    def log(self, task: dict[str, Any], attempt: int) -> str:
        """The log of a try of a task."""
        where = f"taskInstances/{task['task_id']}/logs/{attempt}?map_index={task['map_index']}"
        return json.dumps(airflow(f"{self._path}/{where}"))

    def again(self, task_id: str) -> None:
        """Clear a task and what comes after it, as an operator would."""
        asked = {
            "dry_run": False,
            "dag_run_id": self.id,
            "task_ids": [task_id],
            "only_failed": False,
            "include_downstream": True,
        }
        airflow(f"dags/{self.dag_id}/clearTaskInstances", asked)

    def success(self) -> float:
        """Wait for its end; its seconds.

        Ends this program, saying what its tasks came to, if that is no success.
        """
        try:
            wait(lambda: self.state() in ("success", "failed"), f"the end of {self.dag_id}")
        except SystemExit:
            self.tell()
            raise
        if self.state() == "success":
            return time.monotonic() - self.began
        self.tell()
        sys.exit(f"the run of {self.dag_id} failed")

    def tell(self) -> None:
        """Print what its tasks came to, and the end of the log of each that is
        neither done nor still to come."""
        for task in self.tasks():
            attempt = task["try_number"]
            print(f"{task['task_id']}: {task['state']}, try {attempt}, {task['duration']} s", file=sys.stderr)
            if attempt and task["state"] != "success":
                print(self.log(task, attempt)[-4000:], file=sys.stderr)


def wait(is_so: Callable[[], bool], what: str, within_s: float = WITHIN_S) -> None:
    """Look until it is so; a stack that does not answer is looked at again.

    Ends this program if it takes too long.
    """
    began = time.monotonic()
    while time.monotonic() - began < within_s:
        try:
            if is_so():
                return
        except UNREACHABLE:
            pass
        time.sleep(1)
    sys.exit(f"still waiting for {what} after {within_s:.0f} s")
