"""Networks drawn anew from the world's joint distribution: independent scrambled draws of its strata.

A draw has one network of each of the 64 strata of `sample`, at a random place in it, with weights that sum to
1. The spread between draws is the networks' error. Values are the cloud's own: over many draws, their
distribution is the cloud's.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from replay.networks.mlab.files import find_month, read_countries
from replay.networks.mlab.joint import Cloud, Integers, low_discrepancy, world
from replay.networks.mlab.sample import OTHER_STRATA, SLOW_SHARE, SLOW_STRATA, split_by_slowness, strata
from replay.networks.profiles import FRAME_BYTES, Profile
from replay.networks.queues import QUEUES, PublishedQueues

MONTH = "2025-10"

SLOW, OTHERS = SLOW_STRATA[0] * SLOW_STRATA[1], OTHER_STRATA[0] * OTHER_STRATA[1]

BLOCKS = 16
"""Parts of a stratum by bandwidth, in which the place in round trip is looked for."""

LEAST_MBPS, MOST_MBPS = 0.016, 1000.0
"""Bounds of the rates that the lab can emulate, as in a population's file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnNetwork:
    """One network of a draw."""

    profile: Profile
    draw: int
    stratum: int
    """Number of the stratum: 0 to 15 are of the slowest tenth."""
    weight: float
    """Share of the population; the weights of a draw sum to 1."""
    slow_weight: float
    """Share of the slowest tenth, which sums to 1 in a draw; 0 for other networks."""


def draw_networks(
    draws: Iterable[int],
    *,
    seed: int,
    queues: PublishedQueues = QUEUES["default"],
) -> tuple[DrawnNetwork, ...]:
    """Return the networks of these draws, 64 each.

    A draw depends on its number and the seed alone. PopulationError without the month's file.
    """
    return tuple(network for number in draws for network in _draw(number, seed, queues))


@functools.cache
def _strata() -> tuple[Cloud, list[list[Integers]]]:
    """Return the world's cloud, and each stratum's members: BLOCKS by bandwidth, each by round trip."""
    cloud = world(read_countries(find_month(MONTH)).countries)
    others, slow = split_by_slowness(cloud)
    cells = [
        cell
        for part, shape in ((slow, SLOW_STRATA), (others, OTHER_STRATA))
        for cell in strata(part, shape, cloud.bandwidth_mbps, cloud.rtt_ms)
    ]
    return cloud, [list(strata(cell, (BLOCKS, 1), cloud.bandwidth_mbps, cloud.rtt_ms)) for cell in cells]


def _draw(number: int, seed: int, queues: PublishedQueues) -> list[DrawnNetwork]:
    """Draw low-discrepancy places, shifted and dealt to the strata at random."""
    cloud, members = _strata()
    random = np.random.default_rng([seed, number])
    places = random.permutation((low_discrepancy(len(members), 3) + random.random(3)) % 1)
    networks = []
    for stratum, (blocks, (across, along, queue)) in enumerate(zip(members, places, strict=True)):
        block = blocks[int(across * BLOCKS)]
        at = int(block[int(along * len(block))])
        mbps = float(cloud.bandwidth_mbps[at].clip(LEAST_MBPS, MOST_MBPS))
        is_slow = stratum < SLOW
        assert cloud.country is not None
        profile = Profile(
            id=f"mlab-{MONTH}-{seed}-{number}-{stratum}",
            down_bps=round(1e6 * mbps),
            up_bps=max(round(1e6 * mbps / 4), 128_000),
            # A round trip below a full packet's time is raised to it, as in `sample`.
            rtt_us=round(max(1e3 * float(cloud.rtt_ms[at]), 8 * FRAME_BYTES / mbps, 100)),
            queue_bytes=1,
            loss=min(float(cloud.loss[at]), 0.5),
            source=f"M-Lab NDT downloads of {MONTH} (IQB, CC0), drawn",
            queue_place=float(queue),
            country=str(cloud.country[at]),
        )
        networks.append(
            DrawnNetwork(
                profile=queues.over(profile),
                draw=number,
                stratum=stratum,
                weight=SLOW_SHARE / SLOW if is_slow else (1 - SLOW_SHARE) / OTHERS,
                slow_weight=1 / SLOW if is_slow else 0.0,
            )
        )
    return networks
