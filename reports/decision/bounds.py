"""One-sided bounds of a mean over pages, corrected for skewness by Hall's transformation; of rare events,
by Clopper and Pearson.

Peter Hall, On the Removal of Skewness by Transformation, Journal of the Royal Statistical Society B 54
(1992). Like the bootstrap-t it is right to second order; unlike it, it needs no replicates, so that the very
small error probabilities of early looks can be computed. No bound is nearer than the one without the
correction.
"""

import math
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from releases.interval import Interval
from reports.statistics.bootstrap import Floats
from reports.statistics.exact import clopper_pearson

NORMAL = NormalDist()

TWO_SIDED_95 = NORMAL.inv_cdf(0.975)
"""Normal score of a two-sided 95 % interval."""

LEAST_DEGREES = 5.0
"""Fewest degrees of freedom for which bounds are given: below, the expansion of Student's t fails."""

LEAST_TAIL = 1e-300
"""Smallest error probability that a look can use."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """An effect as measured so far, with its limit; all in the effect's unit."""

    value: float
    limit: float
    error: float
    """Standard error, with pages as clusters."""
    skewness: float
    """Skewness of the estimate itself: that of the pages' contributions over
    the square root of their number."""
    pages: int
    degrees: float = math.inf
    """Degrees of freedom of the error."""
    between: float = 0.0
    """Part of the squared error that only more pages reduce;
    the rest falls with draws on the same pages too."""
    by_network: Floats = field(default_factory=lambda: np.zeros(0))
    """What a single draw over each network would add to the squared error, [network of the frame]."""

    @property
    def excess(self) -> float:
        """Distance above the limit; negative below it."""
        return self.value - self.limit

    @property
    def interval(self) -> Interval:
        """The value with its 95 % interval, of this effect by itself."""
        half = TWO_SIDED_95 * self.error
        return Interval(self.value, self.value - half, self.value + half)

    def upper(self, tail: float) -> float:
        """Upper bound that is too low with probability `tail`."""
        score = -self._score(tail)
        return self.value - self.error * min(score, _untransformed(score, self.skewness))

    def lower(self, tail: float) -> float:
        """Lower bound that is too high with probability `tail`."""
        score = self._score(tail)
        return self.value - self.error * max(score, _untransformed(score, self.skewness))

    def _score(self, tail: float) -> float:
        """The t that is exceeded with probability `tail`."""
        if tail <= LEAST_TAIL or self.degrees < LEAST_DEGREES:
            return math.inf
        return student(-NORMAL.inv_cdf(tail), self.degrees)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RareEvents(Measured):
    """A share in percentage points that few pages have any of: its bounds are those of *pages* with an event.

    So few events do not show how large an event is, but a page's share is at most whole. Draws over some
    networks weigh more than others: the mean is at most the heaviest page's weight times the expected number
    of pages with an event, which Clopper and Pearson's upper end bounds where pages have unequal chances too
    (Hoeffding 1956).
    """

    with_event: int
    """Pages with an event that makes the effect larger."""
    others_with_event: int | None
    """Pages with an event that makes it smaller; None for a level, which is not below 0."""
    heaviest: float
    """Weight of the heaviest page in units of the mean page's."""

    @property
    def interval(self) -> Interval:
        """The value with its 95 % interval, of this effect by itself."""
        return Interval(self.value, self.lower(0.025), self.upper(0.025))

    def upper(self, tail: float) -> float:
        """Upper bound that is too low with probability `tail` at most."""
        return max(self.value, self._most(self.with_event, tail))

    def lower(self, tail: float) -> float:
        """Lower bound that is too high with probability `tail` at most."""
        least = 0.0 if self.others_with_event is None else -self._most(self.others_with_event, tail)
        return min(self.value, least)

    def _most(self, events: int, tail: float) -> float:
        if tail <= LEAST_TAIL:
            return 100.0
        return min(100.0, 100 * self.heaviest * clopper_pearson(events, self.pages, 1 - 2 * tail)[1])


def student(score: float, degrees: float) -> float:
    """The quantile of Student's t for a normal score,
    by its Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5).

    >>> round(student(1.959964, 20), 3), round(student(3.290527, 30), 3)
    (2.086, 3.646)
    """
    terms = (
        (score**3 + score) / 4,
        (5 * score**5 + 16 * score**3 + 3 * score) / 96,
        (3 * score**7 + 19 * score**5 + 17 * score**3 - 15 * score) / 384,
    )
    return score + sum(term / degrees**power for power, term in enumerate(terms, start=1))


def _untransformed(score: float, skewness: float) -> float:
    """The t that Hall's cubic transformation maps to a normal `score`.

    >>> _untransformed(1.96, 0.0)
    1.96
    """
    if math.isinf(score) or abs(skewness) < 1e-9:
        return score
    cubed = 1 + skewness * (score - skewness / 6)
    return 3 / skewness * (math.copysign(abs(cubed) ** (1 / 3), cubed) - 1)
