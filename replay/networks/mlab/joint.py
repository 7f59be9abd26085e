"""The joint distribution of bandwidth and round trip of one or more countries,
as a cloud of equally likely networks.

Between a country's percentiles, the logarithm of a value is linear in the normal score of its share; beyond
the first and the last percentile it goes on with the slope of the last piece, up to shares of 0.1 and 99.9 %.
Held against percentiles that were left out and predicted from their neighbours, this rule errs least
(docs/populations.md).
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from replay.networks.mlab.files import PERCENTS, Country

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Codes = npt.NDArray[np.str_]

NORMAL = NormalDist()
SCORES: Floats = np.array([NORMAL.inv_cdf(percent / 100) for percent in PERCENTS])

MOST_SCORE = NORMAL.inv_cdf(0.999)
"""Ends of the tails: no network is slower or faster than those of a share of 0.1 or 99.9 %."""

RHO = -0.3
"""Correlation of the normal scores of bandwidth and round trip within a country. Ours: between country
medians it is -0.58, on mobile lines of two countries about 0 (ERRANT, 1,000 tests). With it, the world's rank
correlation is -0.34."""

NETWORKS = 32_768

LOWER_QUARTILE = PERCENTS.index(25)

TIE = 1e-9
"""Least distance of the logarithms of two percentiles, so that their order is kept where they are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """Networks of equal weight; arrays run along the networks."""

    bandwidth_mbps: Floats
    rtt_ms: Floats
    loss: Floats
    """The lower quartile of the country's tests: a test causes losses itself."""
    place: Floats
    """A number from 0 to 1 that is independent of the others."""
    country: Codes | None = None
    """ISO 3166-1 alpha-2 of each network."""


def low_discrepancy(count: int, dimensions: int) -> Floats:
    """Return the points that fill the unit cube evenly: the additive recurrence with the generalised golden
    ratio.

    >>> low_discrepancy(3, 1).round(3).tolist()
    [[0.118], [0.736], [0.354]]
    """
    ratio = 2.0
    for _ in range(64):
        ratio = (1 + ratio) ** (1 / (dimensions + 1))
    steps = ratio ** -np.arange(1.0, dimensions + 1)
    points: Floats = (0.5 + np.arange(1, count + 1)[:, None] * steps) % 1
    return points


def logarithms(rows: Sequence[tuple[float, ...]]) -> Floats:
    rising: Floats = np.log(np.array(rows))
    for column in range(1, rising.shape[1]):
        rising[:, column] = np.maximum(rising[:, column], rising[:, column - 1] + TIE)
    return rising


def values_at(rows: Floats, scores: Floats) -> Floats:
    """Return the values at normal scores, each by its row of `logarithms`."""
    after = np.searchsorted(SCORES, scores).clip(1, len(SCORES) - 1)
    at = np.arange(len(rows))
    low, high = rows[at, after - 1], rows[at, after]
    part = (scores - SCORES[after - 1]) / (SCORES[after] - SCORES[after - 1])
    values: Floats = np.exp(low + part * (high - low))
    return values


@functools.cache
def normal_scores() -> tuple[Floats, Floats]:
    """Return every cloud's points, and the normal scores [network, 2] of their second and third
    coordinate."""
    points = low_discrepancy(NETWORKS, 4)
    scores: Floats = np.array([NORMAL.inv_cdf(share) for share in points[:, 1:3].ravel()]).reshape(-1, 2)
    return points, scores


def world(
    countries: Sequence[Country], *, rho: float = RHO, weights: Mapping[str, float] | None = None
) -> Cloud:
    """Return the mixture of the countries by their tests, or by `weights`; each by a Gaussian copula with
    `rho`.
    """
    ordered = sorted(
        countries, key=lambda country: (country.bandwidth_mbps[len(PERCENTS) // 2], country.code)
    )
    shares = np.array(
        [country.tests if weights is None else weights.get(country.code, 0.0) for country in ordered]
    )
    points, normal = normal_scores()
    ends = np.cumsum(shares) / shares.sum()
    which = np.searchsorted(ends, points[:, 0]).clip(0, len(ordered) - 1)
    bandwidth = normal[:, 0].clip(-MOST_SCORE, MOST_SCORE)
    rtt = (rho * normal[:, 0] + np.sqrt(1 - rho**2) * normal[:, 1]).clip(-MOST_SCORE, MOST_SCORE)
    return Cloud(
        bandwidth_mbps=values_at(
            logarithms([country.bandwidth_mbps for country in ordered])[which], bandwidth
        ),
        rtt_ms=values_at(logarithms([country.rtt_ms for country in ordered])[which], rtt),
        loss=np.array([country.loss[LOWER_QUARTILE] for country in ordered])[which],
        place=points[:, 3],
        country=np.array([country.code for country in ordered])[which],
    )
