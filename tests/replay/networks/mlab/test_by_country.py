"""Countries among the strata of a population: together they are the world,
and each alone has its own share of slow networks."""

import numpy as np
import pytest

from replay.networks.mlab.by_country import CountryShares, shares_by_country
from replay.networks.mlab.populations import FEWEST_TESTS
from replay.networks.population_csv import PopulationError
from replay.networks.stored_populations import BUNDLED, find_population

SLOW = slice(0, 16)
"""Places of the slow networks, which come first in a population."""


@pytest.fixture(scope="module")
def countries() -> list[CountryShares]:
    return shares_by_country("mlab-2025-10")


@pytest.mark.parametrize("population", ["mlab-2025-10", "mlab-2025-10-crux", "mlab-2025-10-r60"])
def test_the_countries_by_their_tests_are_the_networks_of_the_world(population: str) -> None:
    used = [(one.tests, one.shares) for one in shares_by_country(population) if one.shares is not None]
    mixture = np.average([shares for _, shares in used], axis=0, weights=[tests for tests, _ in used])
    whole = find_population(BUNDLED, population)
    weights = [share for _, share in whole.populations[0].weights]
    assert mixture == pytest.approx(weights, rel=0.15)
    assert mixture.sum() == pytest.approx(1)


def test_every_country_of_the_file_is_there_with_its_name_those_with_most_tests_first(
    countries: list[CountryShares],
) -> None:
    assert len(countries) == 238
    assert [one.tests for one in countries] == sorted((one.tests for one in countries), reverse=True)
    assert next(one.name for one in countries if one.code == "DE") == "Germany"
    assert all(one.name != one.code for one in countries if one.tests >= FEWEST_TESTS)


def test_a_country_with_few_tests_has_no_shares(countries: list[CountryShares]) -> None:
    for one in countries:
        assert (one.shares is None) == (one.tests < FEWEST_TESTS)
        if one.shares is not None:
            assert one.shares.sum() == pytest.approx(1)


def test_the_slowest_countries_have_most_of_their_tests_among_the_worlds_slowest_tenth(
    countries: list[CountryShares],
) -> None:
    slow = {one.code: one.shares[SLOW].sum() for one in countries if one.shares is not None}
    slowest = [slow[one.code] for one in countries if one.is_among_slowest]
    assert len(slowest) == 20
    assert min(slowest) > 0.3
    assert slow["US"] < 0.1 < slow["YE"]
    assert np.median(list(slow.values())) < min(slowest)


@pytest.mark.parametrize(
    ("population", "why"),
    [
        ("mlab-2025-10-users", "is not made of M-Lab's countries by their tests"),
        ("avgdc-2010", "is not made of M-Lab's countries by their tests"),
        ("mlab-2031-01", "M-Lab's file of 2031-01 does not come with the code"),
    ],
)
def test_other_populations_are_refused_in_one_line(population: str, why: str) -> None:
    with pytest.raises(PopulationError, match=why):
        shares_by_country(population)
