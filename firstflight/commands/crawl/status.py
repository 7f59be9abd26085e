"""`firstflight crawl status` and `list`: how far a crawl is, and which crawls there are."""

from __future__ import annotations

import dataclasses

import click

from crawler.campaign.status import status
from firstflight.commands.crawl.options import AS_JSON, CRAWL, EXPECTED, show
from firstflight.connect import database
from firstflight.errors import one_line
from firstflight.settings import Settings
from firstflight.watching import status_lines, watch
from schema.crawls import name_of
from storage.crawls import crawls, find_crawl


@click.command("status")
@CRAWL
@AS_JSON
@click.option(
    "--watch",
    "every_s",
    type=click.FloatRange(min=0.1, max=86400),
    metavar="SECONDS",
    help="Show the status again at this interval until all sites are done.",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Count all responses instead of estimating them; takes minutes where they are many.",
)
@click.pass_obj
def show_status(settings: Settings, *, name: str, as_json: bool, every_s: float | None, exact: bool) -> None:
    """Show how far a crawl is.

    \b
    Example:
      firstflight crawl status --crawl 2026-11 --json
      firstflight crawl status --crawl 2026-11 --watch 5
    """
    if every_s is not None:
        if as_json or exact:
            raise click.UsageError("--watch goes with neither --json nor --exact: run those again and again")
        with one_line(*EXPECTED), database(settings) as engine:
            watch(engine, name, every_s=every_s)
        return
    with one_line(*EXPECTED), database(settings) as engine, engine.connect() as connection:
        crawl = find_crawl(connection, name)
        counted = status(connection, crawl, exact=exact)
    show(
        {"crawl": str(name_of(crawl)), **dataclasses.asdict(counted)},
        as_json=as_json,
        line="\n".join(status_lines(str(name_of(crawl)), counted)),
    )


@click.command("list")
@AS_JSON
@click.pass_obj
def list_crawls(settings: Settings, *, as_json: bool) -> None:
    """List all crawls.

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
