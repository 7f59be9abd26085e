"""Estimates in both units against arithmetic by hand, and their errors against loads made again."""

import dataclasses

import numpy as np
import pytest

from tests.verdict.made_up import FAR, PACED, TEN, evidence_of, noisy
from verdict.estimates import (
    FAMILY,
    GAIN,
    NET_BENEFIT,
    RESENT,
    TOUCHED,
    correlate,
    difference,
    measure,
    name_of,
)
from verdict.rule import IN_SUM, PER_LOAD, RULE

TWO = evidence_of(
    {
        TEN: (np.array([1000.0, 9000.0]), np.array([0.0, 30_000.0])),
        PACED: (np.array([900.0, 9000.0]), np.array([10_000.0, 40_000.0])),
    },
    payload=np.array([1e6, 3e6]),
)
"""A short page that is a tenth faster and sends a hundredth again, and a long one that gains nothing."""


def value(evidence: object, quantity: str, policy: object = PACED) -> float:
    return float(measure(evidence, [policy], RULE).of(quantity, policy).value)  # type: ignore[arg-type, list-item]


def test_per_load_every_load_counts_alike() -> None:
    assert value(TWO, name_of(GAIN, PER_LOAD)) == pytest.approx(100 * (1 - 0.9**0.5))
    assert value(TWO, name_of(RESENT, PER_LOAD)) == pytest.approx((1 + 1 / 3) / 2)


def test_in_sum_every_millisecond_and_every_byte_counts_alike() -> None:
    assert value(TWO, name_of(GAIN, IN_SUM)) == pytest.approx(1.0)
    assert value(TWO, name_of(RESENT, IN_SUM)) == pytest.approx(100 * (50 - 30) / 4000)


def test_net_benefit_is_each_units_price_times_its_gain_less_what_is_sent_again() -> None:
    assert value(TWO, name_of(NET_BENEFIT, IN_SUM)) == pytest.approx(0.059 * 1.0 - 0.5)
    gain = 100 * (1 - 0.9**0.5)
    assert value(TWO, name_of(NET_BENEFIT, PER_LOAD)) == pytest.approx(0.088 * gain - 2 / 3)


def test_the_gain_of_touched_loads_leaves_out_what_the_policy_is_not_for() -> None:
    near_and_far = evidence_of(
        {
            TEN: (np.full(4, 1000.0), np.zeros(4)),
            FAR: (np.array([900.0, 1000.0, 1000.0, 1000.0]), np.zeros(4)),
        },
        handshake_ms=np.array([101.0, 100.0, 20.0, np.nan]),
    )
    assert value(near_and_far, TOUCHED, FAR) == pytest.approx(10.0)
    assert value(near_and_far, name_of(GAIN, PER_LOAD), FAR) == pytest.approx(100 * (1 - 0.9**0.25))


def test_a_load_that_failed_counts_in_no_quantity() -> None:
    values = {name: array.copy() for name, array in TWO.values.items()}
    values["page_ms"][1, 1] = np.nan
    failed = dataclasses.replace(TWO, values=values)
    effects = measure(failed, [PACED], RULE)
    assert effects.of(name_of(RESENT, IN_SUM), PACED).value == pytest.approx(1.0)
    assert set(effects.draws[[effects.names[name, PACED] for name in FAMILY]]) == {1}


@pytest.mark.parametrize("quantity", FAMILY)
def test_errors_are_as_large_as_estimates_differ(quantity: str) -> None:
    estimates = [
        measure(noisy(np.random.default_rng(seed), 400, {FAR: (4.0, 0.1)}, noise=0.05), [FAR], RULE).of(
            quantity, FAR
        )
        for seed in range(150)
    ]
    spread = float(np.std([estimate.value for estimate in estimates]))
    assert float(np.mean([estimate.error for estimate in estimates])) == pytest.approx(spread, rel=0.2)


def test_pages_of_one_site_count_as_one_cluster() -> None:
    rng = np.random.default_rng(1)
    of_sites = rng.standard_normal(50)
    sites = np.repeat(np.arange(50), 20)
    change = 0.05 * of_sites[sites]
    loads = {
        TEN: (np.full(1000, 1000.0), np.zeros(1000)),
        PACED: (1000 * np.exp(change), np.zeros(1000)),
    }
    by_page, by_site = (
        measure(evidence_of(loads, sites=of), [PACED], RULE).of(name_of(GAIN, PER_LOAD), PACED).error
        for of in (None, sites)
    )
    assert by_site == pytest.approx(by_page * 20**0.5, rel=0.1)


@pytest.mark.parametrize("shared_by", ["page", "network"])
def test_policies_that_share_what_pages_or_networks_do_correlate(shared_by: str) -> None:
    rng = np.random.default_rng(2)
    pages, places = (np.arange(1600) // 4, rng.permutation(1600) // 4)
    of_cluster = pages if shared_by == "page" else places
    shared = 0.05 * rng.standard_normal(400)[of_cluster]
    apart = 0.05 * rng.standard_normal(400)[of_cluster]
    page_ms, nothing = np.full(1600, 1000.0), np.zeros(1600)
    loads = {
        TEN: (page_ms, nothing),
        PACED: (page_ms * np.exp(shared), nothing),
        FAR: (page_ms * np.exp(shared + apart), nothing),
    }
    effects = measure(evidence_of(loads, pages=pages, places=places), [PACED, FAR], RULE)
    names = [(name_of(GAIN, PER_LOAD), policy) for policy in (PACED, FAR)]
    assert correlate(effects, names)[0, 1] == pytest.approx(0.5**0.5, abs=0.06)


def test_an_input_is_compared_on_its_own_draws() -> None:
    rng = np.random.default_rng(3)
    noise = 0.2 * rng.standard_normal(400)
    page_ms = np.full(400, 1000.0)

    def loads(gain: float) -> dict[object, tuple[object, object]]:
        return {TEN: (page_ms, np.zeros(400)), PACED: (page_ms * np.exp(noise - gain), np.zeros(400))}

    base, other = (evidence_of(loads(gain)) for gain in (0.02, 0.03))  # type: ignore[arg-type]
    alone = measure(other, [PACED], RULE).of(name_of(NET_BENEFIT, PER_LOAD), PACED).interval(0.025)
    apart = difference(other, base, PACED, (RULE, RULE), tail=0.025)[PER_LOAD]
    assert apart.estimate == pytest.approx(0.088 * 1.0, rel=0.05)
    assert apart.upper - apart.lower < (alone.upper - alone.lower) / 20
    with pytest.raises(ValueError, match="same draws"):
        difference(other.where(np.arange(400) < 399), base, PACED, (RULE, RULE), tail=0.025)


def test_what_queues_dropped_and_what_had_arrived_are_told_apart_in_both_units() -> None:
    columns = {
        "bytes_dropped": [[0.0, 10_000.0], [0.0, 0.0]],
        "bytes_spurious": [[0.0, 0.0], [0.0, 30_000.0]],
    }
    values = {**TWO.values, **{name: np.array(rows) for name, rows in columns.items()}}
    apart = dataclasses.replace(TWO, values=values)
    for name, per_load, in_sum in (("dropped", 1 / 2, 1 / 4), ("spurious", 1 / 2, 3 / 4)):
        assert value(apart, name_of(name, PER_LOAD)) == pytest.approx(per_load)
        assert value(apart, name_of(name, IN_SUM)) == pytest.approx(in_sum)
        assert np.isnan(value(TWO, name_of(name, PER_LOAD)))
