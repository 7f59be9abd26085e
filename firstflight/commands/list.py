"""`firstflight list`: lists of sites."""

import datetime

import click

from crawler.sites import fetch, lists
from crawler.sites.lists import Sites
from firstflight.commands.options import AS_JSON, DAY, MONTH, show
from firstflight.errors import one_line
from firstflight.settings import Settings


@click.group()
def command() -> None:
    """Fetch lists of sites.

    \b
    Example:
      firstflight list fetch tranco
      firstflight list fetch crux --month 2026-10
      firstflight list fetch sites.txt
    """


@command.command("fetch")
@click.argument("source", metavar=f"{'|'.join(fetch.SOURCES)}|FILE")
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

    A public list is the newest, or what --id, --date or --month say. It is kept in the data folder and
    planned by its id. A FILE holds a host a line or RANK,HOST lines (Umbrella), or is a list of Majestic,
    Cloudflare Radar or CrUX with its header, or CrUX's JSON as BigQuery exports it; plain, gzipped or zipped.
    Every list is read to its end: a list that is cut short, is empty or has a site twice is an error.
    International names become A-labels. Radar's list needs a token of Cloudflare's API
    (FIRSTFLIGHT_RADAR_TOKEN).

    \b
    Example:
      firstflight list fetch tranco
      firstflight list fetch tranco --id K2LPW
      firstflight list fetch crux --month 2026-10
      firstflight list fetch sites.txt
      firstflight crawl plan --crawl 2026-11 --set list=tranco:K2LPW --set top=10000
    """
    if (list_id or day) and source != "tranco":
        raise click.UsageError("--id and --date are of tranco")
    if list_id and day:
        raise click.UsageError("give --id or --date, one of them")
    if month and source != "crux":
        raise click.UsageError("--month is of crux")
    with one_line(lists.ListError):
        sites = _fetch(settings.shelf, source, list_id=list_id, day=day, entries=entries, month=month)
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


def _fetch(
    shelf: fetch.Shelf,
    source: str,
    *,
    list_id: str | None,
    day: datetime.datetime | None,
    entries: int,
    month: str | None,
) -> Sites:
    if list_id is not None:
        return shelf.fetch_tranco(list_id, entries=entries)
    if day is not None:
        return shelf.fetch_tranco_of(day.date(), entries=entries)
    if month is not None:
        return shelf.fetch_crux(month)
    if source in fetch.SOURCES:
        return shelf.fetch_newest(source, entries=entries, today=datetime.datetime.now(datetime.UTC).date())
    return shelf.find(source)
