"""Estimates from draws that favour some networks: each network counts by its weight, and pages are clusters.

Networks are strata: a network's draws share its weight, however many they are, so that draws may go where
they tell most. Pages are what chance draws: the draws of one page over several networks count as one
contribution.
"""

import dataclasses

import numpy as np

from reports.decision.bounds import TWO_SIDED_95, Measured, RareEvents
from reports.decision.draws import Draws, Integers
from reports.statistics.bootstrap import Floats, Mask

LEAST_DRAWS = 3
"""Fewest draws of a network that show its spread and its skewness."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class WeightedSample:
    """Draws in which all values of an estimate are known."""

    pages: Integers
    """Place of each draw's page in the frame."""
    networks: Integers
    shares: Floats
    """Weight of each draw; they sum to 1."""
    counts: Integers
    """Number of draws over each draw's network."""
    pages_there: int
    """Pages of the frame."""
    networks_there: int
    """Networks of the frame."""

    def mean(self, values: Floats) -> float:
        """Mean of a value of each draw over the population."""
        return float(self.shares @ values)

    def contributions(self, values: Floats) -> Floats:
        """What each draw adds to the error of the mean: its distance from its network's mean,
        times its weight."""
        means = np.bincount(self.networks, values)[self.networks] / self.counts
        spread: Floats = self.shares * (values - means) * np.sqrt(self.counts / (self.counts - 1))
        return spread

    def measured(
        self, linear: Floats, value: float, limit: float, *, of_pages: Floats | None = None
    ) -> Measured:
        """An effect whose error is that of the mean of `linear`,
        and of `of_pages` [page of the frame], summed by page."""
        drawn = self.contributions(linear)
        by_page: Floats = np.bincount(self.pages, drawn, self.pages_there).astype(np.float64)
        if of_pages is not None:
            by_page = by_page + of_pages
        times = np.bincount(self.pages, minlength=self.pages_there)
        pages = int((times > 0).sum())
        squares = float((by_page**2).sum())
        error = float(np.sqrt(squares * pages / max(1, pages - 1)))
        return Measured(
            value=value,
            limit=limit,
            error=error,
            skewness=self._third(by_page, drawn) / squares**1.5 if squares > 0 else 0.0,
            pages=pages,
            degrees=self._degrees(drawn),
            between=min(max(_between(by_page, drawn, self.pages, times), 0.0), error**2),
            by_network=np.bincount(self.networks, drawn**2 * self.counts, self.networks_there).astype(
                np.float64
            ),
        )

    def rare(self, worse: Floats, better: Floats | None, value: float, limit: float) -> RareEvents:
        """An effect of shares that are zero on nearly all pages: `worse` less `better`,
        or a level without `better`."""
        weights = np.bincount(self.pages, self.shares, self.pages_there)
        pages = int((weights > 0).sum())
        found = RareEvents(
            value=value,
            limit=limit,
            error=0.0,
            skewness=0.0,
            pages=pages,
            by_network=np.zeros(self.networks_there),
            with_event=len(np.unique(self.pages[worse > 0])),
            others_with_event=None if better is None else len(np.unique(self.pages[better > 0])),
            heaviest=float(weights.max()) * pages,
        )
        error = (found.interval.upper - value) / TWO_SIDED_95
        return dataclasses.replace(found, error=error, between=error**2)

    def _third(self, by_page: Floats, drawn: Floats) -> float:
        """Third cumulant of the mean; few draws of a network hide a part of theirs,
        which its k-statistic makes up for."""
        counts = self.counts
        hidden = counts**2 / ((counts - 1) * (counts - 2)) / (counts / (counts - 1)) ** 1.5 - 1
        return float((by_page**3).sum() + (hidden * drawn**3).sum())

    def _degrees(self, drawn: Floats) -> float:
        """Degrees of freedom of the squared error, by Satterthwaite over the networks."""
        parts = np.bincount(self.networks, drawn**2, self.networks_there)
        counts = np.bincount(self.networks, minlength=self.networks_there)
        squares = float((parts**2 / np.maximum(counts - 1, 1)).sum())
        return float(parts.sum() ** 2 / squares) if squares > 0 else float("inf")


def _between(by_page: Floats, drawn: Floats, pages: Integers, times: Integers) -> float:
    """Part of the squared error that a page's draws have in common; 0 where no page was drawn twice."""
    repeated = times > 1
    if not repeated.any():
        return 0.0
    own = np.bincount(pages, drawn**2, len(times))[repeated].sum()
    cross = float((by_page[repeated] ** 2).sum() - own)
    mean = float(times[repeated].mean())
    return cross * mean / (mean - 1) * float(times.sum() / times[repeated].sum())


def weighted_sample(draws: Draws, mask: Mask, weights: Floats, *, least_pages: int) -> WeightedSample | None:
    """The draws under `mask` on the networks that have `weights`.

    None if a network has too few, or there are too few pages.
    """
    kept = mask & (weights[draws.networks] > 0)
    networks, pages = draws.networks[kept], draws.pages[kept]
    counts = np.bincount(networks, minlength=len(weights))
    if (counts[weights > 0] < LEAST_DRAWS).any() or len(np.unique(pages)) < least_pages:
        return None
    shares = weights[networks] / counts[networks] / weights.sum()
    return WeightedSample(pages, networks, shares, counts[networks], len(draws.frame.pages), len(weights))
