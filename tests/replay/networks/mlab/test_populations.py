"""Populations of M-Lab's October 2025 against the file they are made of."""

import functools
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from replay.networks.mlab import populations
from replay.networks.mlab.files import PERCENTS, Country, find_month, read_countries
from replay.networks.mlab.joint import (
    RHO,
    SCORES,
    Cloud,
    Floats,
    logarithms,
    low_discrepancy,
    values_at,
    world,
)
from replay.networks.mlab.populations import (
    USERS,
    make_population,
    populations_of,
    read_users,
    select_slowest,
)
from replay.networks.mlab.sample import SLOW_SHARE, draw_sample, slowness, weighted_quantiles
from replay.networks.population_csv import PopulationError

SHARES = [percent / 100 for percent in PERCENTS]
BETWEEN = (0.02, 0.15, 0.4, 0.6, 0.85, 0.97)


@functools.cache
def october() -> tuple[Country, ...]:
    return tuple(read_countries(find_month("2025-10")).countries)


@functools.cache
def cloud(code: str | None = None, rho: float = RHO) -> Cloud:
    return world([country for country in october() if code in (None, country.code)], rho=rho)


def spearman(first: Floats, second: Floats) -> float:
    ranks = [np.argsort(np.argsort(values)) for values in (first, second)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


@pytest.mark.parametrize("code", ["US", "IN", "DE", "NG", "BR", "ID", "FJ"])
@pytest.mark.parametrize("name", ["bandwidth_mbps", "rtt_ms"])
def test_the_sample_of_a_country_has_the_percentiles_of_the_file(code: str, name: str) -> None:
    country = next(country for country in october() if country.code == code)
    sample = draw_sample(cloud(code))
    percentiles = weighted_quantiles(getattr(sample, name), sample.weights, SHARES)
    assert percentiles == pytest.approx(getattr(country, name), rel=0.05)


@pytest.mark.parametrize("name", ["bandwidth_mbps", "rtt_ms"])
def test_the_sample_of_the_world_has_the_percentiles_of_the_mixture(name: str) -> None:
    sample = draw_sample(cloud())
    percentiles = weighted_quantiles(getattr(sample, name), sample.weights, SHARES)
    tests = np.array([country.tests for country in october()], float)
    logs = logarithms([getattr(country, name) for country in october()])
    for share, value in zip(SHARES, percentiles, strict=True):
        # Each country's share below the value, by its own percentiles; their mean by tests is the world's.
        below = [NormalDist().cdf(float(np.interp(np.log(value), row, SCORES, -3.09, 3.09))) for row in logs]
        assert np.log(value) == pytest.approx(np.log(np.quantile(getattr(cloud(), name), share)), abs=0.05)
        assert np.average(below, weights=tests) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("code", [None, "US", "IN", "NG"])
def test_between_the_percentiles_the_sample_follows_the_cloud(code: str | None) -> None:
    sample = draw_sample(cloud(code))
    for name in ("bandwidth_mbps", "rtt_ms"):
        quantiles = weighted_quantiles(getattr(sample, name), sample.weights, BETWEEN)
        assert quantiles == pytest.approx(np.quantile(getattr(cloud(code), name), BETWEEN), rel=0.12), name


def test_a_percentile_left_out_is_predicted_best_by_the_rule_between_percentiles() -> None:
    many = [country for country in october() if country.tests > 10_000]
    for name in ("bandwidth_mbps", "rtt_ms"):
        table = np.array([getattr(country, name) for country in many])
        for column in range(1, len(PERCENTS) - 1):
            by_score = _predicted(np.log(table), SCORES, column)
            by_share = _predicted(table, np.array(SHARES), column)
            errors = [
                float(np.median(np.abs(predicted / table[:, column] - 1)))
                for predicted in (np.exp(by_score), by_share)
            ]
            assert errors[0] <= errors[1] + 0.015, (name, PERCENTS[column], errors)
            assert errors[0] < 0.15


def _predicted(table: Floats, places: Floats, column: int) -> Floats:
    part = (places[column] - places[column - 1]) / (places[column + 1] - places[column - 1])
    return np.asarray(table[:, column - 1] + part * (table[:, column + 1] - table[:, column - 1]))


def test_values_rise_with_the_score_and_the_tails_go_on() -> None:
    rows = logarithms([(1, 2, 3, 4, 5, 5, 5, 6, 7)])
    scores = np.linspace(-3, 3, 200)
    values = values_at(np.repeat(rows, len(scores), axis=0), scores)
    assert (np.diff(values) > 0).all()
    assert values[0] < 1
    assert values[-1] > 7
    assert values_at(np.repeat(rows, len(SCORES), axis=0), SCORES) == pytest.approx(
        [1, 2, 3, 4, 5, 5, 5, 6, 7]
    )


def test_rho_is_the_correlation_within_a_country_and_countries_add_theirs() -> None:
    # Spearman's correlation of a Gaussian copula is 6/pi asin(rho/2).
    assert spearman(cloud("DE").bandwidth_mbps, cloud("DE").rtt_ms) == pytest.approx(-0.287, abs=0.02)
    assert abs(spearman(cloud("DE", 0.0).bandwidth_mbps, cloud("DE", 0.0).rtt_ms)) < 0.02
    assert spearman(cloud().bandwidth_mbps, cloud().rtt_ms) == pytest.approx(-0.34, abs=0.02)
    sample = draw_sample(cloud())
    assert spearman(sample.bandwidth_mbps[16:], sample.rtt_ms[16:]) < -0.2


def test_the_slow_part_is_the_slowest_tenth_of_the_sample_and_of_the_cloud() -> None:
    sample = draw_sample(cloud())
    assert sample.weights.sum() == pytest.approx(1)
    assert sample.slow_weights.sum() == pytest.approx(1)
    is_slow = sample.slow_weights > 0
    assert sample.weights[is_slow].sum() == pytest.approx(SLOW_SHARE)
    order = slowness(sample.bandwidth_mbps, sample.rtt_ms)
    assert order[is_slow].min() > order[~is_slow].max()
    everyone = slowness(cloud().bandwidth_mbps, cloud().rtt_ms)
    slow = everyone > np.quantile(everyone, 1 - SLOW_SHARE)
    quantiles = weighted_quantiles(
        sample.bandwidth_mbps[is_slow], sample.slow_weights[is_slow], [0.25, 0.5, 0.75]
    )
    assert quantiles == pytest.approx(np.quantile(cloud().bandwidth_mbps[slow], [0.25, 0.5, 0.75]), rel=0.05)


def test_points_fill_the_square_evenly() -> None:
    points = low_discrepancy(1024, 2)
    counts, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=8, range=((0, 1), (0, 1)))
    assert counts.min() >= 12
    assert counts.max() <= 20


