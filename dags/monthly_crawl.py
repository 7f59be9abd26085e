"""The month's crawl, from the list to a published release: the commands and their order.

Every step can be repeated: a step that is done does nothing. A lane claims sites for its minutes, and is
tried again until no site is left; gate and seal refuse before that.
"""

import datetime
import os

from airflow.sdk import DAG, Asset, CronPartitionTimetable, Param
from steps import AGAIN, DAG_OPTIONS, Lane, firstflight

LANES = int(os.environ.get("FIRSTFLIGHT_LANES") or 2)
"""Crawler processes at once. Any number may share a crawl: each claims sites from PostgreSQL."""

TRIES = 480
"""Tries of a lane: half an hour each for ten days."""

AGAIN_AFTER = datetime.timedelta(seconds=10)

MONTH = "{{ params.crawl or dag_run.run_after.strftime('%Y-%m') }}"

VARIABLES = {
    "MONTH": MONTH,
    # The whole name: a month may hold several crawls.
    "CRAWL": f"{MONTH}.desktop.local.tcp.{{{{ params.kind }}}}",
    "KIND": "{{ params.kind }}",
    "LIST": "{{ params.list }}",
    "TOP": "{{ params.top }}",
    "BROWSERS": "{{ params.browsers }}",
    "MINUTES": "{{ params.minutes }}",
    "LOCAL_WEB": "{{ params.local_web or '' }}",
    "UNFILTERED_EGRESS": "{{ '1' if params.unfiltered_egress else '' }}",
}

PARAMETERS = {
    "crawl": Param(
        None,
        type=["null", "string"],
        pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])$",
        description="The month it stands for. Empty: the month in which it runs; "
        "a crawl cannot be back-dated.",
    ),
    "kind": Param("web", enum=["web", "localweb"], description="Live sites, or the bundled local web."),
    "list": Param(
        "/data/lists/sites.csv",
        type="string",
        minLength=1,
        description="The list: a file, or an id like tranco:K2LPW.",
    ),
    "top": Param(10_000, type="integer", minimum=1, description="How many sites from the head of the list."),
    "browsers": Param(2, type="integer", minimum=1, maximum=64, description="Browsers of each lane."),
    "minutes": Param(
        30,
        type="integer",
        minimum=1,
        maximum=90,
        description="How long a lane claims sites before it is tried again.",
    ),
    "unfiltered_egress": Param(
        False,
        type="boolean",
        description="Crawl live sites though no address guard can be set up where the tasks run: a page can "
        "then reach whatever the worker can. Each visit records it.",
    ),
    "local_web": Param(
        None, type=["null", "string"], description="State file of the local web, where that is crawled."
    ),
}


with DAG(
    dag_id="monthly_crawl",
    doc_md=__doc__,
    # No start date: with one, unpausing in mid-month would at once run the first of the month,
    # as if it were the 1st.
    schedule=CronPartitionTimetable("0 3 1 * *", timezone="UTC", key_format="%Y-%m"),
    params=PARAMETERS,
    **DAG_OPTIONS,
) as dag:
    sites = firstflight(
        "list",
        'list fetch "$LIST"',
        env=VARIABLES,
        doc="Checks every line of the list: a file, or the id of one that was fetched.",
    )
    plan = firstflight(
        "plan",
        'crawl plan --crawl "$MONTH" --kind "$KIND" --list "$LIST" --top "$TOP"',
        env=VARIABLES,
        doc="Stores the list's version and the crawl's sites.",
    )
    lanes = [
        firstflight(
            f"crawl_{lane}",
            'crawl run --crawl "$CRAWL" --browsers "$BROWSERS" --minutes "$MINUTES" --until-empty --log json'
            ' ${LOCAL_WEB:+--local-web "$LOCAL_WEB"} ${UNFILTERED_EGRESS:+--unfiltered-egress}',
            env=VARIABLES,
            doc="Claims sites and visits them; tried again while any are left, "
            "and soon given up where it cannot work.",
            operator=Lane,
            skip_on_exit_code=AGAIN,
            retries=TRIES,
            retry_delay=AGAIN_AFTER,
        )
        for lane in range(1, LANES + 1)
    ]
    gate = firstflight(
        "gate",
        'crawl gate --crawl "$CRAWL"',
        env=VARIABLES,
        doc="Says how the sites ended, and stops the run where too few were visited, answered or are "
        "accounted for. To seal the crawl anyway, mark this task as successful.",
    )
    seal = firstflight(
        "seal",
        'crawl seal --crawl "$CRAWL"',
        env=VARIABLES,
        doc="Seals the crawl, never to be written again; refuses while sites are left.",
    )
    build = firstflight(
        "build", 'release build --crawl "$CRAWL"', env=VARIABLES, doc="Writes the release's Parquet files."
    )
    verify = firstflight(
        "verify",
        'verify release "$CRAWL"',
        env=VARIABLES,
        doc="Checks sums, counts and distributions.",
    )
    publish = firstflight(
        "publish",
        'release publish --crawl "$CRAWL"',
        env=VARIABLES,
        doc="Copies the release to the store of FIRSTFLIGHT_PUBLISH_URL, if one is set; "
        "the site serves it from the data folder.",
        outlets=[Asset("firstflight://release")],
    )
    sites >> plan >> lanes >> gate >> seal >> build >> verify >> publish
