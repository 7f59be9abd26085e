"""Failures that cluster in time or on a machine are told from those of sites themselves, by simulation."""

import dataclasses
import datetime
import math
import random
from collections.abc import Callable

import pytest

from crawler.campaign.evenness import (
    EVENNESS,
    FirstVisit,
    Usual,
    binomial_tail,
    find_excesses,
    find_unresolved_excesses,
    hypergeometric_tail,
)

BEGAN = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.UTC)


def share(rank: int) -> float:
    """Return the share of sites at a rank that fail by themselves: 5 % at the top, 20 % at rank 1,000."""
    return min(1.0, 0.05 * math.pow(rank, 0.2))


def crawl(chosen: random.Random, sites: int = 1000, machines: int = 3) -> list[FirstVisit]:
    """A crawl by machines of two processes each, in the order of ranks, without a fault of ours."""
    visits = []
    for rank in range(1, sites + 1):
        machine = f"m{chosen.randrange(machines)}"
        visits.append(
            FirstVisit(
                at=BEGAN + datetime.timedelta(seconds=rank),
                machine=machine,
                process=f"{machine}/{chosen.randrange(2)}",
                failed=chosen.random() < share(rank),
            )
        )
    return visits


def broken(sites: list[FirstVisit], is_hit: Callable[[int, FirstVisit], bool]) -> list[FirstVisit]:
    return [
        dataclasses.replace(site, failed=site.failed or is_hit(number, site))
        for number, site in enumerate(sites)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_twenty_failing_sites_in_a_row_of_a_thousand_are_seen(seed: int) -> None:
    chosen = random.Random(seed)
    first = chosen.randrange(980)
    excesses = find_excesses(broken(crawl(chosen), lambda number, _: first <= number < first + 20))
    assert len(excesses) == 1
    assert "sites failed from 2026-11-20 12:" in str(excesses[0])
    assert excesses[0].chance <= EVENNESS.chance


@pytest.mark.parametrize("seed", range(5))
def test_a_machine_and_a_process_that_fail_far_more_are_seen(seed: int) -> None:
    chosen = random.Random(seed)
    first_visits = crawl(chosen)
    by_machine = find_excesses(
        broken(first_visits, lambda _, site: site.machine == "m1" and chosen.random() < 0.5)
    )
    assert any("on machine m1" in str(excess) for excess in by_machine)
    by_process = find_excesses(
        broken(first_visits, lambda _, site: site.process == "m2/0" and chosen.random() < 0.5)
    )
    assert any("on process m2/0" in str(excess) for excess in by_process)


def test_crawls_without_a_fault_are_refused_at_the_stated_rate() -> None:
    """The rate is one that two hundred crawls can show; smaller rates are fractions of it."""
    rule = dataclasses.replace(EVENNESS, chance=0.05, times=1.0, points=0.0)
    refused = sum(bool(find_excesses(crawl(random.Random(seed), 300), rule)) for seed in range(200))
    assert refused <= 0.05 * 200


def test_at_its_own_rate_none_of_a_hundred_is_refused() -> None:
    assert not any(find_excesses(crawl(random.Random(seed))) for seed in range(100))


def test_a_long_crawl_whose_lower_ranks_fail_more_passes() -> None:
    assert find_excesses(crawl(random.Random(1), 10_000)) == []


@pytest.mark.parametrize("sites", [0, 1, 7, 8, 31, 32])
def test_a_few_sites_are_too_few_to_conclude_from(sites: int) -> None:
    assert find_excesses(crawl(random.Random(1), sites)) == []
    assert (
        find_excesses([dataclasses.replace(site, failed=True) for site in crawl(random.Random(1), sites)])
        == []
    )


def test_half_a_crawl_that_fails_is_seen_though_no_window_is_as_long() -> None:
    assert find_excesses(broken(crawl(random.Random(1)), lambda number, _: number >= 500))


def test_the_tail_is_that_of_fishers_exact_test() -> None:
    assert hypergeometric_tail(3, draws=4, failed=4, sites=8) == pytest.approx(
        17 / 70
    )  # the lady tasting tea
    assert hypergeometric_tail(4, draws=4, failed=4, sites=8) == pytest.approx(1 / 70)
    assert hypergeometric_tail(0, draws=9, failed=5, sites=12) == pytest.approx(1.0)


NO_ADDRESS = 0.03


def looked_up(chosen: random.Random, fails: Callable[[int], float], sites: int = 1000) -> list[FirstVisit]:
    """A crawl by three lanes in two attempts, whose resolvers fail for a share of the lookups of each
    lane."""
    visits = []
    for rank in range(1, sites + 1):
        lane = chosen.randrange(3)
        has_none = chosen.random() < NO_ADDRESS
        first, second = (has_none or chosen.random() < fails(lane) for _ in range(2))
        visits.append(
            FirstVisit(
                at=BEGAN + datetime.timedelta(seconds=rank),
                machine=f"m{lane}",
                process=f"m{lane}/1",
                failed=first and second,
                unresolved=first and second,
                unresolved_first=first,
            )
        )
    return visits


def always(share: float, lanes: frozenset[int], chosen: random.Random) -> list[FirstVisit]:
    """A crawl whose resolvers in some lanes fail for a share of the names, whenever they are asked."""
    return [
        dataclasses.replace(site, failed=True, unresolved=True, unresolved_first=True)
        if int(site.machine[1:]) in lanes and chosen.random() < share
        else site
        for site in looked_up(chosen, lambda _: 0.0)
    ]


def usual(chosen: random.Random) -> Usual:
    unresolved = sum(chosen.random() < NO_ADDRESS for _ in range(1000))
    return Usual(crawl="2026-10", sites=1000, unresolved=unresolved)


CASES: dict[str, tuple[float, Callable[[random.Random], tuple[list[FirstVisit], Usual | None]]]] = {
    "a lane's resolver fails for a tenth": (0.98, lambda number: (always(0.1, frozenset({0}), number), None)),
    "all fail for 5 % more than before": (
        0.96,
        lambda number: (always(0.05, frozenset({0, 1, 2}), number), usual(number)),
    ),
    "5 % of answers fail at random": (0.95, lambda number: (looked_up(number, lambda _: 0.05), None)),
    "nothing fails": (0.0, lambda number: (looked_up(number, lambda _: 0.0), usual(number))),
    "sites' own nameservers fail at times": (
        0.0,
        lambda number: (looked_up(number, lambda _: 0.01), usual(number)),
    ),
}


@pytest.mark.parametrize(("power", "crawl_of"), CASES.values(), ids=CASES)
def test_a_resolver_that_fails_is_seen_with_the_stated_power(
    power: float, crawl_of: Callable[[random.Random], tuple[list[FirstVisit], Usual | None]]
) -> None:
    crawls = 120
    refused = sum(
        bool(list(find_unresolved_excesses(*crawl_of(random.Random(seed))))) for seed in range(crawls)
    )
    spread = 3 * math.sqrt(crawls * max(power * (1 - power), 1e-3))
    assert abs(refused - power * crawls) <= spread


def test_a_lane_whose_names_resolve_better_is_no_fault() -> None:
    chosen = random.Random(1)
    excesses = list(find_unresolved_excesses(always(0.3, frozenset({0, 1}), chosen), None))
    assert {excess.part.what for excess in excesses if not isinstance(excess, str)} == {
        f"on {kind}" for kind in ("machine m0", "machine m1", "process m0/1", "process m1/1")
    }


def test_nothing_is_concluded_from_no_site() -> None:
    assert list(find_unresolved_excesses([], Usual(crawl="2026-10", sites=0, unresolved=0))) == []


def test_the_binomial_tail_is_exact() -> None:
    assert binomial_tail(2, draws=3, share=0.5) == pytest.approx(0.5)
    assert binomial_tail(4, draws=3, share=0.5) == 0.0
