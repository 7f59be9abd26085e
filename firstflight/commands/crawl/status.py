"""`firstflight crawl status` and `list`: how far a crawl is, and which crawls there are."""

import dataclasses
import datetime
import time
from collections.abc import Iterator, Sequence

import click
from sqlalchemy import Engine

from crawler.campaign.status import Status, count_status, estimate_minutes_left, list_lanes
from firstflight.commands.crawl.options import EXPECTED
from firstflight.commands.options import AS_JSON, CRAWL, show
from firstflight.connect import database_to_read
from firstflight.errors import one_line
from firstflight.settings import Settings
from schema.crawls import name_of
from schema.vocabulary import COVERAGE_FLOOR
from storage.crawls import crawls, find_crawl
from storage.progress import Lane


@click.command("status")
@CRAWL
@AS_JSON
@click.option(
    "--watch",
    "every_s",
    type=click.FloatRange(min=0.1, max=86400),
    metavar="SECONDS",
    help="Show the time, the counts and a line for each lane at this interval until all sites are done.",
)
@click.pass_obj
def show_status(settings: Settings, *, name: str, as_json: bool, every_s: float | None) -> None:
    """Show how far a crawl is.

    \b
    Example:
      firstflight crawl status --crawl 2026-11 --json
      firstflight crawl status --crawl 2026-11 --watch 5
    """
    if every_s is not None:
        if as_json:
            raise click.UsageError("--watch does not go with --json: run that again and again")
        with one_line(*EXPECTED), database_to_read(settings) as engine:
            watch(engine, name, every_s=every_s)
        return
    with one_line(*EXPECTED), database_to_read(settings) as engine, engine.connect() as connection:
        crawl = find_crawl(connection, name)
        counted = count_status(connection, crawl)
    show(
        {"crawl": str(name_of(crawl)), **dataclasses.asdict(counted)},
        as_json=as_json,
        lines=describe_status(str(name_of(crawl)), counted),
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
    with one_line(*EXPECTED), database_to_read(settings) as engine, engine.connect() as connection:
        known = crawls(connection)
    facts = [
        {
            "crawl": str(name_of(crawl)),
            "sites": crawl.top,
            "list": crawl.list_id,
            "planned_at": crawl.planned_at,
            "sealed_at": crawl.sealed_at,
            "browser": crawl.browser,
        }
        for crawl in known
    ]
    lines = [
        f"{fact['crawl']}  {fact['sites']:,} sites  {'sealed' if fact['sealed_at'] else 'open'}"
        for fact in facts
    ]
    show({"crawls": facts}, as_json=as_json, lines=lines or ["no crawls yet"])


def describe_status(name: str, counted: Status) -> list[str]:
    def known(value: float | None, form: str) -> str:
        return "unknown" if value is None else format(value, form)

    def by(counts: dict[str, int]) -> str:
        return ", ".join(f"{number:,} {key}" for key, number in counts.items()) or "none"

    return [
        f"{name}: {counted.final:,} of {counted.planned:,} sites done"
        + (
            f", sealed {counted.sealed_at:%Y-%m-%d %H:%M %Z}"
            if counted.sealed_at
            else describe_time_left(counted, now=now())
        ),
        *([f"  list       {describe_old_list(counted.old_list_month)}"] if counted.old_list_month else []),
        f"  outcomes   {by(counted.outcomes)}",
        f"  walls      {by(counted.walls)}; consent platforms: {by(counted.consents)}",
        f"  claimed    {counted.claimed} now, {counted.expired} expired, "
        f"{counted.postponed} sites wait as they asked",
        f"  visits     {counted.visits:,}, {known(counted.visits_per_hour, ',.0f')} an hour of late; "
        f"{counted.repeat_loads:,} repeat loads, {counted.inner_pages:,} inner pages, "
        f"{counted.unfiltered:,} unguarded, {counted.network_down:,} given back while our network was down",
        f"  responses  {'' if counted.responses_exact else 'about '}{known(counted.responses, ',')}, "
        f"{counted.received_bytes:,} bytes received",
        f"  coverage   min {known(counted.coverage_min, '.4f')}, median "
        f"{known(counted.coverage_median, '.4f')}, {counted.uncovered:,} visits under {COVERAGE_FLOOR:g}; "
        f"log lines lost {known(counted.log_lines_lost, ',')}",
        f"  packets    {known(counted.packets.connection_share, '.2%')} of {counted.packets.connections:,} "
        f"captured connections and {known(counted.packets.byte_share, '.2%')} of "
        "their bytes are as in the log",
    ]


def describe_old_list(month: str) -> str:
    """Return the warning that a crawl's list is older than its plan."""
    return f"warning: of {month}, before the month of the plan"


def describe_time_left(counted: Status, *, now: datetime.datetime) -> str:
    minutes = estimate_minutes_left(counted)
    if minutes is None:
        return ""
    over_at = now + datetime.timedelta(minutes=minutes)
    return f", about {minutes // 60} h {minutes % 60:02} min left, until {over_at:%Y-%m-%d %H:%M} UTC"


def watch(engine: Engine, name: str, *, every_s: float) -> None:
    """Show counts and lanes until all sites are done; each time anew on a terminal, else below."""
    while True:
        with engine.connect() as connection:
            crawl = find_crawl(connection, name)
            counted, running = count_status(connection, crawl), list_lanes(connection, crawl)
        click.clear()  # on a terminal; elsewhere it does nothing
        click.echo("\n".join(describe_watch(str(name_of(crawl)), counted, running, now=now())))
        if counted.final >= counted.planned:
            return
        time.sleep(every_s)


def describe_watch(
    name: str, counted: Status, running: Sequence[Lane], *, now: datetime.datetime
) -> Iterator[str]:
    rate = "" if counted.visits_per_hour is None else f", {counted.visits_per_hour:,.0f} visits an hour"
    outcomes = ", ".join(f"{number:,} {outcome}" for outcome, number in counted.outcomes.items())
    yield (
        f"{now:%Y-%m-%d %H:%M:%S} UTC  {name}: {counted.final:,} of {counted.planned:,} sites done"
        f"{rate}{describe_time_left(counted, now=now)}"
    )
    if counted.old_list_month:
        yield f"  list      {describe_old_list(counted.old_list_month)}"
    yield f"  outcomes  {outcomes or 'none yet'}"
    for lane in running:
        last = "none yet" if lane.last_at is None else f"{lane.last_at.astimezone(datetime.UTC):%H:%M:%S}"
        yield (
            f"  {lane.name}  holds {lane.claimed}; {lane.visits:,} visits in the last hour, "
            f"{lane.failed:,} without a page; last {last}"
        )


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
