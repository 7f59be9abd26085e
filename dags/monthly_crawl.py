"""The month's crawls, from the list to published releases: the commands and their order, for each device.

The list is by default the newest of the month, which all devices share. Every step can be repeated: a step
that is done does nothing. A lane claims sites for its minutes, and runs again until no site is left; gate and
seal refuse before that. If the releases are not made within seven days, an alert says so.
"""

import datetime
import json
import os
from collections.abc import Mapping
from typing import Any

from airflow.sdk import DAG, Asset, CronPartitionTimetable, Param, task_group
from steps import DAG_OPTIONS, Lane, deadline, firstflight

LANES = int(os.environ.get("FIRSTFLIGHT_LANES") or 2)
"""Crawler processes at once. Any number may share a crawl: each claims sites from PostgreSQL."""

TRIES = 20
"""Tries of a lane; each killed worker uses up one."""

AGAIN_AFTER = datetime.timedelta(seconds=10)

RELEASE = Asset("firstflight://release")

VARIABLES = {
    "MONTH": "{{ params.crawl or dag_run.run_after.strftime('%Y-%m') }}",
    "VANTAGE": "{{ params.vantage }}",
    "ARM": "{{ params.arm }}",
    "KIND": "{{ params.kind }}",
    "LIST": "{{ params.list }}",
    "TOP": "{{ params.top }}",
    "ATTEMPTS": "{{ params.attempts }}",
    "LOADS": "{{ params.loads }}",
    "INNER": "{{ params.inner }}",
    "BROWSERS": "{{ params.browsers }}",
    "MINUTES": "{{ params.minutes }}",
    "LOCAL_WEB": "{{ params.local_web or '' }}",
    "UNFILTERED_EGRESS": "{{ '1' if params.unfiltered_egress else '' }}",
}

CRAWL = '"$MONTH.$DEVICE.$VANTAGE.$ARM.$KIND"'
"""The whole name: a month may hold several crawls."""

LABEL = r"^[a-z0-9][a-z0-9-]{0,31}$"

