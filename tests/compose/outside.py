"""A running stack from outside: Airflow's API, the containers, the database, a crawl with its faults.

Standard library alone.

FIRSTFLIGHT_SECRETS in the environment is the folder that docker/secrets made.
"""

import dataclasses
import datetime
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

LOCAL_WEB = {"kind": "localweb", "local_web": "/var/tmp/localweb.json"}
"""Parameters of a monthly crawl of the bundled web."""

ONE_DEVICE = {**LOCAL_WEB, "list": "/data/lists/localweb.txt", "devices": ["desktop"]}
"""The same from a file, for desktop alone."""

REPORT = {
    "series": "desktop.local.tcp.localweb",
    "budget_minutes": 5,
    "confirming_minutes": 1,
    "arms": False,
}


class ComposeError(Exception):
    """A command of docker compose failed."""


UNREACHABLE = (OSError, HTTPException, ComposeError)


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
    password = (Path(os.environ["FIRSTFLIGHT_SECRETS"]) / "values/airflow_admin_password").read_text().strip()
    token = call(f"{AIRFLOW}/auth/token", {"username": "admin", "password": password})["access_token"]
    return call(f"{AIRFLOW}/api/v2/{path}", body, token=token, method=method)


def compose(*arguments: str, given: str = "") -> str:
    call = ["docker", "compose", *arguments]
    done = subprocess.run(call, input=given, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ComposeError(f"docker compose {' '.join(arguments)}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def in_tasks(*command: str) -> str:
    """Output of a command in the scheduler's container, run as its tasks are."""
    return compose("exec", "-T", "airflow-scheduler", "with-guard", *command)


def ask(statement: str, *, month: str) -> list[list[str]]:
    """Rows of the database of crawls; `:crawl` is the month's crawl of the bundled web for desktop."""
    crawl = "(SELECT id FROM crawl WHERE month = :'month' AND kind = 'localweb' AND device = 'desktop')"
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
        airflow(f"dags/{dag_id}", {"is_paused": False}, method="PATCH")
        asked = {"logical_date": None, "conf": parameters}
        self.dag_id = dag_id
        self.id = airflow(f"dags/{dag_id}/dagRuns", asked)["dag_run_id"]
        self.began = time.monotonic()

    @property
    def _path(self) -> str:
        return f"dags/{self.dag_id}/dagRuns/{self.id}"

    def state(self) -> str:
        return str(airflow(self._path)["state"])

    def tasks(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = airflow(f"{self._path}/taskInstances")["task_instances"]
        return found

    def check_grid(self) -> None:
        told = [
            (task["task_id"], task["map_index"], task["state"], task["try_number"]) for task in self.tasks()
        ]
        red = [one for one in told if one[2:] != ("success", 1)]
        assert told
        assert not red, red

    def task(self, task_id: str) -> dict[str, Any]:
        return next(task for task in self.tasks() if task["task_id"] == task_id)

    def log(self, task: dict[str, Any], attempt: int) -> str:
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


SITES = "SELECT count(*), count(final_visit_id), count(owner) FROM site WHERE crawl_id = :crawl"

WHOLE = {
    "sealed crawls": ("SELECT count(sealed_at) FROM crawl WHERE id = :crawl", 1),
    "sites without a final visit of theirs, or held": (
        "SELECT count(*) FROM site s LEFT JOIN visit v ON v.crawl_id = s.crawl_id AND v.id = "
        "s.final_visit_id AND v.rank = s.rank AND v.is_final WHERE s.crawl_id = :crawl AND (v.id IS "
        "NULL OR s.owner IS NOT NULL)",
        0,
    ),
    "sites with several final visits": (
        "SELECT count(*) - count(DISTINCT rank) FROM visit WHERE crawl_id = :crawl AND is_final",
        0,
    ),
    "visits twice": ("SELECT count(*) - count(DISTINCT id) FROM visit WHERE crawl_id = :crawl", 0),
    "responses twice": (
        "SELECT count(*) - count(DISTINCT (visit_id, id)) FROM response WHERE crawl_id = :crawl",
        0,
    ),
    "connections twice": (
        "SELECT count(*) - count(DISTINCT (visit_id, id)) FROM connection WHERE crawl_id = :crawl",
        0,
    ),
    "responses of no visit": (
        "SELECT count(*) FROM response r LEFT JOIN visit v ON v.crawl_id = r.crawl_id AND v.id = r.visit_id "
        "WHERE r.crawl_id = :crawl AND v.id IS NULL",
        0,
    ),
    "visits without some of their connections": (
        "SELECT count(*) FROM (SELECT FROM visit v LEFT JOIN connection c ON c.crawl_id = v.crawl_id AND "
        "c.visit_id = v.id WHERE v.crawl_id = :crawl GROUP BY v.crawl_id, v.id HAVING "
        "coalesce(sum(c.received_bytes), 0) <> v.received_bytes) x",
        0,
    ),
}
"""What is counted in the database at the end, and what it must come to."""


@dataclasses.dataclass(frozen=True, slots=True)
class Crawl:
    """A month's crawl."""

    month: str

    def sites(self) -> tuple[int, int, int]:
        """All, those with their final visit, those that a crawler holds."""
        ((planned, done, held),) = ask(SITES, month=self.month)
        return int(planned), int(done), int(held)

    def report_fault(self, fault: Callable[[], str]) -> str:
        """Make a fault while some sites are done and others under way, and wait for the next site.

        What happened, in a sentence.
        """
        wait(lambda: self.sites()[1] > 0 and self.sites()[2] > 0, "a crawl under way")
        done = self.sites()[1]
        what = fault()
        began, after = time.monotonic(), self.sites()[1]
        wait(lambda: self.sites()[1] > after, "another site")
        return f"at {done} sites {what}; the next was done {time.monotonic() - began:.0f} s later"

    def check_nothing_is_lost_or_twice(self) -> None:
        """Every site has one final visit, whole, and no row is there twice; sites ended as in this month's
        crawl, which nothing disturbed."""
        assert self.sites()[0] > 0
        for what, (statement, wanted) in WHOLE.items():
            found = int(ask(statement, month=self.month)[0][0])
            assert found == wanted, f"{what}: {found} instead of {wanted}"
        same_visits(self.month, f"{datetime.datetime.now(datetime.UTC):%Y-%m}")
