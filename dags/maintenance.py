"""Every week: checks all releases against their sums, and copies the database into the data folder.

The copy outlives a mistake, not the disk: `scripts/backup` takes everything off the machine.
"""

from __future__ import annotations

from airflow.sdk import DAG, Param
from steps import DEFAULTS, firstflight

VARIABLES = {"KEEP": "{{ params.keep }}"}

with DAG(
    dag_id="maintenance",
    doc_md=__doc__,
    schedule="0 2 * * 0",
    catchup=False,
    max_active_runs=1,
    params={"keep": Param(4, type="integer", minimum=1, description="Copies of the database to keep.")},
    default_args=DEFAULTS,
    tags=["firstflight"],
) as dag:
    firstflight(
        "verify",
        "release verify --all --offline",
        env=VARIABLES,
        doc="Reads every release whole: sums, counts, keys, distributions.",
    )
    firstflight(
        "backup",
        'database backup --keep "$KEEP"',
        env=VARIABLES,
        doc="Copies the database of crawls, as pg_dump does, and removes the oldest copies.",
    )
