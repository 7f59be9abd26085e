"""Effects: worked examples, weights and strata, missing loads, and coverage in simulated worlds."""

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from tests.verdict.worlds import PACED, SIXTEEN, TEN, World, saving
from verdict.effects import Effects, Estimate, measure, measure_again
from verdict.evidence import COLUMNS, Evidence, Network
from verdict.student import student_quantile


def evidence(
    loads: Mapping[str, Sequence[Sequence[float]]],
    networks: Sequence[Network] = (Network(id="a"),),
    *,
    visits: Sequence[int] = (),
    places: Sequence[int] = (),
) -> Evidence:
    """Draws at the windows 10 and 16, each of another page over the first network unless `visits` and
    `places` say otherwise."""
    size = len(next(iter(loads.values())))
    blank = np.full((size, 2), np.nan)
    values = {name: np.array(loads[name], float) if name in loads else blank for name in COLUMNS}
    return Evidence(
        networks=tuple(networks),
        visits=np.array(visits or range(1, size + 1), np.intp),
        places=np.array(places or [0] * size, np.intp),
        windows=(TEN, SIXTEEN),
        values=values,
        again={name: np.full(size, np.nan) for name in COLUMNS},
        states={"done": 2 * size},
    )


def measure_all(loads: Evidence) -> Effects:
    return measure(loads, [SIXTEEN], incumbent=TEN)


def test_the_share_of_connections_with_a_loss_is_the_mean_of_the_loads_own_shares() -> None:
    """By hand: 1 of 2 and 1 of 18 connections. The mean of shares is (50 + 5.56) / 2 = 27.8 %, the pooled
    share 2 of 20 = 10 %. A page with many connections is one page, as in payload sent again: the mean counts.
    """
    effects = measure_all(
        evidence({"connections": [[2, 2], [18, 18]], "connections_initial_loss": [[0, 1], [0, 1]]})
    )
    assert effects.of("connections", SIXTEEN).value == pytest.approx((50 + 100 / 18) / 2)
    pooled = 100 * (1 + 1) / (2 + 18)
    assert pooled == 10.0
    assert effects.of("connections", SIXTEEN).value != pytest.approx(pooled)


def test_page_time_saved_is_of_the_geometric_mean_and_milliseconds_of_the_arithmetic_one() -> None:
    effects = measure_all(evidence({"page_ms": [[100, 90], [1000, 900]]}))
    assert effects.saved("page", SIXTEEN, 0.025).estimate == pytest.approx(10)
    assert effects.saved("milliseconds", SIXTEEN, 0.025).estimate == pytest.approx(55)


def test_payload_sent_again_is_the_mean_of_the_loads_own_shares() -> None:
    effects = measure_all(
        evidence({"payload_bytes": [[100, 100], [1000, 1000]], "bytes_retransmitted": [[1, 3], [0, 10]]})
    )
    assert effects.of("resent", SIXTEEN).value == pytest.approx((2 + 1) / 2)


def test_networks_count_by_weight_and_strata_by_share() -> None:
    times = {"page_ms": [[100, 90], [100, 90], [100, 100]]}
    weighted = (Network(id="a", weight=0.2), Network(id="b", weight=0.6))
    shared = evidence(times, weighted, visits=[1, 2, 1], places=[0, 0, 1])
    assert measure_all(shared).of("page", SIXTEEN).value == pytest.approx(0.25 * math.log(0.9))
    drawn = (Network(id="a", stratum=1, share=0.1), Network(id="b", stratum=2, share=0.9))
    other = evidence(times, drawn, visits=[1, 2, 1], places=[0, 0, 1])
    assert measure_all(other).of("page", SIXTEEN).value == pytest.approx(0.1 * math.log(0.9))


def test_a_missing_load_leaves_its_pair_out_of_its_window_alone() -> None:
    effects = measure_all(evidence({"page_ms": [[100, 90], [100, math.nan], [math.nan, 90]]}))
    assert effects.draws[effects.names["page", SIXTEEN]] == 1
    assert effects.saved("page", SIXTEEN, 0.025).estimate == pytest.approx(10)
    assert effects.of("page", SIXTEEN).degrees == 0


def test_the_slow_tenth_is_of_its_networks_alone() -> None:
    networks = (Network(id="a"), Network(id="b", slow_share=1.0))
    effects = measure_all(evidence({"page_ms": [[100, 90], [100, 120]]}, networks, places=[0, 1]))
    assert effects.of("slow tenth", SIXTEEN).value == pytest.approx(math.log(1.2))


def test_the_error_of_two_crossed_clusters_by_hand() -> None:
    """Two pages over three networks, and residuals that are a page's part and a network's part alone:
    squares of page sums and of network sums, less those of pairs."""
    y = np.array([0.3, 0.1, -0.1, 0.1, -0.1, -0.3])
    crossed = evidence(
        {"page_ms": [[1, math.exp(value)] for value in y]},
        [Network(id=name) for name in "abc"],
        visits=[1, 1, 1, 2, 2, 2],
        places=[0, 1, 2, 0, 1, 2],
    )
    part = y / 6
    pages = 2 * (part[:3].sum() ** 2 + part[3:].sum() ** 2) * 6 / 5
    networks = 1.5 * sum((part[at] + part[at + 3]) ** 2 for at in range(3))
    pairs = float(part @ part) * 6 / 5
    assert measure_all(crossed).of("page", SIXTEEN).error ** 2 == pytest.approx(pages + networks - pairs)


