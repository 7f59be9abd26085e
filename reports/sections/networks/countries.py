"""What a window gains and costs in each country, by the weights that a country's tests give to
the networks of the population."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from releases.formatting import grouped, stated
from replay.networks.mlab.by_country import CountryShares, shares_by_country
from replay.networks.mlab.populations import FEWEST_TESTS, SLOWEST
from replay.networks.population_csv import PopulationError
from replay.networks.representatives import groups
from replay.networks.stored_populations import BUNDLED, facts_of, find_population
from reports.sections.evidence import Evidence, more_sent_again, saved_ms, saved_percent
from reports.sections.networks.by_network import OPPOSITE_SIGNS
from reports.sections.shape import Column, Figure, Line, Row, Section, Table, interval, not_measured
from reports.statistics.bootstrap import Floats

TITLE = "By country"

LEAD = "Networks differ by country, and so does what a larger first flight saves, and what it costs."

LARGEST = 20
"""Countries with most tests that pages show; the data have every country."""

WORLD = "the world"

COLUMNS = (
    Column(id="country", title="country", kind="text"),
    Column(id="code", title="ISO 3166 code", kind="text"),
    Column(id="tests", title="tests", kind="count"),
    Column(id="median_mbps", title="median bandwidth", unit="Mbps"),
    Column(id="median_rtt_ms", title="median round trip", unit="ms"),
    Column(id="slow", title="tests among the world's slowest tenth", unit="%"),
    Column(id="saved", title="page time saved", unit="%", kind="interval"),
    Column(id="saved_ms", title="page time saved", unit="ms", kind="interval"),
    Column(id="sent_again", title="more payload sent again", unit="pp", kind="interval"),
)

NOTES = (
    "A country's number is the mean over the population's networks, each weighted by the share of the "
    "country's tests that lie in its stratum of bandwidth and round trip. So the countries have the same "
    "networks in other shares: losses and queues of a country's own lines are not told apart.",
    "The intervals have the chance of pages and loads, each of a country by itself, and not how well tests "
    "stand for people. The pages are the same in every country.",
    OPPOSITE_SIGNS,
    f"Unknown for countries with fewer than {grouped(FEWEST_TESTS)} tests, "
    "and where a network has too few loads.",
)


def countries_section(evidence: Evidence, population: Mapping[str, Any], *, window: int) -> Section:
    """Gain and cost of `window` in each country.

    `population` are the facts of the average population that was replayed.
    """
    # A population of a file may have the name of a stored one.
    name = population["id"] if population.get("is_stored") else f"the file {population['id']}.csv"
    try:
        countries = shares_by_country(name)
        world, *rows = rows_of(evidence, countries, name, window=window)
    except PopulationError as exc:
        return not_measured(
            "countries", TITLE, LEAD, f"its networks cannot be told apart by country, since {exc}."
        )
    slow = {one.code for one in countries if one.is_among_slowest}
    slowest = sorted(
        (row for row in rows if row["code"] in slow), key=lambda row: (-row["slow"], row["code"])
    )
    largest = [world, *rows[:LARGEST]]
    return Section(
        id="countries",
        title=TITLE,
        lead=f"{LEAD} The tables have IW {window} against IW {evidence.incumbent}, in the countries with "
        f"most of M-Lab's tests and in the {SLOWEST} with the slowest lines.",
        figures=(
            figure_of(evidence, "fig-countries", "in the countries with most tests", largest, window),
            figure_of(evidence, "fig-countries-slow", "in the slowest countries", [world, *slowest], window),
        ),
        tables=(
            table_of(
                evidence, "countries", "the countries with most tests", [world, *rows], window, LARGEST + 1
            ),
            table_of(evidence, "countries-slowest", "the slowest countries", slowest, window, None),
        ),
        notes=NOTES,
    )


def members_of(evidence: Evidence, population: str) -> Floats:
    """Which networks of the evidence stand for which of the population's [evidence's network,
    population's], as 0 and 1.

    Raises PopulationError if the evidence has other networks, or weighs them otherwise.
    """
    whole = find_population(BUNDLED, population)
    stands_for = groups(whole, len(evidence.networks))
    places = {one.id: place for place, one in enumerate(whole.profiles)}
    if stands_for.keys() != {one["id"] for one in evidence.networks}:
        raise PopulationError(f"the replay took other networks than those of {population}")
    found = np.zeros((len(evidence.networks), len(places)))
    for at, network in enumerate(evidence.networks):
        found[at, [places[one.id] for one in stands_for[network["id"]]]] = 1
    shares = dict(whole.populations[0].weights)
    if not np.allclose(found @ [shares[name] for name in places], evidence.weights["average"], atol=1e-6):
        raise PopulationError(f"the replay has other weights than {population}")
    return found


def median_of(population: str, quantity: str) -> float:
    """The median of a stored population's source."""
    percentiles = facts_of(BUNDLED, population).percentiles
    return float(percentiles[quantity]["source"][percentiles["percents"].index(50)])


def rows_of(
    evidence: Evidence, countries: Sequence[CountryShares], population: str, *, window: int
) -> Iterator[Row]:
    """A row for the world and for each country."""
    members = members_of(evidence, population)
    slow = members.T @ (evidence.weights["slow"] > 0)
    average = evidence.weights["average"]
    yield {
        "country": WORLD,
        "code": "",
        "tests": sum(one.tests for one in countries),
        "median_mbps": median_of(population, "bandwidth_mbps"),
        "median_rtt_ms": median_of(population, "rtt_ms"),
        "slow": 100 * float(average[evidence.weights["slow"] > 0].sum() / average.sum()),
        **measured(evidence, average, window),
    }
    for one in countries:
        yield {
            "country": one.name,
            "code": one.code,
            "tests": one.tests,
            "median_mbps": one.median_mbps,
            "median_rtt_ms": one.median_rtt_ms,
            "slow": None if one.shares is None else 100 * float(one.shares @ slow),
            **measured(evidence, None if one.shares is None else members @ one.shares, window),
        }


def measured(evidence: Evidence, weights: Floats | None, window: int) -> Row:
    """Gain and cost on networks with these weights; unknown without weights."""
    measures = {"saved": saved_percent, "saved_ms": saved_ms, "sent_again": more_sent_again}
    return {
        name: None if weights is None else interval(measure(evidence, window, weights))
        for name, measure in measures.items()
    }


def figure_of(evidence: Evidence, name: str, where: str, rows: Sequence[Row], window: int) -> Figure:
    """An interval of page time saved for each of some countries."""
    return Figure(
        id=name,
        title=f"Page time saved by IW {window} {where}.",
        caption=f"Against IW {evidence.incumbent}, with 95 % intervals. A change is worthwhile from "
        f"{stated(evidence.rule.worthwhile_percent, '%')} on.",
        drawing="forest",
        x="saved",
        y="country",
        columns=COLUMNS,
        rows=tuple(rows),
        source=evidence.source,
        query=evidence.query,
        lines=(
            Line(value=0.0, label="no change"),
            Line(value=evidence.rule.worthwhile_percent, label="worthwhile"),
        ),
    )


def table_of(
    evidence: Evidence, name: str, which: str, rows: Sequence[Row], window: int, shown: int | None
) -> Table:
    """The numbers of some countries, of which pages show the first `shown`."""
    return Table(
        id=name,
        title=f"IW {window} against IW {evidence.incumbent} in {which}",
        columns=COLUMNS,
        rows=tuple(rows),
        shown=shown,
        source=f"{evidence.source}; M-Lab's percentiles of NDT tests by country (CC0)",
        query=evidence.query,
    )