def test_round_trips_to_sites_are_those_of_crux() -> None:
    distances = populations.visitor_distances_ms(cloud())
    # For each domain, the 75th percentile of its users' round trips is what CrUX prints.
    for distance, printed in zip(distances, populations.VISITOR_RTT_MS, strict=True):
        assert np.quantile(cloud().rtt_ms + distance, 0.75) == pytest.approx(printed)
    further = populations.add_visitor_distances(cloud(), cloud())
    assert (further.bandwidth_mbps == cloud().bandwidth_mbps).all()
    assert np.quantile(further.rtt_ms - cloud().rtt_ms, [0.1, 0.5, 0.9]) == pytest.approx(
        distances[[0, 2, 4]], rel=0.01
    )
    assert abs(spearman(further.rtt_ms - cloud().rtt_ms, cloud().bandwidth_mbps)) < 0.02


def test_loss_is_the_lower_quartile_of_the_country() -> None:
    country = next(country for country in october() if country.code == "PK")
    assert country.loss[3] < country.loss[4]
    assert set(cloud("PK").loss) == {country.loss[3]}


def test_the_slowest_countries_are_twenty_by_page_time_of_their_medians() -> None:
    countries = select_slowest(october())
    assert len(countries) == 20
    order = [
        slowness(np.array([country.bandwidth_mbps[4]]), np.array([country.rtt_ms[4]]))[0]
        for country in countries
    ]
    assert order == sorted(order, reverse=True)
    assert all(country.tests >= 1_000 for country in countries)


