"""`firstflight population`: populations of networks, made of public measurements."""

import dataclasses
from pathlib import Path

import click

from firstflight.commands.options import AS_JSON, MONTH, show
from firstflight.errors import one_line
from firstflight.settings import Settings
from replay.networks.mlab.files import MANIFEST, find_month, read_countries
from replay.networks.mlab.joint import RHO
from replay.networks.mlab.populations import populations_of, read_users, select_usable
from replay.networks.population_csv import PopulationError
from replay.networks.stored_populations import StoredPopulation, facts_of, find_population, list_stored, store


@click.group()
def command() -> None:
    """Populations of networks that a replay takes by their ids.

    \b
    Example:
      firstflight population list
      firstflight population fetch mlab --month 2025-10 --country DE
      firstflight replay run demo --set pages=2026-11 --set networks=mlab-2025-10-de
    """


READABLE = click.Path(path_type=Path, exists=True, dir_okay=False)


@command.command()
@click.argument("source", type=click.Choice(["mlab"]))
@click.option("--month", type=MONTH, required=True, help="Month of the measurements.")
@click.option(
    "--country",
    "countries",
    multiple=True,
    metavar="CODE",
    help="A country by its two letters, instead of the world. Repeatable.",
)
@click.option(
    "--per-country", is_flag=True, help="Each country with at least 1,000 tests, instead of the world."
)
@click.option(
    "--from",
    "place",
    metavar="FOLDER|URL",
    help="Where M-Lab's files lie.  [default: the bundled month, or M-Lab's bucket]",
)
@click.option(
    "--manifest",
    type=READABLE,
    default=MANIFEST,
    metavar="FILE",
    help="M-Lab's manifest.json[.gz] with the files' SHA-256.  [default: that of 2009-01 to 2026-01]",
)
@click.option(
    "--rho",
    type=click.FloatRange(-0.9, 0.9),
    default=RHO,
    show_default=True,
    help="Correlation of the normal scores of bandwidth and round trip within a country.",
)
@click.option(
    "--users",
    type=READABLE,
    metavar="FILE.csv",
    help="Internet users by country (country_code, users), by which the world is weighted once more.  "
    "[default: a bundled table]",
)
@click.option("--users-source", metavar="TEXT", help="Source of --users; the report prints it.")
@AS_JSON
@click.pass_obj
def fetch(
    settings: Settings,
    *,
    source: str,  # noqa: ARG001  # the only one
    month: str,
    countries: tuple[str, ...],
    per_country: bool,
    place: str | None,
    manifest: Path,
    rho: float,
    users: Path | None,
    users_source: str | None,
    as_json: bool,
) -> None:
    """Make populations of a month of M-Lab's NDT tests, and store them in the data folder.

    The world becomes four: by tests, the same with round trips to sites, its twenty slowest countries, and by
    Internet users. A country becomes two. docs/populations.md says how.

    \b
    Example:
      firstflight population fetch mlab --month 2025-10
      firstflight population fetch mlab --month 2025-10 --country DE --rho -0.6
      firstflight population fetch mlab --month 2024-10 --per-country --from iqb/
    """
    if bool(users) != bool(users_source and users_source.strip()):
        raise click.UsageError("--users and --users-source go together")
    if countries and per_country:
        raise click.UsageError("--per-country has every country: leave --country out")
    if (countries or per_country) and users:
        raise click.UsageError("--users weights the world: leave --country and --per-country out")
    with one_line(PopulationError, OSError):
        measured, left_out = read_countries(find_month(month, source=place, manifest=manifest))
        codes = tuple(country.code for country in select_usable(measured)) if per_country else countries
        populations = [
            store(settings.populations, new)
            for new in populations_of(
                measured,
                month,
                rho=rho,
                codes=codes,
                users=read_users(users) if users else None,
                users_source=users_source or "",
                left_out=left_out,
            )
        ]
    if left_out:
        every = len(measured) + len(left_out)
        click.echo(
            f"left out: {', '.join(left_out)} ({len(left_out)} of {every} countries), "
            "with a value of no network, such as a test of 0 Mbps",
            err=True,
        )
    show(
        [*map(dataclasses.asdict, populations)], as_json=as_json, lines=map(describe_population, populations)
    )


@command.command("list")
@AS_JSON
@click.pass_obj
def list_populations(settings: Settings, *, as_json: bool) -> None:
    """List the stored populations: the bundled ones and those in the data folder.

    \b
    Example:
      firstflight population list
    """
    with one_line(PopulationError, OSError):
        populations = list_stored(settings.populations)
    show(
        [*map(dataclasses.asdict, populations)], as_json=as_json, lines=map(describe_population, populations)
    )


@command.command()
@click.argument("population_id", metavar="ID")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    metavar="FILE.svg",
    help="File of the picture.",
)
@click.pass_obj
def draw(settings: Settings, *, population_id: str, output: Path) -> None:
    """Draw a stored population against its source.

    \b
    Example:
      firstflight population draw mlab-2025-10 --output mlab-2025-10.svg
    """
    from reports.document.population_figure import population_figure

    with one_line(PopulationError, OSError):
        facts = facts_of(settings.populations, population_id)
        drawn = population_figure(facts, find_population(settings.populations, population_id))
        output.write_text(drawn, encoding="utf-8")
    click.echo(str(output))


def describe_population(population: StoredPopulation) -> str:
    medians = [
        population.percentiles[name]["source"][population.percentiles["percents"].index(50)] for name in NAMES
    ]
    return (
        f"{population.id}: {population.networks} networks, measured {population.measured}, "
        f"median {medians[0]:g} Mbps and {medians[1]:g} ms, percentiles 5 to 95 within "
        f"{largest_difference(population):.1%}, SHA-256 {population.sha256[:12]}"
    )


NAMES = ("bandwidth_mbps", "rtt_ms")


def largest_difference(population: StoredPopulation) -> float:
    """Return the largest relative difference of percentiles, 5th to 95th, between sample and source."""
    difference: float = max(
        abs(sampled / wanted - 1)
        for name in NAMES
        for sampled, wanted, percent in zip(
            population.percentiles[name]["sample"],
            population.percentiles[name]["source"],
            population.percentiles["percents"],
            strict=True,
        )
        if 5 <= percent <= 95
    )
    return difference
