"""A month that is late, in an Airflow whose scheduler runs: the message arrives."""

import contextlib
import http.server
import json
import os
import queue
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.dags.conftest import AIRFLOW_PYTHON

LATE_AFTER_DAYS = 5 / 86_400

WITHIN_S = 300

STAND_IN = """#!/bin/sh
[ "$1" = alert ] && exec {real} "$@"
exec sleep 1000
"""
"""The command line, of which all but alerts hangs."""


class Webhook(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        messages: queue.Queue[str] = self.server.messages  # type: ignore[attr-defined]
        messages.put(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextlib.contextmanager
def running(environment: Mapping[str, str], log: Path, *command: str) -> Iterator[None]:
    """Run a service of Airflow's in a process group of its own, with all that it starts."""
    with log.open("wb") as output:
        service = subprocess.Popen(
            [AIRFLOW_PYTHON, "-m", "airflow", *command],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield
        finally:
            os.killpg(service.pid, signal.SIGKILL)
            service.wait()


@pytest.mark.slow
def test_a_month_that_is_not_over_by_its_deadline_sends_a_message(
    airflow: dict[str, str], tmp_path: Path
) -> None:
    stand_in, port = tmp_path / "firstflight", free_port()
    stand_in.write_text(STAND_IN.format(real=airflow["FIRSTFLIGHT_BIN"]))
    stand_in.chmod(0o755)
    hook: Any = http.server.HTTPServer(("127.0.0.1", 0), Webhook)
    hook.messages = queue.Queue[str]()
    environment = {
        **airflow,
        "AIRFLOW__API__SECRET_KEY": "a secret of the test",
        "AIRFLOW__API_AUTH__JWT_SECRET": "a secret of the test, of 32 characters at least",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
        "FIRSTFLIGHT_ALERTS": f"http://127.0.0.1:{hook.server_port}/hook",
        "FIRSTFLIGHT_BIN": str(stand_in),
        "FIRSTFLIGHT_DEADLINE_DAYS": str(LATE_AFTER_DAYS),
    }
    with hook, contextlib.ExitStack() as services:
        threading.Thread(target=hook.serve_forever, daemon=True).start()
        services.callback(hook.shutdown)
        for command in (["dags", "reserialize"], ["dags", "trigger", "monthly_crawl", "--run-id", "late"]):
            done = subprocess.run(
                [AIRFLOW_PYTHON, "-m", "airflow", *command],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr[-4000:]
        logs = [tmp_path / name for name in ("api-server.log", "scheduler.log")]
        services.enter_context(running(environment, logs[0], "api-server", "--port", str(port)))
        services.enter_context(running(environment, logs[1], "scheduler"))
        try:
            message = hook.messages.get(timeout=WITHIN_S)
        except queue.Empty:
            pytest.fail("".join(log.read_text()[-4000:] for log in logs))
    assert message == (
        "The month's release is not made: the run late of monthly_crawl is not over by its deadline"
    )
