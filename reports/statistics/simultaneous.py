"""Simultaneous confidence intervals for means over pages, by bootstrap-t with shared draws and the largest t.

Values are [page, candidate]: each is a page's own mean over its networks and seeds, so that pages are the
units that chance draws. All candidates share each draw of pages, because the same pages carry all of them.

The method is Hall's studentised bootstrap (The Bootstrap and Edgeworth Expansion, 1992), with Westfall and
Young's largest statistic (Resampling-Based Multiple Testing, 1993). No interval is narrower than Student's:
of few pages the bootstrap alone holds the truth one to two percent too rarely (docs/methods.md, "Coverage").
"""

import dataclasses
import functools
import math

import numpy as np

from releases.interval import Interval
from reports.statistics.bootstrap import Floats
from reports.statistics.exact import student_quantile, student_tail

LEAST_PAGES = 2
"""Smallest number of pages with a spread."""

CHUNK = 4_000_000
"""Largest number of page counts that are drawn at once, 32 MB. Another value draws the same."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class PageMeans:
    """Weighted means over pages, with their standard errors and the bootstrap's distribution of t."""

    means: Floats
    """[candidate]"""
    standard_errors: Floats
    """[candidate]; zero where all pages are equal."""
    draws: Floats
    """t of each replicate, [replicate, candidate]: (its mean - the mean) / its own standard error."""
    pages: int
    """Pages with weight."""

    def intervals(self, confidence: float) -> list[Interval]:
        """Two-sided intervals that hold all true means together with `confidence`;
        each end fails with half of the rest.

        An end is infinite if there are too few replicates to reach its quantile.
        """
        half = (1 + confidence) / 2
        ends = zip(self.means, self.lower_bounds(half), self.upper_bounds(half), strict=True)
        return [Interval(float(mean), float(lower), float(upper)) for mean, lower, upper in ends]

    def lower_bounds(self, confidence: float) -> Floats:
        """Lower bounds, one for each candidate, that hold together with `confidence`."""
        return self.means - self._scaled(self._quantile(self.draws, 1 - confidence))

    def upper_bounds(self, confidence: float) -> Floats:
        """Upper bounds, one for each candidate, that hold together with `confidence`."""
        return self.means + self._scaled(self._quantile(-self.draws, 1 - confidence))

    def p_values(self, threshold: float = 0.0) -> Floats:
        """One-sided p-value of each mean against "at most `threshold`", adjusted for all candidates.

        It is at most (1 - confidence) exactly where `lower_bounds(confidence)` lies above the threshold,
        if pages differ.
        """
        t = _ratio(self.means - threshold, self.standard_errors)
        largest = np.sort(self.draws.max(axis=1))
        at_least = len(largest) - np.searchsorted(largest, t, side="left")
        found: Floats = np.maximum(
            (1 + at_least) / (1 + len(largest)), student_tail(t, degrees=self.pages - 1)
        )
        return found

    def _scaled(self, quantile: float) -> Floats:
        """The quantile in units of each mean; 0 where all pages are equal,
        also if the quantile is infinite."""
        scaled: Floats = np.multiply(
            quantile,
            self.standard_errors,
            where=self.standard_errors > 0,
            out=np.zeros_like(self.standard_errors),
        )
        return scaled

    def _quantile(self, draws: Floats, tail: float) -> float:
        """The value that the largest t of a replicate exceeds with probability `tail`, at least Student's."""
        largest = np.sort(draws.max(axis=1))
        # With B replicates the k-th smallest bounds a new draw from above with probability k / (B + 1).
        place = math.ceil(round((len(largest) + 1) * (1 - tail), 9))
        if place > len(largest):
            return math.inf
        return max(float(largest[place - 1]), student_quantile(round(tail, 12), degrees=self.pages - 1))


