"""Effects: worked examples, weights and strata, missing loads, and coverage in simulated worlds."""

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from releases.interval import Interval
from replay.runs.policy import Policy
from tests.verdict.worlds import PACED, SIXTEEN, TEN, World, saving
from verdict.effects import Effects, Estimate, changes_of, effects_of, measure_again, percent_saved
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


def measure(loads: Evidence, windows: Sequence[Policy]) -> Effects:
    base = loads.at(TEN)
    return effects_of(
        loads,
        {
            (name, window): change
            for window in windows
            for name, change in changes_of(loads.at(window), base).items()
        },
    )


def measure_all(loads: Evidence) -> Effects:
    return measure(loads, [SIXTEEN])


def saved(effects: Effects, window: Policy) -> Interval:
    return percent_saved(effects.of("page", window).interval(0.025))


def test_page_time_saved_is_of_the_geometric_mean() -> None:
    effects = measure_all(evidence({"page_ms": [[100, 90], [1000, 900]]}))
    assert saved(effects, SIXTEEN).estimate == pytest.approx(10)


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
    assert saved(effects, SIXTEEN).estimate == pytest.approx(10)
    assert effects.of("page", SIXTEEN).degrees == 0


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


def test_one_window_over_another_is_their_difference() -> None:
    world = World(
        log_time={SIXTEEN: math.log(0.97), PACED: math.log(0.95)}, resent={SIXTEEN: 0.2, PACED: 0.1}
    )
    loads = world.evidence(np.random.default_rng(1), pages=50, networks=64, each=2)
    effects = measure(loads, [SIXTEEN, PACED])
    between = effects.combine({("page", PACED): 1.0, ("page", SIXTEEN): -1.0})
    alone = [effects.of("page", window) for window in (SIXTEEN, PACED)]
    assert between.value == pytest.approx(alone[1].value - alone[0].value)
    assert between.error < math.hypot(alone[0].error, alone[1].error)


@pytest.mark.parametrize("rounding", [0.0, 1e-15])
def test_a_window_with_the_loads_of_another_differs_from_it_by_nothing(rounding: float) -> None:
    world = World(log_time={SIXTEEN: math.log(0.97), PACED: 0.0}, resent={SIXTEEN: 0.2, PACED: 0.0})
    loads = world.evidence(np.random.default_rng(1), pages=50, networks=64, each=2)
    for array in loads.values.values():
        array[:, 2] = array[:, 1] * (1 + rounding)
    effects = measure(loads, [SIXTEEN, PACED])
    between = effects.combine({("page", PACED): 1.0, ("page", SIXTEEN): -1.0}).interval(0.025)
    assert (between.estimate, between.lower, between.upper) == pytest.approx((0, 0, 0), abs=1e-9)


def test_the_incumbent_differs_from_itself_by_nothing() -> None:
    loads = saving(3, 0.2).evidence(np.random.default_rng(1), pages=50, networks=64, each=2)
    again = measure_again(loads, incumbent=TEN).of("page", TEN).interval(0.005)
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
    effects = measure(whole.where(whole.places < 9), [PACED])
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
    covered = {"page": 0, "resent": 0}
    tries = 300
    for _ in range(tries):
        effects = measure(world.evidence(rng, pages=60, networks=64, each=2), [PACED])
        gain, resent = saved(effects, PACED), effects.of("resent", PACED).interval(0.025)
        covered["page"] += gain.lower <= 3 <= gain.upper
        covered["resent"] += resent.lower <= 0.2 <= resent.upper
    assert min(covered.values()) >= 0.92 * tries
