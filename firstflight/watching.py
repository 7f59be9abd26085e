"""Prints a crawl's counts once, or repeatedly until the crawl is done."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from crawler.campaign.status import Status, minutes_left, status
from schema.crawls import name_of
from schema.vocabulary import COVERAGE_FLOOR
from storage.crawls import find_crawl

if TYPE_CHECKING:
    from sqlalchemy import Engine


def status_lines(name: str, counted: Status) -> list[str]:
    """The counts of one moment."""

    def known(value: float | None, form: str) -> str:
        return "unknown" if value is None else format(value, form)

    def by(counts: dict[str, int]) -> str:
        return ", ".join(f"{number:,} {key}" for key, number in counts.items()) or "none"

    return [
        f"{name}: {counted.final:,} of {counted.planned:,} sites done"
        + (f", sealed {counted.sealed_at:%Y-%m-%d %H:%M %Z}" if counted.sealed_at else time_left(counted)),
        f"  outcomes   {by(counted.outcomes)}",
        f"  walls      {by(counted.walls)}; consent platforms: {by(counted.consents)}",
        f"  claimed    {counted.claimed} now, {counted.expired} expired, {counted.postponed} sites wait as they asked",
        f"  visits     {counted.visits:,}, {known(counted.visits_per_hour, ',.0f')} an hour of late; "
        f"{counted.repeat_loads:,} repeat loads, {counted.inner_pages:,} inner pages, {counted.unfiltered:,} unguarded, "
        f"{counted.network_down:,} given back while our network was down",
        f"  responses  {'' if counted.responses_exact else 'about '}{known(counted.responses, ',')}, {counted.received_bytes:,} bytes received",
        f"  coverage   min {known(counted.coverage_min, '.4f')}, median {known(counted.coverage_median, '.4f')}, "
        f"{counted.uncovered:,} visits under {COVERAGE_FLOOR:g}; log lines lost {known(counted.log_lines_lost, ',')}",
        f"  packets    {known(counted.packets.connection_share, '.2%')} of {counted.packets.connections:,} captured "
        f"connections and {known(counted.packets.byte_share, '.2%')} of their bytes are as in the log",
    ]


def time_left(counted: Status) -> str:
    """Text of a crawl's remaining time; "" if unknown."""
    minutes = minutes_left(counted)
    return "" if minutes is None else f", about {minutes // 60} h {minutes % 60:02} min left"


def watch(engine: Engine, name: str, *, every_s: float) -> None:
    """Show the counts every so many seconds until all sites are done; each time anew on a terminal, else below."""
    while True:
        with engine.connect() as connection:
            crawl = find_crawl(connection, name)
            counted = status(connection, crawl)
        click.clear()  # on a terminal; elsewhere it does nothing
        click.echo("\n".join(status_lines(str(name_of(crawl)), counted)))
        if counted.final >= counted.planned:
            return
        time.sleep(every_s)
