"""`firstflight crawl run`: visits the sites of a crawl, tells its progress, and stops cleanly on a signal."""

import asyncio
import contextlib
import dataclasses
import signal
from collections.abc import Iterator
from pathlib import Path

import click
from sqlalchemy import Engine

from crawler.campaign.plan import check_method
from crawler.worker.claim_loop import QUEUE_EMPTY, STOPPED, TIME_OVER, Tally
from crawler.worker.claims import CrawlSealed, count_open_sites
from crawler.worker.run import CrawlRun
from crawler.worker.surroundings import Surroundings, find_web, set_up_surroundings
from firstflight.commands.crawl.options import EXPECTED, FILE, SETTINGS, read_asked
from firstflight.commands.options import AS_JSON, CRAWL, show
from firstflight.connect import database, make_restarter
from firstflight.crawl_log import JSON, TEXT, crawl_log
from firstflight.errors import AGAIN, GO_ON, INTERRUPTED, Stopped, one_line
from firstflight.progress import keep_progress
from firstflight.settings import Settings
from schema.crawls import name_of
from schema.tables import Crawl
from storage.crawls import find_crawl
from storage.staging import scratch_folder


@click.command()
@FILE
@CRAWL
@SETTINGS
@click.option(
    "--until-empty",
    is_flag=True,
    help="End with exit code 75 if sites are left when the minutes are over, so that the caller runs the "
    "command again. A sealed crawl has no sites left.",
)
@click.option(
    "--log",
    type=click.Choice([TEXT, JSON]),
    default=TEXT,
    show_default=True,
    help="Standard error: a progress bar, or a JSON object for each visit.",
)
@AS_JSON
@click.pass_context
def run(
    ctx: click.Context,
    *,
    file: Path | None,
    name: str,
    given: tuple[str, ...],
    until_empty: bool,
    log: str,
    as_json: bool,
) -> None:
    """Visit the sites that are left of a crawl, until none is left or the minutes are over. FILE is that of
    `crawl plan`, of which browsers, minutes and what stands below them count.

    Any number of runs may share a crawl, on this machine or others. Ctrl-C gives back the visits in flight;
    the next run makes them. Pages reach the public Internet and nothing else, which needs root. While our own
    network is down, as canaries tell (FIRSTFLIGHT_CANARIES), no site is visited, and visits that failed
    meanwhile are given back.

    \b
    Example:
      firstflight crawl run --crawl 2026-11 --set browsers=4 --set minutes=60
      firstflight crawl run --crawl 2026-11 --log json 2>> crawl.jsonl
    """
    settings: Settings = ctx.obj
    asked = read_asked(file, given)
    state = None if asked.local_web is None else Path(asked.local_web)
    tally, code = Tally(ended=QUEUE_EMPTY), 0
    with one_line(*EXPECTED), database(settings) as engine:
        with engine.connect() as connection:
            crawl = find_crawl(connection, name)
        if crawl.sealed_at is None:
            with _surround(settings, crawl, state, unfiltered=asked.unfiltered_egress) as around:
                run = CrawlRun(
                    surroundings=around,
                    browsers=asked.browsers,
                    minutes=asked.minutes,
                    limits=asked.limits,
                    revive=make_restarter(settings),
                )
                tally, code = asyncio.run(_crawl(settings, engine, crawl, run, log=log))
        elif not until_empty:
            raise CrawlSealed(f"{name_of(crawl)} is sealed: it is never written again")
    show(
        {"crawl": str(name_of(crawl)), **dataclasses.asdict(tally)},
        as_json=as_json,
        lines=[
            f"{tally.ended}: {tally.visits} visits, {tally.final} sites done"
            + (f", {tally.lost} visits lost to other crawlers" if tally.lost else "")
        ],
    )
    if code == INTERRUPTED:
        raise Stopped(f"what was written is kept, and {GO_ON}")
    ctx.exit(AGAIN if until_empty and tally.ended == TIME_OVER else code)


@contextlib.contextmanager
def _surround(
    settings: Settings, crawl: Crawl, state: Path | None, *, unfiltered: bool
) -> Iterator[Surroundings]:
    check_method(crawl)
    with (
        set_up_surroundings(
            crawl,
            find_web(crawl, state, canaries=settings.canaries, resolvers=settings.resolvers),
            settings.chromium,
            unfiltered=unfiltered,
            blocked_networks=settings.blocked_networks,
        ) as around,
        scratch_folder(),
    ):
        yield around


async def _crawl(
    settings: Settings, engine: Engine, crawl: Crawl, run: CrawlRun, *, log: str
) -> tuple[Tally, int]:
    stop = asyncio.Event()
    received = catch_signals(stop)
    left = await asyncio.to_thread(count_open_sites, engine, crawl)
    with crawl_log(settings, log, crawl, done=crawl.top - left) as output:
        async with keep_progress(engine, crawl, settings.progress):
            tally = await run.run(engine, crawl, stop=stop, on_stored=output.stored, say=output.say)
    return tally, 128 + received[0] if tally.ended == STOPPED and received else 0


def catch_signals(stop: asyncio.Event) -> list[int]:
    """Set `stop` on the first Ctrl-C or SIGTERM, and end at once on the second; the list gets the number."""
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def caught(number: int) -> None:
        received.append(number)
        stop.set()
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(each)
        click.echo("stopping: the visits in flight are given back", err=True)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, caught, number)
    return received
