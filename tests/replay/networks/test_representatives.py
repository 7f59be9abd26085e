"""A few networks that stand for a population."""

import dataclasses

import pytest

from replay.networks.population_csv import CsvPopulation
from replay.networks.representatives import choose_representatives, slowness_ms
from replay.networks.stored_populations import CURRENT, find_population


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> CsvPopulation:
    return find_population(tmp_path_factory.mktemp("none"), CURRENT)


@pytest.mark.parametrize("count", [2, 4, 8, 16, 63])
def test_they_carry_the_weight_of_the_whole_and_of_its_slow_part(whole: CsvPopulation, count: int) -> None:
    few = choose_representatives(whole, count)
    average, slow = (dict(population.weights) for population in few.populations)
    assert len(few.profiles) == count
    assert {profile.id for profile in few.profiles} == set(average)
    assert sum(average.values()) == pytest.approx(1)
    assert sum(slow.values()) == pytest.approx(1)
    assert sum(average[name] for name in slow) == pytest.approx(0.1)
    assert all(profile in whole.profiles for profile in few.profiles)


def test_the_slowness_at_their_middle_is_that_of_the_whole(whole: CsvPopulation) -> None:
    def median(population: CsvPopulation) -> float:
        shares = dict(population.populations[0].weights)
        left = 0.5
        for profile in sorted(population.profiles, key=slowness_ms):
            left -= shares[profile.id]
            if left <= 0:
                return slowness_ms(profile)
        raise AssertionError

    assert median(choose_representatives(whole, 16)) == pytest.approx(median(whole), rel=0.15)


def test_a_network_of_great_weight_stands_for_itself(whole: CsvPopulation) -> None:
    average, slow = whole.populations
    heavy = whole.profiles[40].id
    weights = tuple((name, 0.9 if name == heavy else 0.1 / 63) for name, _ in average.weights)
    few = choose_representatives(
        dataclasses.replace(whole, populations=(dataclasses.replace(average, weights=weights), slow)), 8
    )
    shares = dict(few.populations[0].weights)
    assert shares[heavy] >= 0.9
    assert 2 <= len(shares) <= 8


def test_all_networks_are_taken_where_there_are_no_more(whole: CsvPopulation) -> None:
    assert choose_representatives(whole, 64) is whole
    assert "of its 64 networks stand for all" in choose_representatives(whole, 8).populations[0].source
