"""The year's report: replays the pages of the year's newest crawl, and says how many segments should be sent first.

It runs in January for the year before, and by hand for any year. It waits for nothing: if the newest crawl is not over, it
fails and says so. Months without a crawl are named by `ready`, and are no failure. Every step can be run again.
"""

from __future__ import annotations

import datetime

from airflow.sdk import DAG, Asset, CronPartitionTimetable, Param
from steps import DEFAULTS, firstflight

VARIABLES = {
    "YEAR": "{{ params.year or dag_run.run_after.year - 1 }}",
    "SERIES": "{{ params.series }}",
    "CRAWL": "{{ ti.xcom_pull(task_ids='ready') }}",
    "SEEDS": "{{ params.seeds }}",
}

PARAMETERS = {
    "year": Param(
        None, type=["null", "integer"], minimum=2000, maximum=9999, description="Empty: last year."
    ),
    "series": Param(
        "desktop.local.tcp.web",
        type="string",
        pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+){3}$",
        description="Whose crawls: a crawl's name without its month.",
    ),
    "seeds": Param(3, type="integer", minimum=1, maximum=1000, description="Seeds of each cell."),
}

with DAG(
    dag_id="annual_report",
    doc_md=__doc__,
    schedule=CronPartitionTimetable("0 5 15 1 *", timezone="UTC", key_format="%Y"),
    catchup=False,
    max_active_runs=1,
    allowed_run_types=["scheduled", "manual"],
    params=PARAMETERS,
    default_args=DEFAULTS,
    tags=["firstflight"],
) as dag:
    ready = firstflight(
        "ready",
        'report ready --year "$YEAR" --series "$SERIES"',
        # Its own variables alone: the crawl's name is what it finds.
        env={name: VARIABLES[name] for name in ("YEAR", "SERIES")},
        doc="Which months of the year were crawled, and whether the newest crawl is over: its name is the last line.",
    )
    verify = firstflight(
        "verify",
        'release verify --crawl "$CRAWL"',
        env=VARIABLES,
        doc="Checks the release that the report is made of.",
    )
    replay = firstflight(
        "replay",
        'replay run --crawl "$CRAWL" --seeds "$SEEDS"',
        env=VARIABLES,
        doc="Replays its pages at every window over every network, on all cores of its machine.",
        execution_timeout=datetime.timedelta(hours=24),
    )
    report = firstflight(
        "report",
        'report build --year "$YEAR" --crawl "$CRAWL"',
        env=VARIABLES,
        doc="Writes the report to where the site serves it from.",
        outlets=[Asset("firstflight://report")],
    )
    ready >> verify >> replay >> report
