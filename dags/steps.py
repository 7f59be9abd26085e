"""A step of a DAG: one command of firstflight, in the environment of whatever runs the tasks.

The command line is `$FIRSTFLIGHT_BIN`; the settings that it reads (FIRSTFLIGHT_DATABASE_URL, FIRSTFLIGHT_DATA_DIR) are
that environment's. Parameters reach the shell as variables, never as text of the command: none can become one.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from airflow.providers.standard.operators.bash import BashOperator

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULTS = {
    "retries": 1,
    "retry_delay": datetime.timedelta(minutes=2),
    "execution_timeout": datetime.timedelta(hours=2),
}


def firstflight(
    task_id: str, command: str, *, env: Mapping[str, str], doc: str, **options: object
) -> BashOperator:
    """A task that runs one command; Airflow's log is the command's output."""
    return BashOperator(
        task_id=task_id,
        bash_command=f'exec "$FIRSTFLIGHT_BIN" {command}',
        env=dict(env),
        append_env=True,
        doc_md=doc,
        **options,
    )
