"""A small sample of networks whose weighted quantiles are those of a large cloud.

Strata: the slowest tenth by `slowness`, then the rest; each cut into columns of equal weight by bandwidth,
and each column into rows of equal weight by round trip. One network stands for each stratum, at
low-discrepancy places within it. The networks keep the ranks of bandwidth and round trip, and take the
cloud's values at these ranks (as Iman and Conover 1982). Before that, a round trip below the time of a full
packet at the network's rate is raised to it: Linux would take each pause between packets for the loss of the
last one (RFC 8985), and the lab's calibration refuses this. The round trips stay those of the cloud.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from replay.networks.mlab.files import PERCENTS
from replay.networks.mlab.joint import Cloud, Floats, Integers, low_discrepancy
from replay.networks.profiles import FRAME_BYTES

ROUND_TRIPS, PAGE_BYTES = 20, 2_710_000
"""A page by which networks are ordered: HTTP Archive's median home page of July 2025 in bytes;
its round trips are ours."""

SLOW_SHARE = 0.1

SLOW_STRATA, OTHER_STRATA = (4, 4), (8, 6)

PASSES, MOST_OFF = 200, 0.05
"""Most passes over the percentiles, and the relative error that ends them."""

HELD = [place for place, percent in enumerate(PERCENTS) if 5 <= percent <= 95]

WITHIN = 16
"""Part of a stratum by bandwidth in which the place in round trip is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSample:
    """Networks with weights that sum to 1; the slow ones come first."""

    bandwidth_mbps: Floats
    rtt_ms: Floats
    loss: Floats
    weights: Floats
    slow_weights: Floats
    """Weights in the slow part; 0 for other networks."""
    queue_shares: Floats
    """Cumulative share of each network's queue, from the shallowest."""


def slowness(bandwidth_mbps: Floats, rtt_ms: Floats) -> Floats:
    """Return the milliseconds of ROUND_TRIPS and of PAGE_BYTES, by which networks are ordered."""
    order: Floats = ROUND_TRIPS * rtt_ms + 8e-3 * PAGE_BYTES / bandwidth_mbps
    return order


def draw_sample(cloud: Cloud) -> NetworkSample:
    bandwidth, rtt = cloud.bandwidth_mbps, cloud.rtt_ms
    others, slow = split_by_slowness(cloud)
    cells = [*strata(slow, SLOW_STRATA, bandwidth, rtt), *strata(others, OTHER_STRATA, bandwidth, rtt)]
    places = low_discrepancy(len(cells), 3)
    chosen = np.array(
        [pick(cell, place[0], place[1], bandwidth, rtt) for cell, place in zip(cells, places, strict=True)]
    )
    count = SLOW_STRATA[0] * SLOW_STRATA[1]
    is_slow = np.arange(len(cells)) < count
    weights = np.where(is_slow, SLOW_SHARE / count, (1 - SLOW_SHARE) / (len(cells) - count))
    possible = np.maximum(rtt[chosen], 8e-3 * FRAME_BYTES / bandwidth[chosen])
    return NetworkSample(
        bandwidth_mbps=at_same_ranks(bandwidth[chosen], weights, bandwidth),
        rtt_ms=at_same_ranks(possible, weights, rtt),
        loss=cloud.loss[chosen],
        weights=weights,
        slow_weights=np.where(is_slow, 1 / count, 0.0),
        queue_shares=places[:, 2],
    )


def split_by_slowness(cloud: Cloud) -> tuple[Integers, Integers]:
    """Return the places of the other networks and of the slowest SLOW_SHARE, from fast to slow."""
    order = np.argsort(slowness(cloud.bandwidth_mbps, cloud.rtt_ms), kind="stable")
    others, slow = np.split(order, [round((1 - SLOW_SHARE) * len(order))])
    return others, slow


def strata(members: Integers, shape: tuple[int, int], bandwidth: Floats, rtt: Floats) -> Iterator[Integers]:
    """Cut members into columns by bandwidth, and those into rows by round trip, all equal."""
    columns, rows = shape
    for column in np.array_split(members[np.argsort(bandwidth[members], kind="stable")], columns):
        yield from np.array_split(column[np.argsort(rtt[column], kind="stable")], rows)


def pick(cell: Integers, across: float, along: float, bandwidth: Floats, rtt: Floats) -> int:
    """Return the member at cumulative shares `across` by bandwidth and `along` by round trip."""
    members = cell[np.argsort(bandwidth[cell], kind="stable")]
    width = max(1, len(members) // WITHIN)
    first = int(across * (len(members) - width))
    near = members[first : first + width]
    return int(near[np.argsort(rtt[near], kind="stable")][int(along * len(near))])


def mid_shares(values: Floats, weights: Floats) -> Floats:
    """Return the cumulative share of each value, up to the middle of its weight."""
    order = np.argsort(values, kind="stable")
    shares = np.empty(len(values))
    shares[order] = np.cumsum(weights[order]) - weights[order] / 2
    mid: Floats = shares / weights.sum()
    return mid


def at_same_ranks(values: Floats, weights: Floats, cloud: Floats) -> Floats:
    """Return the cloud's quantiles at the weighted ranks of the values, made to agree with it at PERCENTS.

    The two networks around each percentile are moved by the factor that their interpolation is wrong by.
    Where percentiles jump, a move can carry a network over the next percentile: then the moves are repeated
    between the percentiles, at most PASSES times.
    """
    moved: Floats = np.quantile(cloud, mid_shares(values, weights))
    order = np.argsort(values, kind="stable")
    shares = mid_shares(values, weights)[order]
    targets: Floats = np.quantile(cloud, [percent / 100 for percent in PERCENTS])
    ends = np.concatenate(([0.0], targets, [np.inf]))
    between = np.searchsorted([percent / 100 for percent in PERCENTS], mid_shares(values, weights))
    for _ in range(PASSES):
        for percent, value in zip(PERCENTS, targets, strict=True):
            after = int(np.searchsorted(shares, percent / 100))
            around = order[max(after - 1, 0) : after + 1]
            (current,) = weighted_quantiles(moved, weights, [percent / 100])
            moved[around] *= value / current
        moved[order] = np.maximum.accumulate(moved[order])
        reached = weighted_quantiles(moved, weights, [percent / 100 for percent in PERCENTS])
        if np.abs(reached / targets - 1)[HELD].max() <= MOST_OFF:
            break
        moved = moved.clip(ends[between], ends[between + 1])
    return moved


def weighted_quantiles(values: Floats, weights: Floats, shares: Sequence[float]) -> Floats:
    """Return weighted quantiles, whose logarithm is linear in the share's normal score."""
    order = np.argsort(values, kind="stable")
    normal = NormalDist()
    scores = [normal.inv_cdf(share) for share in mid_shares(values, weights)[order]]
    quantiles: Floats = np.exp(
        np.interp([normal.inv_cdf(share) for share in shares], scores, np.log(values[order]))
    )
    return quantiles
