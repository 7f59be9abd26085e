"""Failures that cluster in time or on a machine are told from those of sites themselves, by simulation."""

import dataclasses
import datetime
import math
import random
from collections.abc import Callable

import pytest

from crawler.campaign.evenness import EVENNESS, FirstVisit, excesses, tail

BEGAN = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.UTC)


def share(rank: int) -> float:
    """Return the share of sites at a rank that fail by themselves: 5 % at the top, 20 % at rank 1,000."""
    return min(1.0, 0.05 * math.pow(rank, 0.2))


def crawl(chosen: random.Random, sites: int = 1000, machines: int = 3) -> list[FirstVisit]:
    """A crawl by machines of two processes each, in the order of ranks, without a fault of ours."""
    made = []
    for rank in range(1, sites + 1):
        machine = f"m{chosen.randrange(machines)}"
        made.append(
            FirstVisit(
                at=BEGAN + datetime.timedelta(seconds=rank),
                machine=machine,
                process=f"{machine}/{chosen.randrange(2)}",
                failed=chosen.random() < share(rank),
            )
        )
    return made


def broken(sites: list[FirstVisit], is_hit: Callable[[int, FirstVisit], bool]) -> list[FirstVisit]:
    return [
        dataclasses.replace(site, failed=site.failed or is_hit(number, site))
        for number, site in enumerate(sites)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_twenty_failing_sites_in_a_row_of_a_thousand_are_seen(seed: int) -> None:
    chosen = random.Random(seed)
    first = chosen.randrange(980)
    found = excesses(broken(crawl(chosen), lambda number, _: first <= number < first + 20))
    assert len(found) == 1
    assert "sites failed from 2026-11-20 12:" in str(found[0])
    assert found[0].chance <= EVENNESS.chance


@pytest.mark.parametrize("seed", range(5))
def test_a_machine_and_a_process_that_fail_far_more_are_seen(seed: int) -> None:
    chosen = random.Random(seed)
    made = crawl(chosen)
    by_machine = excesses(broken(made, lambda _, site: site.machine == "m1" and chosen.random() < 0.5))
    assert any("on machine m1" in str(one) for one in by_machine)
    by_process = excesses(broken(made, lambda _, site: site.process == "m2/0" and chosen.random() < 0.5))
    assert any("on process m2/0" in str(one) for one in by_process)


def test_crawls_without_a_fault_are_refused_at_the_stated_rate() -> None:
    """The rate is one that two hundred crawls can show; smaller rates are fractions of it."""
    rule = dataclasses.replace(EVENNESS, chance=0.05, times=1.0, points=0.0)
    refused = sum(bool(excesses(crawl(random.Random(seed), 300), rule)) for seed in range(200))
    assert refused <= 0.05 * 200


def test_at_its_own_rate_none_of_a_hundred_is_refused() -> None:
    assert not any(excesses(crawl(random.Random(seed))) for seed in range(100))


def test_a_long_crawl_whose_lower_ranks_fail_more_passes() -> None:
    assert excesses(crawl(random.Random(1), 10_000)) == []


@pytest.mark.parametrize("sites", [0, 1, 7, 8, 31, 32])
def test_a_few_sites_are_too_few_to_conclude_from(sites: int) -> None:
    assert excesses(crawl(random.Random(1), sites)) == []
    assert excesses([dataclasses.replace(site, failed=True) for site in crawl(random.Random(1), sites)]) == []


def test_half_a_crawl_that_fails_is_seen_though_no_window_is_as_long() -> None:
    assert excesses(broken(crawl(random.Random(1)), lambda number, _: number >= 500))


def test_the_tail_is_that_of_fishers_exact_test() -> None:
    assert tail(3, draws=4, failed=4, sites=8) == pytest.approx(17 / 70)  # the lady tasting tea
    assert tail(4, draws=4, failed=4, sites=8) == pytest.approx(1 / 70)
    assert tail(0, draws=9, failed=5, sites=12) == pytest.approx(1.0)