PARAMETERS = {
    "crawl": Param(
        None,
        type=["null", "string"],
        pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])$",
        description="The month it stands for. Empty: the month in which it runs; "
        "a crawl cannot be back-dated.",
    ),
    "list": Param(
        os.environ.get("FIRSTFLIGHT_LIST") or "tranco",
        type="string",
        minLength=1,
        description="The list: tranco, crux, umbrella, majestic or radar for the newest of the month; an id "
        "like tranco:K2LPW; or a file.",
    ),
    "top": Param(
        int(os.environ.get("FIRSTFLIGHT_TOP") or 10_000),
        type="integer",
        minimum=1,
        description="How many sites from the head of the list.",
    ),
    "devices": Param(
        (os.environ.get("FIRSTFLIGHT_DEVICES") or "desktop").replace(",", " ").split(),
        type="array",
        items={"enum": ["desktop", "mobile"]},
        minItems=1,
        uniqueItems=True,
        description="A crawl and a release for each.",
    ),
    "vantage": Param("local", type="string", pattern=LABEL, description="Label of the place crawled from."),
    "arm": Param("tcp", enum=["tcp", "quic"], description="TCP alone, or QUIC where a site offers HTTP/3."),
    "kind": Param("web", enum=["web", "localweb"], description="Live sites, or the bundled local web."),
    "attempts": Param(2, type="integer", minimum=1, maximum=9, description="Most visits of a site."),
    "loads": Param(1, type="integer", minimum=1, maximum=9, description="Loads of each home page."),
    "inner": Param(0, type="integer", minimum=0, maximum=9, description="Inner pages of each site."),
    "browsers": Param(2, type="integer", minimum=1, maximum=64, description="Browsers of each lane."),
    "minutes": Param(
        30,
        type="integer",
        minimum=1,
        maximum=90,
        description="How long a lane claims sites before it is started again.",
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


def describe_asset(context: Mapping[str, Any], _result: object) -> None:
    step = context["ti"]
    built = step.xcom_pull(task_ids="device.build", map_indexes=step.map_index)
    context["outlet_events"][RELEASE].extra = {name: built[name] for name in ("crawl", "version", "checksum")}


@task_group(group_id="device")  # type: ignore[untyped-decorator]  # Airflow is not in our environment
def release(device: str) -> None:
    """The crawl of one device, and its release."""
    env = {**VARIABLES, "DEVICE": device}
    plan = firstflight(
        "plan",
        'crawl plan --crawl "$MONTH" --set device="$DEVICE" --set vantage="$VANTAGE" --set arm="$ARM" '
        '--set kind="$KIND" --set list="$LIST" --set top="$TOP" --set attempts="$ATTEMPTS" '
        '--set loads="$LOADS" --set inner_pages="$INNER"',
        env=env,
        doc="Fetches the list if the month has none yet; stores its id and checksum, and the crawl's sites.",
        # The first device fetches the list, and the others have the same.
        max_active_tis_per_dagrun=1,
    )
    lanes = [
        firstflight(
            f"crawl_{lane}",
            f'crawl run --crawl {CRAWL} --set browsers="$BROWSERS" --set minutes="$MINUTES" --until-empty '
            '--log json ${LOCAL_WEB:+--set local_web="$LOCAL_WEB"} '
            "${UNFILTERED_EGRESS:+--set unfiltered_egress=true}",
            env=env,
            doc="Claims sites and visits them; started again while any are left, "
            "and soon given up where it cannot work.",
            operator=Lane,
            again_after=AGAIN_AFTER,
            retries=TRIES,
            retry_delay=AGAIN_AFTER,
            # Celery's workers on other machines take this queue alone: lanes need no disk of the others.
            queue="crawl",
            # Devices take turns at a lane: there are no more lanes than for one device.
            max_active_tis_per_dagrun=1,
        )
        for lane in range(1, LANES + 1)
    ]
    gate = firstflight(
        "gate",
        f"crawl gate --crawl {CRAWL}",
        env=env,
        doc="Says how the sites ended, and stops the run where too few were visited, answered or are "
        "accounted for. To seal the crawl anyway, mark this task as successful.",
    )
    seal = firstflight(
        "seal",
        f"crawl seal --crawl {CRAWL}",
        env=env,
        doc="Seals the crawl, never to be written again; refuses while sites are left.",
    )
    build = firstflight(
        "build",
        f"release build --crawl {CRAWL} --json | tr -d '\\n'",
        env=env,
        doc="Writes the release's Parquet files.",
        output_processor=json.loads,
    )
    verify = firstflight(
        "verify", f"verify release {CRAWL}", env=env, doc="Checks sums, counts and distributions."
    )
    publish = firstflight(
        "publish",
        f"release publish --crawl {CRAWL}",
        env=env,
        doc="Copies the release to the store of FIRSTFLIGHT_PUBLISH_URL, if one is set; "
        "the site serves it from the data folder.",
        outlets=[RELEASE],
        post_execute=describe_asset,
    )
    plan >> lanes >> gate >> seal >> build >> verify >> publish


with DAG(
    dag_id="monthly_crawl",
    doc_md=__doc__,
    # No start date: with one, unpausing in mid-month would at once run the first of the month,
    # as if it were the 1st.
    schedule=CronPartitionTimetable("0 3 1 * *", timezone="UTC", key_format="%Y-%m"),
    params=PARAMETERS,
    deadline=deadline("The month's release is not made"),
    **DAG_OPTIONS,
) as dag:
    check = firstflight(
        "check",
        'doctor && echo "$DEVICES"',
        env={"DEVICES": "{{ params.devices | tojson }}"},
        doc="Checks what the machine lacks for the whole month, before anything is begun.",
        output_processor=json.loads,
    )
    release.expand(device=check.output)