def simultaneous_intervals(
    values: Floats, confidence: float, *, seed: int, replicates: int, weights: Floats | None = None
) -> list[Interval]:
    """Two-sided intervals for the mean of each column of `values` [page, candidate], which hold together.

    `weights` are the pages' weights, of any scale; the default is pages alike. Values must be finite.
    """
    return page_means(values, seed=seed, replicates=replicates, weights=weights).intervals(confidence)


def page_means(values: Floats, *, seed: int, replicates: int, weights: Floats | None = None) -> PageMeans:
    """The weighted mean of each column of `values` [page, candidate] with its bootstrap distribution.

    Raises ValueError if there are fewer than two pages with weight, or if a value is not finite.
    """
    shares = np.ones(len(values)) if weights is None else weights
    if values.ndim != 2 or shares.shape != values.shape[:1]:
        raise ValueError(
            f"values {values.shape} and weights {shares.shape} are not [page, candidate] and [page]"
        )
    if not (np.isfinite(values).all() and np.isfinite(shares).all() and (shares >= 0).all()):
        raise ValueError("values must be finite, and weights finite and at least 0")
    counted = shares > 0
    if counted.sum() < LEAST_PAGES:
        raise ValueError(f"{counted.sum()} pages have no spread; at least {LEAST_PAGES} are needed")
    values, shares = values[counted], shares[counted] / shares[counted].mean()
    means = shares @ values / shares.sum()
    moments = _Moments(values - means, shares)
    sample = np.ones((1, len(values)))
    _, errors = moments.of(sample)
    drawn = [_ratio(*moments.of(counts)) for counts in draw_pages(len(values), replicates, seed)]
    return PageMeans(means, errors[0], np.concatenate(drawn), len(values))


def standard_errors(values: Floats, weights: Floats | None = None) -> Floats:
    """Standard error of the weighted mean of each column of `values` [page, candidate]; no bootstrap."""
    return page_means(values, seed=0, replicates=1, weights=weights).standard_errors


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    """Mean and standard error of resampled pages by matrix products."""

    centred: Floats
    """[page, candidate], with weighted mean zero."""
    weights: Floats
    """[page]"""

    def of(self, counts: Floats) -> tuple[Floats, Floats]:
        """Means and their standard errors, [replicate, candidate],
        where page p counts `counts[:, p]` times."""
        pages = len(self.weights)
        weighted = self.weights[:, np.newaxis] * self.centred
        total = (counts @ self.weights)[:, np.newaxis]
        means = counts @ weighted / total
        squares = (
            counts @ weighted**2
            - 2 * means * (counts @ (self.weights[:, np.newaxis] * weighted))
            + means**2 * (counts @ self.weights**2)[:, np.newaxis]
        )
        # Rounding alone can leave a spread where all pages are equal: it counts as none.
        noise = 1e-14 * (counts @ weighted**2) + 1e-300
        errors = np.sqrt(np.where(squares > noise, squares, 0) * pages / (pages - 1)) / total
        return means, errors


def _ratio(means: Floats, errors: Floats) -> Floats:
    """t; infinite where the pages drawn are all equal and away from the mean, and 0 where they are on it."""
    found: Floats = np.where(
        errors > 0,
        means / np.where(errors > 0, errors, 1),
        np.where(np.abs(means) > 1e-12, np.copysign(np.inf, means), 0),
    )
    return found


@functools.lru_cache(maxsize=4)
def draw_pages(pages: int, replicates: int, seed: int) -> tuple[Floats, ...]:
    """How often each page is drawn, [replicate, page] in chunks: pages with replacement,
    as many as there are."""
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, CHUNK // pages)

    def counts(rows: int) -> Floats:
        drawn = rng.integers(pages, size=(rows, pages)) + pages * np.arange(rows)[:, np.newaxis]
        return np.bincount(drawn.ravel(), minlength=rows * pages).reshape(rows, pages).astype(float)

    return tuple(counts(min(rows, replicates - begin)) for begin in range(0, replicates, rows))
