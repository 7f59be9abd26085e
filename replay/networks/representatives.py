"""A few networks that stand for a whole population,
so that a replay of every page over each of them stays affordable."""

import dataclasses
import math
from collections.abc import Iterator, Sequence

from replay.networks.mlab.sample import PAGE_BYTES, ROUND_TRIPS
from replay.networks.population_csv import CsvPopulation
from replay.networks.profiles import Population, Profile


def slowness_ms(network: Profile) -> float:
    """Return the milliseconds of ROUND_TRIPS and of PAGE_BYTES, by which networks are ordered."""
    return ROUND_TRIPS * network.rtt_us / 1e3 + 8e3 * PAGE_BYTES / network.down_bps


def choose_representatives(whole: CsvPopulation, count: int) -> CsvPopulation:
    """Return `count` networks (two at least), each with the weight of the group that it stands for.

    Slow and other networks are grouped apart, each by `slowness_ms` into groups of about equal weight; the
    one in the middle of a group's weight stands for it. A population of at most `count` is returned as it is.
    """
    if len(whole.profiles) <= count:
        return whole
    average, slow = whole.populations
    shares, slow_shares = dict(average.weights), dict(slow.weights)
    chosen = groups(whole, count)

    def thinned(population: Population, weights: dict[str, float]) -> Population:
        sums = {
            name: math.fsum(weights.get(profile.id, 0.0) for profile in group)
            for name, group in chosen.items()
        }
        return dataclasses.replace(
            population,
            weights=tuple((name, share) for name, share in sums.items() if share > 0),
            source=f"{population.source}; {len(chosen)} of its {len(whole.profiles)} networks stand for all",
        )

    return CsvPopulation(
        profiles=tuple(profile for profile in whole.profiles if profile.id in chosen),
        populations=(thinned(average, shares), thinned(slow, slow_shares)),
    )


def groups(whole: CsvPopulation, count: int) -> dict[str, list[Profile]]:
    """Return the networks that each representative stands for, by its id."""
    if len(whole.profiles) <= count:
        return {profile.id: [profile] for profile in whole.profiles}
    average, slow = whole.populations
    shares, slow_shares = dict(average.weights), dict(slow.weights)
    ordered = sorted(whole.profiles, key=slowness_ms)
    parts = [
        [profile for profile in ordered if (profile.id in slow_shares) == is_slow]
        for is_slow in (True, False)
    ]
    of_slow = min(max(1, round(count * len(parts[0]) / len(ordered))), count - 1) if parts[1] else count
    chosen = [
        group
        for part, number in zip(parts, (of_slow, count - of_slow), strict=True)
        if part
        for group in cut_groups(part, [shares[profile.id] for profile in part], number)
    ]
    return {middle(group, [shares[profile.id] for profile in group]): group for group in chosen}


def cut_groups(networks: Sequence[Profile], shares: Sequence[float], count: int) -> Iterator[list[Profile]]:
    """Cut ordered networks into at most `count` groups of about equal weight."""
    groups: dict[int, list[Profile]] = {}
    for network, place in zip(networks, middles(shares), strict=True):
        groups.setdefault(int(place * count), []).append(network)
    yield from groups.values()


def middle(networks: Sequence[Profile], shares: Sequence[float]) -> str:
    places = middles(shares)
    return min(zip(networks, places, strict=True), key=lambda pair: abs(pair[1] - 0.5))[0].id


def middles(shares: Sequence[float]) -> list[float]:
    """Return the cumulative share of each weight, up to its own middle.

    >>> middles([1, 1, 2])
    [0.125, 0.375, 0.75]
    """
    whole = math.fsum(shares)
    return [(math.fsum(shares[:at]) + share / 2) / whole for at, share in enumerate(shares)]
