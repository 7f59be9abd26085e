"""`firstflight report`: the annual report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from firstflight.errors import one_line
from reports.facts import canonical
from reports.inputs import ReportError, read_inputs
from reports.loads import CellsError
from reports.report import build_report
from schema.releases import ReleaseError

if TYPE_CHECKING:
    from firstflight.settings import Settings

FIRST_YEAR, LAST_YEAR = 2000, 9999


@click.group()
def command() -> None:
    """Build the annual report.

    \b
    Example:
      firstflight report build --year 2026
    """


@command.command()
@click.option(
    "--year", type=click.IntRange(FIRST_YEAR, LAST_YEAR), required=True, help="The year it speaks of."
)
@click.option(
    "--crawl", help="Which crawl of the year, e.g. 2026-11 or its whole name; the newest by default."
)
@click.option("--without-replay", is_flag=True, help="Report sizes alone, and recommend nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the report's facts as JSON.")
@click.pass_obj
def build(settings: Settings, *, year: int, crawl: str | None, without_replay: bool, as_json: bool) -> None:
    """Build a year's report from its release and the replay of its pages: HTML, JSON and a summary.

    \b
    Example:
      firstflight report build --year 2026
      firstflight report build --year 2026 --crawl 2026-11 --json
    """
    folder = settings.reports / str(year)
    with one_line(ReportError, ReleaseError, CellsError, OSError):
        inputs = read_inputs(
            releases_dir=settings.releases,
            replays_dir=settings.replays,
            reports_dir=settings.reports,
            year=year,
            crawl=crawl,
            with_replay=not without_replay,
        )
        facts = build_report(inputs, folder)
    if as_json:
        click.echo(canonical(facts), nl=False)
    else:
        click.echo(f"{folder / 'index.html'}")
