"""A task that runs one firstflight command, in the environment of the Airflow worker.

The command line is `$FIRSTFLIGHT_BIN`; the settings that it reads (FIRSTFLIGHT_DATABASE_URL,
FIRSTFLIGHT_DATA_DIR) are that environment's. Parameters reach the shell as variables, never as text of the
command: none can become one.
"""

import contextlib
import datetime
import json
import os
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow.exceptions import AirflowException, AirflowFailException, AirflowSkipException
from airflow.providers.standard.operators.bash import BashOperator

WEBHOOK_WITHIN_S = 10


def webhook_url() -> str:
    """Return FIRSTFLIGHT_WEBHOOK_URL, or what the file FIRSTFLIGHT_WEBHOOK_URL_FILE holds: a chat's URL is a
    secret.

    Empty if there is none.
    """
    file = os.environ.get("FIRSTFLIGHT_WEBHOOK_URL_FILE")
    return os.environ.get("FIRSTFLIGHT_WEBHOOK_URL") or (Path(file).read_text().strip() if file else "")


def report_failure(context: Mapping[str, Any]) -> None:
    """Report a failed task in its log, and as JSON to the webhook if one is set."""
    step = context["ti"]
    facts = {"dag": step.dag_id, "task": step.task_id, "run": step.run_id, "tries": step.try_number}
    print("failed:", json.dumps(facts))
    url = webhook_url()
    if url:
        text = f"{step.dag_id}.{step.task_id} failed after {step.try_number} tries"
        body = json.dumps({"text": text, **facts}).encode()
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})  # noqa: S310  # the operator's own
        with contextlib.suppress(OSError):  # its own failure would hide the step's
            urllib.request.urlopen(request, timeout=WEBHOOK_WITHIN_S).close()  # noqa: S310


DAG_OPTIONS: dict[str, Any] = {
    "catchup": False,
    "max_active_runs": 1,
    # A backfill would date what is seen today into the past.
    "allowed_run_types": ["scheduled", "manual"],
    "default_args": {
        "on_failure_callback": report_failure,
        "retries": 1,
        "retry_delay": datetime.timedelta(minutes=2),
        "execution_timeout": datetime.timedelta(hours=2),
    },
    "tags": ["firstflight"],
}
"""Options of every DAG."""


AGAIN = 75
"""Exit code of a command whose time is over while work is left (EX_TEMPFAIL, sysexits.h)."""

WAITS_S = (10, 20, 40, 80, 160, 320)
"""Seconds between runs of a failing command: ten minutes in all, enough for a database to come back."""

QUICK_S = 300
"""A failure after a longer time is a failure at work, not at the start."""


class Lane(BashOperator):  # type: ignore[misc]  # Airflow is not in our environment
    """A command that Airflow retries while it ends with AGAIN, until nothing is left to do.

    A command that fails otherwise, and quickly, is run again a few times, at growing distances. Then it
    cannot work at all, and the task has failed whatever tries are left.
    """

    def execute(self, context: Mapping[str, Any]) -> Any:  # noqa: ANN401  # Airflow's
        """Run the command until it succeeds, its time is over, or it has failed too often."""
        for wait_s in (0, *WAITS_S):
            time.sleep(wait_s)
            began = time.monotonic()
            try:
                return super().execute(context)
            except AirflowSkipException:
                raise AirflowException("its time is over, and there is more to do: tried again") from None
            except AirflowException:
                if time.monotonic() - began > QUICK_S:
                    raise
        raise AirflowFailException(f"it failed {1 + len(WAITS_S)} times in a row: its log says why")


def firstflight(
    task_id: str,
    command: str,
    *,
    env: Mapping[str, str],
    doc: str,
    operator: type[BashOperator] = BashOperator,
    **options: object,
) -> BashOperator:
    """A task that runs one command; Airflow's log is the command's output."""
    return operator(
        task_id=task_id,
        bash_command=f'exec "$FIRSTFLIGHT_BIN" {command}',
        env=dict(env),
        append_env=True,
        doc_md=doc,
        **options,
    )
