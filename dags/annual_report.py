"""The year's report: replays the pages of the year's newest crawl, has other lists of pages confirm the
answer, and says how many segments should be sent first.

It runs in January for the year before, once December's release is there, and by hand for any year. If the
newest crawl is not over, or what networks are drawn from is stale, it fails and says so. Months without a
crawl are named by `ready`, and are no failure. Every step can be run again.

The pages are replayed in stages, until each candidate has its verdict or the budget is used. Stages and parts
of the next are stored as they end: a task that is tried again goes on from there.

A report is never replaced. Run again over the same inputs, the last task says that the version is there with
equal content, and ends well; over other inputs it publishes the next version, with the reason and the
corrections that the parameters state.
"""

import datetime
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, Asset, CronPartitionTimetable, Param
from steps import DAG_OPTIONS, Repeated, deadline, firstflight

REPORT = Asset("firstflight://report")

ARMS_MINUTES = 30

VARIABLES = {
    "YEAR": "{{ params.year or dag_run.run_after.year - 1 }}",
    "SERIES": "{{ params.series }}",
    "DECEMBER": "{{ '1' if (dag_run.run_type == 'scheduled' if params.december is none else params.december) "
    "else '' }}",
    "CRAWL": "{{ ti.xcom_pull(task_ids='ready') }}",
    "DECISION": "{{ ti.xcom_pull(task_ids='replay') }}",
    "BUDGET": "{{ params.budget_minutes }}",
    "CONFIRMING": "{{ params.confirming_minutes }}",
    "ARMS": "{{ '' if params.arms else 'arms=[]' }}",
    "GUESTS": "{{ params.guests }}",
    "REASON": "{{ params.reason }}",
    "CORRECTS": "{{ params.corrects }}",
}


def variables(*names: str) -> dict[str, str]:
    """Return a step's environment, of what is known when it starts."""
    return {name: VARIABLES[name] for name in names}


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
    "december": Param(
        None,
        type=["null", "boolean"],
        description="Wait until December's release is there. Empty: scheduled runs do, and others take the "
        "newest crawl of the year.",
    ),
    "budget_minutes": Param(
        120, type="number", exclusiveMinimum=0, description="Most minutes of a core for the stages."
    ),
    "confirming_minutes": Param(
        40,
        type="number",
        exclusiveMinimum=0,
        description="Most minutes of a core for each of the two lists of pages that confirm the answer.",
    ),
    "arms": Param(
        True,
        type="boolean",
        description="Also load other inputs, for the table of who would decide otherwise: half an hour of a "
        "core.",
    ),
    "guests": Param(
        2, type="integer", minimum=1, maximum=256, description="Guests that replay at once, a core each."
    ),
    "reason": Param(
        "the annual run found other inputs than those of the version before",
        type="string",
        minLength=1,
        maxLength=1000,
        description="Why a later version is published, where the content differs from the newest version's.",
    ),
    "corrects": Param(
        "no known mistake: it has the inputs that are named as changed",
        type="string",
        minLength=1,
        maxLength=1000,
        description="What a later version corrects in the one before.",
    ),
}


def limit_replay(context: Mapping[str, Any]) -> None:
    """Limit the replay to twice its budget, since it shares its core, and half an hour."""
    minutes = context["params"]["budget_minutes"] + ARMS_MINUTES * context["params"]["arms"]
    context["ti"].task.execution_timeout = datetime.timedelta(minutes=2 * minutes + 30)


def limit_confirmation(context: Mapping[str, Any]) -> None:
    """Limit both lists' loads to twice their budgets, since they share a core, and half an hour."""
    minutes = 2 * context["params"]["confirming_minutes"]
    context["ti"].task.execution_timeout = datetime.timedelta(minutes=2 * minutes + 30)


def describe_asset(context: Mapping[str, Any], page: str) -> None:
    folder = Path(page).parent
    context["outlet_events"][REPORT].extra = {
        "crawl": context["ti"].xcom_pull(task_ids="ready"),
        "version": folder.name,
        "checksum": hashlib.sha256((folder / "SHA256SUMS").read_bytes()).hexdigest(),
    }


with DAG(
    dag_id="annual_report",
    doc_md=__doc__,
    schedule=CronPartitionTimetable("0 5 15 1 *", timezone="UTC", key_format="%Y"),
    params=PARAMETERS,
    deadline=deadline("The year's report is not made"),
    **DAG_OPTIONS,
) as dag:
    check = firstflight(
        "check",
        "doctor",
        env={},
        doc="Checks what the machine lacks for the whole run, before anything is begun.",
    )
    ready = firstflight(
        "ready",
        'report ready --year "$YEAR" --series "$SERIES" ${DECEMBER:+--december}',
        env=variables("YEAR", "SERIES", "DECEMBER"),
        doc="Waits for December's release where it is to; then says which months of the year were crawled, "
        "whether the newest crawl is over, and whether the population of networks is fresh.",
        operator=Repeated,
        again_after=datetime.timedelta(hours=1),
    )
    verify = firstflight(
        "verify",
        'verify release "$CRAWL"',
        env=variables("CRAWL"),
        doc="Checks the release that the report is made of.",
    )
    replay = firstflight(
        "replay",
        'replay run edition --set pages="$CRAWL" --set budget_minutes="$BUDGET" ${ARMS:+--set "$ARMS"} '
        '--guests "$GUESTS"',
        env=variables("CRAWL", "BUDGET", "ARMS", "GUESTS"),
        doc="Replays the pages in stages, until each candidate has its verdict; goes on from whole stages.",
        # The last line is the file of the verdict, in the folder of the decision, whose name ends in its id.
        output_processor=lambda line: line.rpartition("/")[0].rpartition(".")[2],
        pre_execute=limit_replay,
        retries=3,
    )
    lists = firstflight(
        "lists",
        "import pages tranco-2023-11 tranco-2024-11",
        env={},
        doc="Makes releases of the lists of pages that confirm the answer; they come with the code.",
    )
    confirm = firstflight(
        "confirm",
        'replay confirm --of "$CRAWL" --replay "$DECISION" --set budget_minutes="$CONFIRMING" '
        '--guests "$GUESTS"',
        env=variables("CRAWL", "DECISION", "CONFIRMING", "GUESTS"),
        doc="Replays the pages of other lists with what is worth it, if anything is.",
        pre_execute=limit_confirmation,
        retries=3,
    )
    report = firstflight(
        "report",
        'report build --year "$YEAR" --crawl "$CRAWL" --replay "$DECISION" --version next '
        '--reason "$REASON" --corrects "$CORRECTS"',
        env=variables("YEAR", "CRAWL", "DECISION", "REASON", "CORRECTS"),
        doc="Publishes the report to where the site serves it from; "
        "does nothing if a version with equal content is there.",
        outlets=[REPORT],
        post_execute=describe_asset,
    )
    check >> ready >> verify >> replay >> lists >> confirm >> report
