"""`firstflight crawl gate` and `seal`: judge a crawl and close it."""

import dataclasses
from pathlib import Path

import click

from crawler.campaign.gate import count_ends, describe_broken_bounds, find_clustered_failures
from crawler.campaign.seal import seal as seal_crawl
from firstflight.commands.crawl.options import EXPECTED, FILE, SETTINGS, read_asked
from firstflight.commands.options import AS_JSON, CRAWL, show
from firstflight.connect import database, database_to_read
from firstflight.errors import one_line
from firstflight.progress import write_gated, write_sealed
from firstflight.settings import Settings
from schema.crawls import name_of
from storage.crawls import find_crawl


@click.command()
@FILE
@CRAWL
@SETTINGS
@AS_JSON
@click.pass_obj
def gate(settings: Settings, *, file: Path | None, name: str, given: tuple[str, ...], as_json: bool) -> None:
    """Show how the sites of a crawl ended; exit code 1, with the reasons, if it is not good enough to be
    sealed.

    FILE is that of `crawl plan`, whose table `gate` has the bounds. A crawl is not good enough if too many
    sites failed, or if failures cluster in a period, on a machine or in a process, so that sites cannot be
    their cause. Visit the sites again in another crawl, or inspect the failures and seal the crawl anyway.

    \b
    Example:
      firstflight crawl gate --crawl 2026-11
      firstflight crawl gate --crawl 2026-11 --set gate.answered=0.4
    """
    bounds = read_asked(file, given).gate
    with one_line(*EXPECTED), database_to_read(settings) as engine, engine.connect() as connection:
        crawl = find_crawl(connection, name)
        counted = count_ends(connection, crawl)
        crowds = find_clustered_failures(connection, crawl, bounds)
        wrong = list(describe_broken_bounds(counted, bounds, crowds))
        if crawl.sealed_at is None:
            write_gated(connection, crawl, settings.progress, bounds=bounds, wrong=wrong)
    outcomes = ", ".join(f"{number:,} {outcome}" for outcome, number in counted.outcomes.items()) or "none"
    show(
        {
            "crawl": str(name_of(crawl)),
            **dataclasses.asdict(counted),
            "shares": counted.shares,
            "uneven": [crowd if isinstance(crowd, str) else dataclasses.asdict(crowd) for crowd in crowds],
            "broken": wrong,
        },
        as_json=as_json,
        lines=[
            f"{name_of(crawl)}: {counted.visited:,} of {counted.planned:,} sites visited: {outcomes}; "
            f"{counted.ok_covered:,} of {counted.ok_known:,} that are ok covered"
        ],
    )
    if wrong:
        raise click.ClickException(f"{name_of(crawl)} is not good enough to be sealed: {'; '.join(wrong)}")


@click.command()
@CRAWL
@AS_JSON
@click.pass_obj
def seal(settings: Settings, *, name: str, as_json: bool) -> None:
    """Seal a crawl whose sites are all done: it is never written again.

    \b
    Example:
      firstflight crawl seal --crawl 2026-11
    """
    with one_line(*EXPECTED), database(settings) as engine:
        with engine.connect() as connection:
            crawl = find_crawl(connection, name)
        new = seal_crawl(engine, crawl)
        with engine.connect() as connection:
            crawl = find_crawl(connection, str(name_of(crawl)))
            write_sealed(connection, crawl, settings.progress)
    show(
        {"crawl": str(name_of(crawl)), "new": new, "sealed_at": crawl.sealed_at},
        as_json=as_json,
        lines=[
            f"{name_of(crawl)} {'sealed' if new else 'was sealed already'} at "
            f"{crawl.sealed_at:%Y-%m-%d %H:%M %Z}"
        ],
    )
