"""`firstflight crawl plan`: the list, the sites and the settings of a crawl."""

import datetime
import json
from pathlib import Path

import click
from sqlalchemy import Engine

from crawler.browser.user_agent import check_contact
from crawler.campaign import plan as campaign
from crawler.sites import fetch, optout
from crawler.sites.lists import ListError, Sites
from firstflight.commands.crawl.options import EXPECTED, FILE, SETTINGS, read_asked
from firstflight.commands.options import AS_JSON, MONTH, show
from firstflight.commit import code_commit
from firstflight.connect import database
from firstflight.crawl_file import crawl_file_schema
from firstflight.errors import one_line
from firstflight.settings import Settings
from schema.crawls import CrawlName
from storage.crawls import find_old_list_month


@click.command()
@FILE
@click.option("--crawl", "month", type=MONTH, help="Month of the crawl: 2026-11.")
@SETTINGS
@AS_JSON
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the file, with all names and values.")
@click.pass_obj
def plan(
    settings: Settings,
    *,
    file: Path | None,
    month: str | None,
    given: tuple[str, ...],
    as_json: bool,
    schema: bool,
) -> None:
    """Plan the crawl that a TOML file describes: its list, its sites and its settings. The same plan twice is
    one crawl.

    `crawl run` and `crawl gate` take the same file. The newest list is fetched once a month: other crawls of
    the month have the same. If it cannot be fetched, a warning says so and the one that was fetched last is
    planned. Sites that opted out (`firstflight optout`) are left out.

    \b
    Example:
      firstflight crawl plan --crawl 2026-11 --set top=1000
      firstflight crawl plan --crawl 2026-11 --set list=sites.txt --set device=mobile
      firstflight crawl plan crawl.toml --crawl 2026-11
    """
    if schema:
        click.echo(json.dumps(crawl_file_schema(), indent=2))
        return
    if month is None:
        raise click.UsageError("give the month: --crawl 2026-11")
    asked = read_asked(file, given)
    contact_url = asked.contact_url or settings.contact_url
    name = CrawlName(month=month, device=asked.device, vantage=asked.vantage, arm=asked.arm, kind=asked.kind)
    with one_line(*EXPECTED), database(settings) as engine:
        sites = find_sites(settings, engine, month, asked.list, asked.top)
        wanted = campaign.CrawlPlan(
            name=name,
            sites=sites,
            top=asked.top,
            attempts=asked.attempts,
            budget_s=asked.budget_s,
            commit=code_commit(settings.commit),
            optout=optout.read_optout(settings.opt_out) if settings.opt_out.exists() else None,
            loads=asked.loads,
            inner_pages=asked.inner_pages,
            user_agent=asked.user_agent,
            contact_url=check_contact(contact_url) if contact_url else None,
        )
        crawl, new = campaign.plan(engine, wanted)
        with engine.connect() as connection:
            list_month = find_old_list_month(connection, crawl)
    if list_month is not None:
        click.echo(f"warning: the list {sites.id} is of {list_month}", err=True)
    done = "planned" if new else "exists already, planned just so"
    show(
        {
            "crawl": str(name),
            "new": new,
            "sites": crawl.top,
            "list": sites.id,
            "checksum": sites.checksum,
            "old_list_month": list_month,
        },
        as_json=as_json,
        lines=[
            f"{name} {done}: {crawl.top:,} sites of {sites.id}"
            + (f", {crawl.optout_sites:,} opted out" if crawl.optout_sites else "")
        ],
    )


def find_sites(settings: Settings, engine: Engine, month: str, source: str, top: int | None) -> Sites:
    """Return the list of that name; for a public one that of the month's crawls, else the newest.

    If that cannot be fetched, it is the one fetched last, and standard error says why.
    """
    if source not in fetch.SOURCES:
        return settings.shelf.find(source, entries=top)
    with engine.connect() as connection:
        planned = campaign.find_list_of_month(connection, month, source)
    if planned is not None:
        return settings.shelf.find(planned, entries=top)
    today = datetime.datetime.now(datetime.UTC).date()
    try:
        return settings.shelf.fetch_newest(source, entries=top, today=today)
    except ListError as exc:
        try:
            last = settings.shelf.find_last(source, entries=top)
        except ListError as none:
            raise ListError(f"{exc}; {none}") from exc
        click.echo(f"warning: {exc}; planned is {last.id}, which was fetched last", err=True)
        return last
