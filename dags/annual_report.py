"""The year's report: replays the pages of the year's newest crawl,
and says how many segments should be sent first.

It runs in January for the year before, and by hand for any year. It waits for nothing: if the newest crawl is
not over, or the population of networks is stale, it fails and says so. Months without a crawl are named by
`ready`, and are no failure. Every step can be run again.

The replay is cut into chunks of pages, each of which one task replays, wherever the data folder is seen: of
about half an hour, for a task of more than a hundred minutes may lose the token by which it reports. A chunk
that is done is found done.

A report is never replaced. Run again over the same inputs, the last task says that the version is there with
equal content, and ends well; over other inputs it publishes the next version, with the reason and the
corrections that the parameters state.
"""

import os

from airflow.sdk import DAG, Asset, CronPartitionTimetable, Param, task_group
from steps import DEFAULTS, firstflight

LANES = int(os.environ.get("FIRSTFLIGHT_LANES") or 2)
"""Chunks that are replayed at once, as lanes of a crawl."""

MINUTES = 30
"""Planned duration of a chunk in minutes; a slow machine or large pages may take three times as long."""

VARIABLES = {
    "YEAR": "{{ params.year or dag_run.run_after.year - 1 }}",
    "SERIES": "{{ params.series }}",
    "CRAWL": "{{ ti.xcom_pull(task_ids='ready') }}",
    "POPULATION": "{{ params.population }}",
    "NETWORKS": "{{ params.networks }}",
    "SEEDS": "{{ params.seeds }}",
    "PAGES": "{{ params.pages or '' }}",
    "REASON": "{{ params.reason }}",
    "CORRECTS": "{{ params.corrects }}",
}

REPLAY = (
    '--crawl "$CRAWL" --population "$POPULATION" --networks "$NETWORKS" --iw candidates --seeds "$SEEDS" '
    '--everyone ${PAGES:+--pages "$PAGES"}'
)
"""Options of the replay, the same for every chunk: all windows that the rule may recommend, and what its
guards ask."""

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
    "population": Param(
        "mlab-2025-10",
        type="string",
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$",
        description="Networks: a stored population, at most 24 months older than the crawl "
        "(`firstflight population list`).",
    ),
    "networks": Param(
        8,
        type="integer",
        minimum=2,
        maximum=200,
        description="The population's networks to replay over; each stands for a group of like ones.",
    ),
    "seeds": Param(3, type="integer", minimum=1, maximum=1000, description="Seeds of each cell."),
    "pages": Param(
        100,
        type=["null", "integer"],
        minimum=1,
        description="Pages to replay, evenly spread over their sizes. Empty: all.",
    ),
    "guests": Param(
        1,
        type="integer",
        minimum=1,
        maximum=256,
        description="Guests of a chunk at once, a core each; several chunks run at once.",
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
    "chunks": Param(
        LANES,
        type="integer",
        minimum=1,
        maximum=1000,
        description="Chunks at least; more where pages are many.",
    ),
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
        'report ready --year "$YEAR" --series "$SERIES" --population "$POPULATION"',
        # Its own variables alone: the crawl's name is what it finds.
        env={name: VARIABLES[name] for name in ("YEAR", "SERIES", "POPULATION")},
        doc="Which months of the year were crawled, whether the newest crawl is over, "
        "and whether the population is fresh.",
    )
    verify = firstflight(
        "verify",
        'release verify --crawl "$CRAWL"',
        env=VARIABLES,
        doc="Checks the release that the report is made of.",
    )
    plan = firstflight(
        "plan",
        f'replay plan {REPLAY} --minutes {MINUTES} --at-least "$CHUNKS"',
        env=VARIABLES | {"CHUNKS": "{{ params.chunks }}"},
        doc="Counts the loads, and the chunks that they are replayed in.",
        output_processor=lambda total: [f"{number}/{total}" for number in range(1, int(total) + 1)],
    )

    def replay(chunk: str) -> None:
        """Replay one chunk of the pages."""
        firstflight(
            "chunk",
            f'replay run {REPLAY} --guests "$GUESTS" --chunk "$CHUNK"',
            env=VARIABLES | {"GUESTS": "{{ params.guests }}", "CHUNK": chunk},
            doc="Replays some of the pages at every window over every network; "
            "done at once where it was done before.",
            max_active_tis_per_dagrun=LANES,
            retries=3,
        )

    merge = firstflight(
        "merge",
        f'replay merge {REPLAY} --chunks "$CHUNKS"',
        env=VARIABLES | {"CHUNKS": "{{ ti.xcom_pull(task_ids='plan') | length }}"},
        doc="Puts the chunks together; refuses those of another version of the release, "
        "other code or other options.",
    )
    report = firstflight(
        "report",
        'report build --year "$YEAR" --crawl "$CRAWL" --replay full --version next --reason '
        '"$REASON" --corrects "$CORRECTS"',
        env=VARIABLES,
        doc="Publishes the report to where the site serves it from; "
        "does nothing if a version with equal content is there.",
        outlets=[Asset("firstflight://report")],
    )
    chunks = task_group(replay).expand(chunk=plan.output)
    ready >> verify >> plan >> chunks >> merge >> report
