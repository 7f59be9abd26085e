"""Confidence intervals for paired page loads, by a bootstrap over pages and then over the seeds of each page.

A statistic is a function of means; a mean is over pages, of each page's mean over its seeds.
Arrays are [page, seed, column]. A mask marks which seeds of a page are known.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from releases.interval import Interval

Floats: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

CHUNK = 100
"""Replicates drawn at once, which bounds memory. Another value draws differently, and so changes past reports."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A statistic of the sample with its bootstrap replicates."""

    value: float
    replicates: Floats

    def interval(self, confidence: float) -> Interval:
        """Two-sided percentile interval."""
        tail = (1 - confidence) / 2
        lower, upper = np.quantile(self.replicates, [tail, 1 - tail])
        return Interval(self.value, float(lower), float(upper))


def sample_weights(complete: Mask) -> Floats:
    """Weights [page, seed] of the sample itself: each page has weight 1, divided among its seeds."""
    weights: Floats = complete / complete.sum(axis=1, keepdims=True)
    return weights


def resamples(complete: Mask, *, replicates: int, seed: int) -> Iterator[Floats]:
    """Draw weights [replicate, page, seed]: pages with replacement, then as many seeds as each page has.

    Every page must have a known seed. The weights of a replicate sum to the number of pages.
    """
    pages, _ = complete.shape
    rng = np.random.Generator(np.random.PCG64(seed))
    seeds = complete.sum(axis=1)
    for begin in range(0, replicates, CHUNK):
        rows = min(CHUNK, replicates - begin)
        drawn = rng.multinomial(pages, np.full(pages, 1 / pages), size=rows)
        counts = rng.multinomial(drawn * seeds, sample_weights(complete))
        yield counts / seeds[:, np.newaxis]


KEPT = 10_000_000
"""Largest number of weights that is cached for the next statistic, 80 MB; larger draws are repeated."""


def _draws(complete: Mask, *, replicates: int, seed: int) -> Iterable[Floats]:
    """`resamples`, cached: many statistics in turn use the same draws."""
    if complete.size * replicates > KEPT:
        return resamples(complete, replicates=replicates, seed=seed)
    return _kept_draws(complete.tobytes(), complete.shape, replicates, seed)


@functools.lru_cache(maxsize=2)
def _kept_draws(complete: bytes, shape: tuple[int, ...], replicates: int, seed: int) -> tuple[Floats, ...]:
    mask = np.frombuffer(complete, np.bool_).reshape(shape)
    return tuple(resamples(mask, replicates=replicates, seed=seed))


def bootstrap(
    columns: Floats, complete: Mask, statistic: Callable[[Floats], Floats], *, replicates: int, seed: int
) -> Estimate:
    """Estimate `statistic`, which maps means [replicate, column] to one number for each replicate."""
    known = np.where(complete[..., np.newaxis], columns, 0.0)

    def weighted(weights: Floats) -> Floats:
        return statistic(np.einsum("rps,psk->rk", weights, known) / len(complete))

    return _estimate(weighted, complete, replicates=replicates, seed=seed)


def _estimate(of: Callable[[Floats], Floats], complete: Mask, *, replicates: int, seed: int) -> Estimate:
    """Estimate a statistic that is a function of weights [replicate, page, seed]."""
    value = of(sample_weights(complete)[np.newaxis])[0]
    drawn = [of(weights) for weights in _draws(complete, replicates=replicates, seed=seed)]
    return Estimate(float(value), np.concatenate(drawn))


def weighted_quantile(sorted_values: Floats, weights: Floats, share: float) -> Floats:
    """The smallest value with at least `share` of the weight at or below it, for each row of `weights`.

    >>> weighted_quantile(np.array([1.0, 2.0, 3.0]), np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 1.0]]), 0.5)
    array([2., 3.])
    """
    cumulative = np.cumsum(weights, axis=-1)
    # Rounding may leave the running sum just short of the share.
    reached = cumulative >= share * cumulative[..., -1:] - 1e-9
    found: Floats = sorted_values[np.argmax(reached, axis=-1)]
    return found


def bootstrap_quantile_ratio(
    numerator: Floats,
    denominator: Floats,
    complete: Mask,
    *,
    profile_weights: Floats,
    share: float,
    replicates: int,
    seed: int,
) -> Estimate:
    """Estimate the ratio of two weighted quantiles from paired arrays [page, seed, profile]."""
    sides = []
    for values in (numerator, denominator):
        flat = np.where(complete[..., np.newaxis], values, np.inf).reshape(-1)
        order = np.argsort(flat, kind="stable")
        sides.append((flat[order], order))

    def weighted(weights: Floats) -> Floats:
        spread = (weights[..., np.newaxis] * profile_weights).reshape(len(weights), -1)
        above, below = (weighted_quantile(values, spread[:, order], share) for values, order in sides)
        ratio: Floats = above / below
        return ratio

    return _estimate(weighted, complete, replicates=replicates, seed=seed)


def hodges_lehmann(differences: Floats) -> float:
    """Hodges-Lehmann estimator: the median of all pairwise means, which is robust against the tails.

    >>> hodges_lehmann(np.array([1.0, 2.0, 30.0]))
    8.75
    """
    first, second = np.triu_indices(len(differences))
    return float(np.median((differences[first] + differences[second]) / 2))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for multiple testing (Holm 1979); the order is kept.

    >>> holm([0.04, 0.01, 0.5])
    [0.08, 0.03, 0.5]
    """
    adjusted = [0.0] * len(p_values)
    worst = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        worst = max(worst, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = worst
    return adjusted