def test_a_net_benefit_is_a_combination_with_the_error_of_both() -> None:
    loads = saving(3, 0.2).evidence(np.random.default_rng(1), pages=50, networks=64, each=2)
    effects = measure(loads, [PACED], incumbent=TEN)
    gain, resent = effects.saved("page", PACED, 0.025), effects.saved("resent", PACED, 0.025)
    benefit = effects.net_benefit(PACED, 0.025, price_pp=0.077)
    assert benefit.estimate == pytest.approx(0.077 * gain.estimate - resent.estimate)
    free = effects.net_benefit(PACED, 0.025, price_pp=1e-9)
    assert free.upper - free.lower == pytest.approx(resent.upper - resent.lower, rel=1e-3)


def test_one_window_over_another_is_their_difference() -> None:
    world = World(
        log_time={SIXTEEN: math.log(0.97), PACED: math.log(0.95)}, resent={SIXTEEN: 0.2, PACED: 0.1}
    )
    loads = world.evidence(np.random.default_rng(1), pages=50, networks=64, each=2)
    effects = measure(loads, [SIXTEEN, PACED], incumbent=TEN)
    between = effects.saved("page", PACED, 0.025, over=SIXTEEN)
    alone = [effects.of("page", window) for window in (SIXTEEN, PACED)]
    assert between.estimate == pytest.approx(100 * (1 - math.exp(alone[1].value - alone[0].value)))
    assert between.upper - between.lower < 100 * 2 * 1.96 * math.hypot(alone[0].error, alone[1].error)


@pytest.mark.parametrize("rounding", [0.0, 1e-15])
def test_a_window_with_the_loads_of_another_differs_from_it_by_nothing(rounding: float) -> None:
    world = World(log_time={SIXTEEN: math.log(0.97), PACED: 0.0}, resent={SIXTEEN: 0.2, PACED: 0.0})
    loads = world.evidence(np.random.default_rng(1), pages=50, networks=64, each=2)
    for array in loads.values.values():
        array[:, 2] = array[:, 1] * (1 + rounding)
    between = measure(loads, [SIXTEEN, PACED], incumbent=TEN).saved("page", PACED, 0.025, over=SIXTEEN)
    assert (between.estimate, between.lower, between.upper) == pytest.approx((0, 0, 0), abs=1e-9)


def test_the_incumbent_differs_from_itself_by_nothing() -> None:
    loads = saving(3, 0.2).evidence(np.random.default_rng(1), pages=50, networks=64, each=2)
    again = measure_again(loads, incumbent=TEN).saved("page", TEN, 0.005)
    assert again.lower < 0 < again.upper


@pytest.mark.parametrize(
    ("column", "equal", "different"), [("page_ms", 5e-5, 2e-4), ("bytes_retransmitted", 7, 8)]
)
def test_a_load_equals_itself_within_a_hundredth_of_what_counts(
    column: str, equal: float, different: float
) -> None:
    loads = saving(3, 0.2).evidence(np.random.default_rng(1), pages=50, networks=64, each=2)
    base = {name: np.array(loads.at(TEN)[name]) for name in COLUMNS}
    base["payload_bytes"] = np.full(len(loads), 1_000_000.0)
    values = {name: np.repeat(array[:, None], len(loads.windows), axis=1) for name, array in base.items()}
    for change, is_equal in ((equal, True), (different, False)):
        again = {name: array.copy() for name, array in base.items()}
        again[column][7] += change if column == "bytes_retransmitted" else change * again[column][7]
        repeated = dataclasses.replace(loads, values=values, again=again)
        assert measure_again(repeated, incumbent=TEN).is_equal(least=30) is is_equal


def test_a_lone_network_of_a_stratum_is_held_against_its_neighbours() -> None:
    whole = saving(3, 0.2).evidence(np.random.default_rng(2), pages=50, networks=17, each=2, strata=8)
    effects = measure(whole.where(whole.places < 9), [PACED], incumbent=TEN)
    assert effects.of("page", PACED).error > 0


def test_an_estimate_without_clusters_has_no_interval() -> None:
    assert Estimate(1.0, 0.1, 0).interval(0.025).upper == math.inf
    assert Estimate(1.0, 0.1, 10).interval(0.025).upper == pytest.approx(
        1 + 0.1 * student_quantile(0.025, degrees=10)
    )


@pytest.mark.parametrize(
    ("of_pages", "of_networks"), [(0.0, 0.0), (0.05, 0.1), (0.1, 0.02)], ids=["pairs", "networks", "pages"]
)
def test_intervals_cover_the_truth(of_pages: float, of_networks: float) -> None:
    world = dataclasses.replace(saving(3, 0.2), of_pages=of_pages, of_networks=of_networks)
    rng = np.random.default_rng(7)
    covered = {"page": 0, "net benefit": 0}
    tries = 300
    for _ in range(tries):
        effects = measure(world.evidence(rng, pages=60, networks=64, each=2), [PACED], incumbent=TEN)
        gain = effects.saved("page", PACED, 0.025)
        benefit = effects.net_benefit(PACED, 0.025, price_pp=0.077)
        covered["page"] += gain.lower <= 3 <= gain.upper
        covered["net benefit"] += benefit.lower <= 0.077 * 3 - 0.2 <= benefit.upper
    assert min(covered.values()) >= 0.92 * tries
