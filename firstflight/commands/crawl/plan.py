"""`firstflight crawl plan`: the list, the sites and the settings of a crawl."""

import datetime

import click
from sqlalchemy import Engine

from crawler.browser.devices import DEVICES
from crawler.browser.user_agent import check_contact
from crawler.campaign import plan as campaign
from crawler.sites import fetch, optout
from crawler.sites.lists import ListError, Sites
from firstflight.commands.crawl.options import EXPECTED, finite
from firstflight.commands.options import AS_JSON, HEADER, LABEL, MONTH, show
from firstflight.commit import code_commit
from firstflight.connect import database
from firstflight.errors import one_line
from firstflight.settings import Settings
from schema.crawls import CrawlName
from storage.crawls import find_old_list_month


@click.command()
@click.option("--crawl", "month", type=MONTH, required=True, help="Month of the crawl: 2026-11.")
@click.option(
    "--list",
    "source",
    required=True,
    help="Site list: a file, the id of a fetched list, or tranco, crux, umbrella, majestic or radar for the "
    "newest of the month.",
)
@click.option(
    "--top",
    type=click.IntRange(1, campaign.TOP_LIMIT),
    help="Sites from the head of the list.  [default: all]",
)
@click.option(
    "--device",
    type=click.Choice(list(DEVICES)),
    default="desktop",
    show_default=True,
    help="Screen and User-Agent that sites see.",
)
@click.option(
    "--vantage", default="local", type=LABEL, show_default=True, help="Label of the crawling machine's place."
)
@click.option(
    "--arm",
    type=click.Choice(["tcp", "quic"]),
    default="tcp",
    show_default=True,
    help="Transport: tcp alone, or quic where a site offers HTTP/3.",
)
@click.option(
    "--kind",
    type=click.Choice(["web", "localweb"]),
    default="web",
    show_default=True,
    help="The live web, or the bundled web on loopback.",
)
@click.option(
    "--attempts",
    type=click.IntRange(1, campaign.ATTEMPTS_LIMIT),
    default=2,
    show_default=True,
    help="Most visits of a site; those that our own network spoilt do not count.",
)
@click.option(
    "--budget",
    "budget_s",
    type=click.FloatRange(1, 600),
    callback=finite,
    default=30.0,
    show_default=True,
    help="Time limit of a visit, in seconds.",
)
@click.option(
    "--loads",
    type=click.IntRange(1, campaign.LOADS_LIMIT),
    default=1,
    show_default=True,
    help="Loads of each home page; the first stands for the site.",
)
@click.option(
    "--inner",
    "inner_pages",
    type=click.IntRange(0, campaign.LOADS_LIMIT),
    default=0,
    show_default=True,
    help="Inner pages of each site.",
)
@click.option("--user-agent", type=HEADER, help="User-Agent to send.  [default: that of plain Chrome]")
@click.option(
    "--contact",
    metavar="URL",
    help="Contact page for site owners, put into the User-Agent.  [default: FIRSTFLIGHT_CONTACT_URL]",
)
@AS_JSON
@click.pass_obj
def plan(
    settings: Settings,
    *,
    month: str,
    source: str,
    top: int | None,
    device: str,
    vantage: str,
    arm: str,
    kind: str,
    attempts: int,
    budget_s: float,
    loads: int,
    inner_pages: int,
    user_agent: str | None,
    contact: str | None,
    as_json: bool,
) -> None:
    """Plan a crawl: its list, its sites and its settings. The same plan twice is one crawl.

    The newest list is fetched once a month: other crawls of the month have the same. If it cannot be fetched,
    a warning says so and the one that was fetched last is planned.

    Sites that opted out (`firstflight optout`) are left out.

    \b
    Example:
      firstflight crawl plan --crawl 2026-11 --list sites.txt --top 1000
      firstflight crawl plan --crawl 2026-11 --list tranco --top 10000
      firstflight crawl plan --crawl 2026-11 --list tranco:K2LPW --top 10000
    """
    name = CrawlName(month=month, device=device, vantage=vantage, arm=arm, kind=kind)
    contact_url = contact or settings.contact_url
    with one_line(*EXPECTED), database(settings) as engine:
        sites = find_sites(settings, engine, month, source, top)
        wanted = campaign.CrawlPlan(
            name=name,
            sites=sites,
            top=top,
            attempts=attempts,
            budget_s=budget_s,
            commit=code_commit(settings.commit),
            optout=optout.read_optout(settings.opt_out) if settings.opt_out.exists() else None,
            loads=loads,
            inner_pages=inner_pages,
            user_agent=user_agent,
            contact_url=check_contact(contact_url) if contact_url else None,
        )
        crawl, new = campaign.plan(engine, wanted)
        with engine.connect() as connection:
            list_month = find_old_list_month(connection, crawl)
    done = "planned" if new else "exists already, planned just so"
    if list_month is not None:
        click.echo(f"warning: the list {sites.id} is of {list_month}", err=True)
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
    """Return the list of that name; for a public one the list that the month's crawls have, else the newest.

    If the newest cannot be fetched, it is the one that was fetched last, and standard error says why.
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
