"""A task that runs one firstflight command, in the environment of the Airflow worker.

The command line is `$FIRSTFLIGHT_BIN`; the settings that it reads (FIRSTFLIGHT_DATABASE_URL,
FIRSTFLIGHT_DATA_DIR) are that environment's. Parameters reach the shell as variables, never as text of the
command: none can become one.
"""

import datetime
import json
import os
import subprocess
import time
from collections.abc import Mapping
from typing import Any

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DeadlineAlert, DeadlineReference, SyncCallback
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowRescheduleException,
    AirflowSkipException,
)

ALERT_WITHIN_S = 60


def send_alert(text: str) -> None:
    """Send a message to the alert address; the log says if that fails."""
    subprocess.run([os.environ["FIRSTFLIGHT_BIN"], "alert", text], timeout=ALERT_WITHIN_S, check=False)


def report_failure(context: Mapping[str, Any]) -> None:
    step = context["ti"]
    facts = {"dag": step.dag_id, "task": step.task_id, "run": step.run_id, "tries": step.try_number}
    print("failed:", json.dumps(facts))
    send_alert(f"{step.dag_id}.{step.task_id} failed after {step.try_number} tries, in the run {step.run_id}")


def report_missed_deadline(context: Mapping[str, Any], what: str) -> None:
    run = context["dag_run"]
    send_alert(f"{what}: the run {run['dag_run_id']} of {run['dag_id']} is not over by its deadline")


def deadline(what: str) -> DeadlineAlert:
    """Return a deadline of FIRSTFLIGHT_DEADLINE_DAYS, by default 7."""
    return DeadlineAlert(
        reference=DeadlineReference.DAGRUN_QUEUED_AT,
        interval=datetime.timedelta(days=float(os.environ.get("FIRSTFLIGHT_DEADLINE_DAYS") or 7)),
        callback=SyncCallback(report_missed_deadline, {"what": what}),
    )


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


AGAIN = 75
"""Exit code of a command whose time is over while work is left (EX_TEMPFAIL, sysexits.h)."""

WAITS_S = (10, 20, 40, 80, 160, 320)
"""Seconds between runs of a failing command: ten minutes in all, enough for a database to come back."""

QUICK_S = 300
"""A failure after a longer time is a failure at work, not at the start."""


class Repeated(BashOperator):  # type: ignore[misc]  # Airflow is not in our environment
    """A command that is run again, without using up a try, as long as it ends with AGAIN."""

    def __init__(self, *, again_after: datetime.timedelta, **options: Any) -> None:  # noqa: ANN401  # Airflow's
        super().__init__(skip_on_exit_code=AGAIN, **options)
        self.again_after = again_after

    def execute(self, context: Mapping[str, Any]) -> Any:  # noqa: ANN401  # Airflow's
        try:
            return super().execute(context)
        except AirflowSkipException:
            again_at = datetime.datetime.now(datetime.UTC) + self.again_after
            raise AirflowRescheduleException(again_at) from None


class Lane(Repeated):
    """A repeated command that is also run again a few times, at growing distances, where it fails quickly.

    Then it cannot work at all, and the task has failed whatever tries are left.
    """

    def execute(self, context: Mapping[str, Any]) -> Any:  # noqa: ANN401  # Airflow's
        for wait_s in (0, *WAITS_S):
            time.sleep(wait_s)
            began = time.monotonic()
            try:
                return super().execute(context)
            except AirflowRescheduleException:
                raise
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
        bash_command=f'set -o pipefail; "$FIRSTFLIGHT_BIN" {command}',
        env=dict(env),
        append_env=True,
        doc_md=doc,
        **options,
    )
