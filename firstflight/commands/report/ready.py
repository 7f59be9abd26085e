"""`firstflight report ready`: whether a year can have its report."""

import click

from firstflight.commands.options import AS_JSON, OF_YEAR, SERIES_NAME, show
from firstflight.connect import database_to_read
from firstflight.errors import AGAIN, one_line
from firstflight.settings import Settings
from releases.catalogue import ReleaseError, find_release
from replay.networks.population_csv import PopulationError
from replay.networks.profiles import MOST_MONTHS, is_stale
from replay.networks.stored_populations import CURRENT, find_population
from storage.engine import DatabaseError
from storage.year import SERIES, NotReady, year_of


@click.command()
@OF_YEAR
@click.option(
    "--series",
    type=SERIES_NAME,
    default=SERIES,
    show_default=True,
    help="A crawl's name without its month.",
)
@click.option(
    "--december",
    is_flag=True,
    help="End with exit code 75 until December's crawl has a release, so that the caller runs the command "
    "again.",
)
@AS_JSON
@click.pass_context
def ready(ctx: click.Context, *, year: int, series: str, december: bool, as_json: bool) -> None:
    """Tell whether a year's newest crawl is over and the population of networks fresh that replays take by
    default, and which months are missing.

    The last line is the crawl's name. A population is stale if it is more than 24 months older than the
    crawl.

    \b
    Example:
      firstflight report ready --year 2026
      firstflight report ready --year 2026 --december
    """
    settings: Settings = ctx.obj
    if december:
        try:
            find_release(settings.releases, f"{year}-12.{series}")
        except ReleaseError as exc:
            click.echo(f"waiting for December: {exc}", err=True)
            ctx.exit(AGAIN)
    with one_line(DatabaseError, NotReady, PopulationError), database_to_read(settings) as engine:
        with engine.connect() as connection:
            months = year_of(connection, year, series=series)
        newest = months.newest()
        check_population(settings, CURRENT, max(months.sealed))
    unsealed = [month for month, sealed in months.sealed.items() if not sealed]
    lines = [f"{year}: {sum(months.sealed.values())} of 12 months sealed"]
    lines += [
        f"{state}: {', '.join(names)}"
        for state, names in (("no crawl", months.missing), ("not sealed", unsealed))
        if names
    ]
    show(
        {"crawl": newest, "sealed": months.sealed, "missing": months.missing},
        as_json=as_json,
        lines=[*lines, newest],
    )


def check_population(settings: Settings, population_id: str, month: str) -> None:
    """Raise NotReady if a population is too old for `month`, PopulationError if missing or damaged."""
    measured = find_population(settings.populations, population_id).populations[0].measured
    if is_stale(measured, month):
        raise NotReady(
            f"the population {population_id} was measured in {measured}, which is more than {MOST_MONTHS} "
            f"months before {month}: fetch a newer one by `firstflight population fetch`"
        )
