"""Every week: checks releases, replays, reports and the database, and copies the database.

The copy protects against mistakes, not against the loss of the disk: `scripts/backup` copies everything off
the machine. Planning a crawl makes its partitions. Crawls are detached from the database only if
`detach_after` is set.
"""

from airflow.sdk import DAG, Param
from steps import DAG_OPTIONS, firstflight

VARIABLES = {"KEEP": "{{ params.keep }}", "DETACH_AFTER": "{{ params.detach_after or '' }}"}

PARAMETERS = {
    "keep": Param(4, type="integer", minimum=1, description="Copies of the database to keep."),
    "detach_after": Param(
        None,
        type=["null", "integer"],
        minimum=1,
        description="Months after which a crawl's responses and connections are detached, "
        "if its release verifies. Empty: never.",
    ),
}

with DAG(
    dag_id="maintenance",
    doc_md=__doc__,
    schedule="0 2 * * 0",
    params=PARAMETERS,
    **DAG_OPTIONS,
) as dag:
    verify = firstflight(
        "verify",
        "verify --offline",
        env=VARIABLES,
        doc="Reads every release, replay and report whole: sums, signatures, "
        "and of releases counts, keys, distributions.",
    )
    check = firstflight(
        "check",
        "verify database",
        env=VARIABLES,
        doc="Looks for orphans, sites with two final visits, sums that do not add up, "
        "and seals that do not hold.",
    )
    backup = firstflight(
        "backup",
        'database backup --keep "$KEEP"',
        env=VARIABLES,
        doc="Copies the database of crawls, as pg_dump does, and removes the oldest copies.",
    )
    detach = firstflight(
        "detach",
        'database detach ${DETACH_AFTER:+--older-than "$DETACH_AFTER"}',
        env=VARIABLES,
        doc="Says which released crawls the database still holds whole; "
        "detaches old ones where the parameter says so.",
    )
    [verify, check, backup] >> detach
