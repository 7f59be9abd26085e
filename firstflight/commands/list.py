"""`firstflight list`: lists of sites, and the stored populations of networks."""

import datetime
import re

import click

from crawler.sites import fetch, lists
from crawler.sites.lists import Sites
from firstflight.commands.options import AS_JSON, show
from firstflight.commands.population import list_populations
from firstflight.errors import one_line
from firstflight.settings import Settings


@click.group()
def command() -> None:
    """Fetch lists of sites, and list populations of networks.

    \b
    Example:
      firstflight list fetch tranco --date 2026-11-01
      firstflight list fetch crux --month 2026-10
      firstflight list fetch sites.txt
      firstflight list populations
    """


command.add_command(list_populations, "populations")


@command.command("fetch")
@click.argument("source", metavar="tranco|crux|FILE")
@click.option("--id", "list_id", metavar="ID", help="Tranco: the list's permanent id.")
@click.option("--date", "day", type=click.DateTime(["%Y-%m-%d"]), help="Tranco: the daily list of that day.")
@click.option(
    "--entries",
    type=click.IntRange(1),
    default=fetch.TRANCO_ENTRIES,
    show_default=True,
    help="Tranco: sites from its head.",
)
@click.option("--month", metavar="YYYY-MM", help="CrUX: the month of its release.")
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
    lines (Umbrella), or is a list of Majestic, Cloudflare Radar or CrUX with its header; plain, gzipped or
    zipped. Every list is read to its end: a list that is cut short, is empty or has a site twice is an
    error. International names become A-labels.

    \b
    Example:
      firstflight list fetch tranco --id K2LPW
      firstflight crawl plan --crawl 2026-11 --list tranco:K2LPW --top 10000
    """
    with one_line(lists.ListError):
        if source == "tranco":
            sites = fetch.fetch_tranco(settings.lists, _tranco_id(list_id, day), entries=entries)
        elif source == "crux":
            if month is None or not re.fullmatch(r"[0-9]{4}-(0[1-9]|1[0-2])", month, re.ASCII):
                raise click.UsageError("crux needs --month YYYY-MM")
            sites = fetch.fetch_crux(settings.lists, month)
        else:
            sites = fetch.find_list(settings.lists, source)
    facts = facts_of(sites)
    show(facts, as_json=as_json, lines=[line(facts)])


def _tranco_id(list_id: str | None, day: datetime.datetime | None) -> str:
    if list_id is not None and day is None:
        return list_id
    if day is not None and list_id is None:
        return fetch.fetch_tranco_id(day.date())
    raise click.UsageError("tranco needs --id ID or --date YYYY-MM-DD, one of them")


def facts_of(sites: Sites) -> dict[str, str | int]:
    """Return the facts of a list."""
    return {
        "id": sites.id,
        "source": sites.source,
        "checksum": sites.checksum,
        "entries": len(sites.entries),
        "skipped": sites.skipped,
        "first": sites.entries[0].host,
        "last": sites.entries[-1].host,
    }


def line(facts: dict[str, str | int]) -> str:
    """Return the facts of a list as one line of text."""
    skipped = f", {facts['skipped']:,} lines that are no hosts left out" if facts["skipped"] else ""
    return (
        f"{facts['id']}: {facts['entries']:,} sites, {facts['first']} to {facts['last']}, "
        f"SHA-256 {facts['checksum']}{skipped}"
    )
