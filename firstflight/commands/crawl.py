"""`firstflight crawl`: plan a crawl, run it, watch it; its end is in crawl_end."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crawler.browser.devices import DEVICES
from crawler.browser.user_agent import checked_contact
from crawler.campaign import plan, status
from crawler.sites import fetch, optout
from crawler.worker import claims
from crawler.worker.run import DEFAULTS, QUEUE_EMPTY, TIME_OVER, Limits, Tally
from firstflight import crawling
from firstflight.commands import crawl_end
from firstflight.commands.crawl_end import EXPECTED
from firstflight.commands.options import AS_JSON, CRAWL, finite, header, label, month, show
from firstflight.commit import code_commit
from firstflight.connect import database, revival
from firstflight.crawl_log import JSON, TEXT
from firstflight.errors import one_line
from firstflight.watching import status_lines, watch
from schema.crawls import CrawlName, name_of
from storage.crawls import crawls, find_crawl

if TYPE_CHECKING:
    from firstflight.settings import Settings

AGAIN = 75
"""EX_TEMPFAIL of sysexits.h."""


@click.group()
def command() -> None:
    """Plan, run, watch, judge and seal a crawl.

    \b
    Example:
      firstflight crawl plan --crawl 2026-11 --list sites.txt --top 1000
      firstflight crawl run --crawl 2026-11 --browsers 2 --minutes 30
      firstflight crawl status --crawl 2026-11
      firstflight crawl gate --crawl 2026-11
      firstflight crawl seal --crawl 2026-11
    """


@command.command("plan")
@click.option("--crawl", "month", required=True, callback=month, help="The month it stands for: 2026-11.")
@click.option("--list", "source", required=True, help="The list: a file, or the id of one that was fetched.")
@click.option(
    "--opt-out",
    "opt_out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Sites to leave out, a host a line.  [default: opt-out.txt in the data folder, if there]",
)
@click.option("--top", type=click.IntRange(1, plan.TOP_LIMIT), help="Sites from its head.  [default: all]")
@click.option("--device", type=click.Choice(list(DEVICES)), default="desktop", show_default=True)
@click.option("--vantage", default="local", callback=label, show_default=True, help="Where it is made from.")
@click.option("--arm", type=click.Choice(["tcp", "quic"]), default="tcp", show_default=True)
@click.option("--kind", type=click.Choice(["web", "localweb"]), default="web", show_default=True)
@click.option(
    "--attempts",
    type=click.IntRange(1, plan.ATTEMPTS_LIMIT),
    default=2,
    show_default=True,
    help="Visits a site gets at most, but for those that our own network spoilt.",
)
@click.option(
    "--budget",
    "budget_s",
    type=click.FloatRange(1, 600),
    callback=finite,
    default=30.0,
    show_default=True,
    help="Seconds of one visit.",
)
@click.option(
    "--loads",
    type=click.IntRange(1, plan.LOADS_LIMIT),
    default=1,
    show_default=True,
    help="Loads of each home page; the first stands for the site.",
)
@click.option(
    "--inner",
    "inner_pages",
    type=click.IntRange(0, plan.LOADS_LIMIT),
    default=0,
    show_default=True,
    help="Inner pages of each site.",
)
@click.option("--user-agent", callback=header, help="Of one's own.  [default: that of plain Chrome]")
@click.option(
    "--contact",
    metavar="URL",
    help="Where a site's owner can ask; in the User-Agent.  [default: FIRSTFLIGHT_CONTACT_URL]",
)
@AS_JSON
@click.pass_obj
def plan_(
    settings: Settings,
    *,
    month: str,
    source: str,
    opt_out: Path | None,
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
    """Plan a crawl: its list, its sites, its settings. The same plan twice is one crawl.

    \b
    Example:
      firstflight crawl plan --crawl 2026-11 --list sites.txt --top 1000
      firstflight crawl plan --crawl 2026-11 --list tranco:K2LPW --top 10000
    """
    name = CrawlName(month=month, device=device, vantage=vantage, arm=arm, kind=kind)
    with one_line(*EXPECTED):
        sites = fetch.find(settings.lists, source)
        if opt_out is None and settings.opt_out.exists():
            opt_out = settings.opt_out
        contact_url = contact or settings.contact_url
        wanted = plan.Plan(
            name=name,
            sites=sites,
            top=top,
            attempts=attempts,
            budget_s=budget_s,
            commit=code_commit(settings.commit),
            optout=optout.read(opt_out) if opt_out else None,
            loads=loads,
            inner_pages=inner_pages,
            user_agent=user_agent,
            contact_url=checked_contact(contact_url) if contact_url else None,
        )
        with database(settings) as engine:
            crawl, new = plan.plan(engine, wanted)
    done = "planned" if new else "exists already, planned just so"
    show(
        {"crawl": str(name), "new": new, "sites": crawl.top, "list": sites.id, "checksum": sites.checksum},
        as_json=as_json,
        line=f"{name} {done}: {crawl.top:,} sites of {sites.id}"
        + (f", {crawl.optout_sites:,} opted out" if crawl.optout_sites else ""),
    )


@command.command()
@CRAWL
@click.option("--browsers", type=click.IntRange(1, 64), default=2, show_default=True, help="At once.")
@click.option(
    "--minutes",
    type=click.FloatRange(0, min_open=True),
    callback=finite,
    default=30.0,
    show_default=True,
    help="No visit begins after these.",
)
@click.option(
    "--local-web",
    "state",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Crawl the local web that wrote this state.",
)
@click.option(
    "--pages-per-browser",
    type=click.IntRange(1),
    default=DEFAULTS.pages_per_browser,
    show_default=True,
    help="After which a browser is replaced.",
)
@click.option(
    "--browser-memory",
    "browser_memory_mb",
    type=click.IntRange(1),
    default=DEFAULTS.browser_memory_mb,
    show_default=True,
    help="MB of one browser's processes, above which it is replaced.",
)
@click.option(
    "--database-patience",
    "database_retry_s",
    type=click.FloatRange(0),
    callback=finite,
    default=DEFAULTS.database_retry_s,
    show_default=True,
    help="Seconds that the database may be away.",
)
@click.option(
    "--unfiltered-egress",
    "unfiltered",
    is_flag=True,
    help="Without the address guard: pages reach loopback and private networks. Recorded with every visit.",
)
@click.option(
    "--no-capture",
    is_flag=True,
    help="Read every byte from the browsers' logs, rather than from a capture of their network where there can be one: "
    "the same sizes for more processor time.",
)
@click.option(
    "--until-empty",
    is_flag=True,
    help="End with exit code 75 when the minutes are over and sites are left: whoever started it should do so again. "
    "A sealed crawl has none left.",
)
@click.option(
    "--log",
    type=click.Choice([TEXT, JSON]),
    default=TEXT,
    show_default=True,
    help="On standard error: a progress bar, or a JSON object for each visit.",
)
@AS_JSON
@click.pass_context
def run(
    ctx: click.Context,
    *,
    name: str,
    browsers: int,
    minutes: float,
    state: Path | None,
    pages_per_browser: int,
    browser_memory_mb: int,
    database_retry_s: float,
    unfiltered: bool,
    no_capture: bool,
    until_empty: bool,
    log: str,
    as_json: bool,
) -> None:
    """Visit what is left of a crawl, until the queue is empty or the minutes are over.

    Any number of these may run at once, here or on other machines. Ctrl-C gives the visits in flight back;
    the next run takes them up. Pages reach the public Internet and nothing else, which needs root. While our own network is
    down, as a canary tells (FIRSTFLIGHT_CANARIES), no site is visited, and what failed meanwhile is given back.

    \b
    Example:
      firstflight crawl run --crawl 2026-11 --browsers 2 --minutes 30
      firstflight crawl run --crawl 2026-11 --log json 2>> crawl.jsonl
    """
    settings: Settings = ctx.obj
    with one_line(*EXPECTED, crawling.StateError), database(settings) as engine:
        with engine.connect() as connection:
            crawl = find_crawl(connection, name)
        if crawl.sealed_at is not None and not until_empty:
            raise claims.CrawlSealed(f"{name_of(crawl)} is sealed: it is never written again")
        if crawl.sealed_at is not None:
            show_tally(str(name_of(crawl)), Tally(ended=QUEUE_EMPTY), as_json=as_json)
            return
        plan.check_method(crawl)
        web = crawling.web(crawl, state, canaries=settings.canaries)
        with (
            crawling.egress(
                crawl,
                settings.chromium,
                unfiltered=unfiltered,
                blocked_networks=settings.blocked_networks,
            ) as guard,
            crawling.capture(crawl, guard, off=no_capture) as capture,
        ):
            wanted = crawling.Wanted(
                chromium=settings.chromium,
                flags=web.flags,
                canaries=web.canaries,
                browsers=browsers,
                minutes=minutes,
                limits=Limits(
                    pages_per_browser=pages_per_browser,
                    browser_memory_mb=browser_memory_mb,
                    database_retry_s=database_retry_s,
                ),
                revive=revival(settings),
                guard=guard,
                capture=capture,
                log=log,
                progress=settings.progress,
            )
            tally, code = crawling.crawl(engine, crawl, wanted)
    show_tally(str(name_of(crawl)), tally, as_json=as_json)
    ctx.exit(AGAIN if until_empty and tally.ended == TIME_OVER else code)


def show_tally(name: str, tally: Tally, *, as_json: bool) -> None:
    """What a run did."""
    show(
        {"crawl": name, **dataclasses.asdict(tally)},
        as_json=as_json,
        line=f"{tally.ended}: {tally.visits} visits, {tally.final} sites done"
        + (f", {tally.lost} visits lost to other crawlers" if tally.lost else ""),
    )


@command.command("status")
@CRAWL
@AS_JSON
@click.option(
    "--watch",
    "every_s",
    type=click.FloatRange(min=0.1, max=86400),
    metavar="SECONDS",
    help="Show it again every so often, until all sites are done.",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Count all responses, for minutes where they are many, rather than estimate them.",
)
@click.pass_obj
def status_(settings: Settings, *, name: str, as_json: bool, every_s: float | None, exact: bool) -> None:
    """How far a crawl is.

    \b
    Example:
      firstflight crawl status --crawl 2026-11 --json
      firstflight crawl status --crawl 2026-11 --watch 5
    """
    if every_s is not None:
        if as_json or exact:
            raise click.UsageError("--watch is for people: ask again and again for --json or --exact")
        with one_line(*EXPECTED), database(settings) as engine:
            watch(engine, name, every_s=every_s)
        return
    with one_line(*EXPECTED), database(settings) as engine, engine.connect() as connection:
        crawl = find_crawl(connection, name)
        counted = status.status(connection, crawl, exact=exact)
    show(
        {"crawl": str(name_of(crawl)), **dataclasses.asdict(counted)},
        as_json=as_json,
        line="\n".join(status_lines(str(name_of(crawl)), counted)),
    )


@command.command("list")
@AS_JSON
@click.pass_obj
def list_(settings: Settings, *, as_json: bool) -> None:
    """Every crawl there is.

    \b
    Example:
      firstflight crawl list
    """
    with one_line(*EXPECTED), database(settings) as engine, engine.connect() as connection:
        found = crawls(connection)
    facts = [
        {
            "crawl": str(name_of(crawl)),
            "sites": crawl.top,
            "list": crawl.list_id,
            "planned_at": crawl.planned_at,
            "sealed_at": crawl.sealed_at,
            "browser": crawl.browser,
        }
        for crawl in found
    ]
    lines = [
        f"{fact['crawl']}  {fact['sites']:,} sites  {'sealed' if fact['sealed_at'] else 'open'}"
        for fact in facts
    ]
    show({"crawls": facts}, as_json=as_json, line="\n".join(lines) or "no crawls yet")


command.add_command(crawl_end.gate)
command.add_command(crawl_end.seal)
