"""`firstflight list`: lists of sites."""

import datetime

import click

from crawler.sites import fetch, lists
from firstflight.commands.options import AS_JSON, DAY, MONTH, show
from firstflight.errors import one_line
from firstflight.settings import Settings


@click.group()
def command() -> None:
    """Fetch lists of sites.

    \b
    Example:
      firstflight list fetch tranco --date 2026-11-01
      firstflight list fetch crux --month 2026-10
      firstflight list fetch sites.txt
    """


@command.command("fetch")
@click.argument("source", metavar="tranco|crux|FILE")
@click.option("--id", "list_id", metavar="ID", help="Tranco: the list's permanent id.")
@click.option("--date", "day", type=DAY, metavar="YYYY-MM-DD", help="Tranco: the daily list of that day.")
@click.option(
    "--entries",
    type=click.IntRange(1),
    default=fetch.TRANCO_ENTRIES,
    show_default=True,
    help="Tranco: sites from its head.",
)
@click.option("--month", type=MONTH, help="CrUX: the month of its release.")
@AS_JSON
@click.pass_obj
def fetch_(
    settings: Settings,
    *,
    source: str,
    list_id: str | None,
    day: datetime.datetime | None,
    entries: int,
    month: str | None,
    as_json: bool,
) -> None:
    """Fetch a public list, or check one in a file, and print its id, checksum and length.

    A fetched list is kept in the data folder and planned by its id. A FILE holds a host a line or RANK,HOST
    lines (Umbrella), or is a list of Majestic, Cloudflare Radar or CrUX with its header, or CrUX's JSON as
    BigQuery exports it; plain, gzipped or zipped. Every list is read to its end: a list that is cut short,
    is empty or has a site twice is an error. International names become A-labels.

    \b
    Example:
      firstflight list fetch tranco --id K2LPW
      firstflight list fetch crux --month 2026-10
      firstflight list fetch sites.txt
      firstflight crawl plan --crawl 2026-11 --list tranco:K2LPW --top 10000
    """
    with one_line(lists.ListError):
        if source == "tranco":
            sites = fetch.fetch_tranco(settings.lists, _tranco_id(list_id, day), entries=entries)
        elif source == "crux":
            if month is None:
                raise click.UsageError("crux needs --month YYYY-MM")
            sites = fetch.fetch_crux(settings.lists, month)
        else:
            sites = fetch.find_list(settings.lists, source)
    skipped = f", {sites.skipped:,} lines that are no hosts left out" if sites.skipped else ""
    first, last = sites.entries[0].host, sites.entries[-1].host
    show(
        {
            "id": sites.id,
            "source": sites.source,
            "checksum": sites.checksum,
            "entries": len(sites.entries),
            "skipped": sites.skipped,
            "first": first,
            "last": last,
        },
        as_json=as_json,
        lines=[
            f"{sites.id}: {len(sites.entries):,} sites, {first} to {last}, SHA-256 {sites.checksum}{skipped}"
        ],
    )


def _tranco_id(list_id: str | None, day: datetime.datetime | None) -> str:
    if list_id is not None and day is None:
        return list_id
    if day is not None and list_id is None:
        return fetch.fetch_tranco_id(day.date())
    raise click.UsageError("tranco needs --id ID or --date YYYY-MM-DD, one of them")