def test_the_world_becomes_four_populations_and_a_country_two() -> None:
    names = [population.id for population in populations_of(october(), "2025-10")]
    assert names == ["mlab-2025-10", "mlab-2025-10-crux", "mlab-2025-10-slow20", "mlab-2025-10-users"]
    german = list(populations_of(october(), "2025-10", codes=["de"], rho=-0.6))
    assert [population.id for population in german] == ["mlab-2025-10-de-r60", "mlab-2025-10-de-crux-r60"]
    assert [population.measured for population in german] == ["2025-10", "2024-12"]


def test_every_rho_has_an_id_of_its_own() -> None:
    rhos = [number / 20 for number in range(-18, 19)]
    ids = {make_population("mlab-2025-10", "x", cloud("DE"), "2025-10", rho).id for rho in rhos}
    assert len(ids) == len(rhos)


@pytest.mark.parametrize(
    ("code", "why"), [("XX", "no country 'XX'; there are AD, AE"), ("SJ", "SJ has 1 tests")]
)
def test_a_country_without_enough_tests_is_refused(code: str, why: str) -> None:
    with pytest.raises(PopulationError, match=why):
        list(populations_of(october(), "2025-10", codes=[code]))


def test_the_world_by_users_weights_countries_by_them(tmp_path: Path) -> None:
    path = tmp_path / "users.csv"
    path.write_text("country_code,users\nde,1\nNG,1\n", encoding="utf-8")
    *_, by_users = populations_of(october(), "2025-10", users=read_users(path), users_source="made up")
    assert by_users.id == "mlab-2025-10-users"
    assert "Internet users (made up)" in by_users.source
    half = world(
        [country for country in october() if country.code in {"DE", "NG"}], weights={"DE": 1, "NG": 1}
    )
    assert by_users.percentiles["bandwidth_mbps"]["source"] == pytest.approx(
        np.quantile(half.bandwidth_mbps, SHARES), rel=0.01
    )


@pytest.mark.parametrize(
    "content", ["", "country,users\nDE,1\n", "country_code,users\nDE,many\n", "country_code,users\nDE,0\n"]
)
def test_a_bad_table_of_users_is_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "users.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(PopulationError, match=r"users\.csv"):
        read_users(path)


MISSED = {("BW", 95): 0.089, ("BS", 5): 0.056, ("JE", 5): 0.055}
"""Bounds of the three percentiles of round trips that miss a twentieth;
the neighbour of each is 3.7 to 17 times as long or as short."""


def test_percentiles_of_every_country_with_enough_tests_are_within_a_twentieth_but_for_three() -> None:
    for country in october():
        if country.tests < 1_000:
            continue
        sample = draw_sample(world([country]))
        rates = weighted_quantiles(sample.bandwidth_mbps, sample.weights, SHARES[1:-1])
        assert rates == pytest.approx(country.bandwidth_mbps[1:-1], rel=0.05), country.code
        for percent, ours, theirs in zip(
            PERCENTS[1:-1],
            weighted_quantiles(sample.rtt_ms, sample.weights, SHARES[1:-1]),
            country.rtt_ms[1:-1],
            strict=True,
        ):
            most = MISSED.get((country.code, percent), 0.05)
            assert ours == pytest.approx(theirs, rel=most), (country.code, percent)


def test_the_bundled_table_has_the_users_of_nearly_all_tests_countries() -> None:
    users = read_users(USERS)
    assert sum(users.values()) == pytest.approx(1, abs=0.01)
    assert users["CN"] > users["IN"] > users["US"] > users["BR"] > users["DE"]
    tests = {country.code: country.tests for country in october()}
    lacking = sum(count for code, count in tests.items() if code not in users)
    assert lacking / sum(tests.values()) < 0.002


def test_people_have_slower_and_further_lines_than_tests() -> None:
    by_tests, *_, by_users = populations_of(october(), "2025-10")
    median = PERCENTS.index(50)
    for name, is_less in (("bandwidth_mbps", True), ("rtt_ms", False)):
        tests, users = (population.percentiles[name]["source"][median] for population in (by_tests, by_users))
        assert (users < tests / 1.5) if is_less else (users > 1.5 * tests)
