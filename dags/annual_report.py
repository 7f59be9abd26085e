"""The year's report: replays the pages of the year's newest crawl,
and says how many segments should be sent first.

It runs in January for the year before, and by hand for any year. It waits for nothing: if the newest crawl is
not over, or what networks are drawn from is stale, it fails and says so. Months without a crawl are named by
`ready`, and are no failure. Every step can be run again.

The pages are replayed in stages, until each candidate has its verdict or the budget is used. Stages and parts
of the next are stored as they end: a task that is tried again goes on from there.

A report is never replaced. Run again over the same inputs, the last task says that the version is there with
equal content, and ends well; over other inputs it publishes the next version, with the reason and the
corrections that the parameters state.
"""

from airflow.sdk import DAG, Asset, CronPartitionTimetable, Param
from steps import DAG_OPTIONS, firstflight

VARIABLES = {
    "YEAR": "{{ params.year or dag_run.run_after.year - 1 }}",
    "SERIES": "{{ params.series }}",
    "CRAWL": "{{ ti.xcom_pull(task_ids='ready') }}",
    "DECISION": "{{ ti.xcom_pull(task_ids='replay') }}",
    "BUDGET": "{{ params.budget_minutes }}",
    "ARMS": "{{ '' if params.arms else 'arms=[]' }}",
    "GUESTS": "{{ params.guests }}",
    "REASON": "{{ params.reason }}",
    "CORRECTS": "{{ params.corrects }}",
}


def variables(*names: str) -> dict[str, str]:
    """Return the variables of a step, which are those alone that are known by then."""
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
    "budget_minutes": Param(
        120, type="number", exclusiveMinimum=0, description="Most minutes of a core for the stages."
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

with DAG(
    dag_id="annual_report",
    doc_md=__doc__,
    schedule=CronPartitionTimetable("0 5 15 1 *", timezone="UTC", key_format="%Y"),
    params=PARAMETERS,
    **DAG_OPTIONS,
) as dag:
    ready = firstflight(
        "ready",
        'report ready --year "$YEAR" --series "$SERIES"',
        env=variables("YEAR", "SERIES"),
        doc="Which months of the year were crawled, whether the newest crawl is over, "
        "and whether the population of networks is fresh.",
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
        retries=3,
    )
    report = firstflight(
        "report",
        'report build --year "$YEAR" --crawl "$CRAWL" --replay "$DECISION" --version next '
        '--reason "$REASON" --corrects "$CORRECTS"',
        env=variables("YEAR", "CRAWL", "DECISION", "REASON", "CORRECTS"),
        doc="Publishes the report to where the site serves it from; "
        "does nothing if a version with equal content is there.",
        outlets=[Asset("firstflight://report")],
    )
    ready >> verify >> replay >> report
