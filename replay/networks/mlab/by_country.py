"""How each country's tests lie among the strata of a population of the world:
the weights that make its networks a country's.

A stratum is a range of bandwidth and round trip for which one network of the population stands (`sample`). A
country's joint distribution (`joint`) fills the same strata in other shares than the world's.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from replay.networks.mlab import sites
from replay.networks.mlab.files import HERE, Country, find_month, read_countries
from replay.networks.mlab.joint import RHO, Cloud, Floats, Integers, world
from replay.networks.mlab.populations import FEWEST_TESTS, MEDIAN, slowest
from replay.networks.mlab.sample import OTHER_STRATA, SLOW_STRATA, slowness, split_by_slowness, strata
from replay.networks.population_csv import PopulationError

NAMES = Path(__file__).with_name("countries.csv")
"""English names by code of ISO 3166-1, as the time zone database has them."""

OF_THE_WORLD = re.compile(
    r"mlab-(?P<month>20\d\d-\d\d)(?P<sites>-crux)?(-r(?P<sign>p?)(?P<hundredths>\d\d))?", re.ASCII
)
"""Ids of the populations of the world by tests, as `populations` gives them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountryShares:
    """A country of a month, and the share of its tests in each stratum."""

    code: str
    """ISO 3166-1 alpha-2."""
    name: str
    tests: int
    median_mbps: float
    median_rtt_ms: float
    """To M-Lab's nearest server."""
    shares: Floats | None
    """Shares that sum to 1, in the order of the population's networks;
    None with fewer than FEWEST_TESTS tests."""
    is_among_slowest: bool
    """True for the slowest countries by their medians."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Strata of the slow or of the other networks, by the ends of their ranges."""

    columns: Floats
    """Highest bandwidth of each column but the last, in Mbps."""
    rows: Floats
    """Longest round trip of each row of a column but the last [column, row], in ms."""

    def place(self, bandwidth: Floats, rtt: Floats) -> Integers:
        """Number of the stratum of each network, column by column."""
        column = np.searchsorted(self.columns, bandwidth)
        row = (rtt[:, np.newaxis] > self.rows[column]).sum(axis=1)
        found: Integers = column * (self.rows.shape[1] + 1) + row
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """All strata of a sample of a cloud, in the order of its networks."""

    slowness_ms: float
    """Networks above it are slow."""
    slow: Part
    others: Part

    def shares(self, cloud: Cloud) -> Floats:
        """Share of a cloud's networks in each stratum."""
        bandwidth, rtt = cloud.bandwidth_mbps, cloud.rtt_ms
        is_slow = slowness(bandwidth, rtt) > self.slowness_ms
        of_slow = SLOW_STRATA[0] * SLOW_STRATA[1]
        place = np.where(
            is_slow, self.slow.place(bandwidth, rtt), of_slow + self.others.place(bandwidth, rtt)
        )
        counts = np.bincount(place, minlength=of_slow + OTHER_STRATA[0] * OTHER_STRATA[1])
        found: Floats = counts / counts.sum()
        return found


def strata_of(cloud: Cloud) -> Strata:
    """The strata that the sample of a cloud is taken from."""
    bandwidth, rtt = cloud.bandwidth_mbps, cloud.rtt_ms
    others, slow = split_by_slowness(cloud)
    return Strata(
        float(slowness(bandwidth[others], rtt[others]).max()),
        _part(slow, SLOW_STRATA, cloud),
        _part(others, OTHER_STRATA, cloud),
    )


def _part(members: Integers, shape: tuple[int, int], cloud: Cloud) -> Part:
    columns, rows = shape
    cells = list(strata(members, shape, cloud.bandwidth_mbps, cloud.rtt_ms))
    ends = [
        max(cloud.bandwidth_mbps[cell].max() for cell in cells[at * rows : (at + 1) * rows])
        for at in range(columns)
    ]
    longest = np.array([cloud.rtt_ms[cell].max() for cell in cells]).reshape(shape)
    return Part(np.array(ends[:-1]), longest[:, :-1])


def shares_by_country(population: str) -> list[CountryShares]:
    """The countries of a population of the world by its id, those with most tests first.

    Raises PopulationError if the population is no mixture of countries by their tests,
    or if its month does not come with the code.
    """
    parts = OF_THE_WORLD.fullmatch(population)
    if parts is None:
        raise PopulationError(f"{population} is not made of M-Lab's countries by their tests")
    if not (HERE / f"downloads_{parts['month']}.parquet").exists():
        raise PopulationError(f"M-Lab's file of {parts['month']} does not come with the code")
    rho = RHO
    if parts["hundredths"]:
        rho = int(parts["hundredths"]) / (100 if parts["sign"] else -100)
    countries = read_countries(find_month(parts["month"])).countries
    return list(_shares(countries, rho=rho, with_sites=bool(parts["sites"])))


def _shares(countries: Sequence[Country], *, rho: float, with_sites: bool) -> Iterator[CountryShares]:
    by_tests = world(countries, rho=rho)

    def seen(cloud: Cloud) -> Cloud:
        return sites.seen_from(cloud, by_tests) if with_sites else cloud

    there, names = strata_of(seen(by_tests)), read_names()
    slow = {one.code for one in slowest(countries)}
    for one in sorted(countries, key=lambda one: (-one.tests, one.code)):
        yield CountryShares(
            code=one.code,
            name=names.get(one.code, one.code),
            tests=one.tests,
            median_mbps=one.bandwidth_mbps[MEDIAN],
            median_rtt_ms=one.rtt_ms[MEDIAN],
            shares=there.shares(seen(world([one], rho=rho))) if one.tests >= FEWEST_TESTS else None,
            is_among_slowest=one.code in slow,
        )


def read_names() -> dict[str, str]:
    """English names of countries by code."""
    with NAMES.open(encoding="utf-8", newline="") as file:
        return {row["country_code"]: row["name"] for row in csv.DictReader(file)}
