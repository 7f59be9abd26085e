"""Effects of windows against the incumbent: one estimator for each quantity, with an error that counts both
pages and networks as drawn at random.

An estimate is the mean over the population of a value of each draw, a pair of loads of one page over one
network with one seed. Networks that were drawn from strata count by the shares of their strata. The error is
the two-way cluster-robust one: squares of sums by page and by network, less those by page and network
(Cameron, Gelbach and Miller, Journal of Business & Economic Statistics 29, 2011; Owen, Annals of Applied
Statistics 1, 2007), with Student's t at the degrees of freedom that the clusters show. All estimates stand in
one vector, so that a net benefit or a difference between two windows is a combination of them.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from releases.interval import Interval
from replay.runs.policy import Policy
from verdict.evidence import Evidence, Load
from verdict.student import Floats, Integers, Mask, student_quantile

EQUAL = {"page": 1e-4, "resent": 7.7e-4}
"""Change of a logarithm, and percentage points, below which a load equals itself: a hundredth of the least
page time that counts, and of what may be sent again for it. Of thousands of loads, a few do not repeat to the
microsecond. Ours."""

LEAST_EQUAL = 30
"""Fewest loads, equal to the last digit, that show that a window equals itself. Ours."""

SLOW = "slow tenth"
"""Time saved over the slowest tenth of the networks, in per cent, per load."""

Name = tuple[str, Hashable]
"""A quantity and a policy; studies compare others."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its standard error."""

    value: float
    error: float
    degrees: int
    """Below 1 there are too few clusters for any interval."""

    def interval(self, tail: float) -> Interval:
        """Return the value with ends that each fail with probability `tail`."""
        if not math.isfinite(self.value):
            return Interval(math.nan, -math.inf, math.inf)
        if self.degrees < 1 or tail <= 0:
            return Interval(self.value, -math.inf, math.inf)
        half = self.error * student_quantile(round(tail, 12), degrees=self.degrees)
        return Interval(self.value, self.value - half, self.value + half)


@dataclass(frozen=True, slots=True)
class Components:
    """Squared error of an estimate by what would make it smaller."""

    pages: float
    networks: float
    pairs: float


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Effects:
    """Estimates of quantities at windows as one vector, with sums of their influence by cluster."""

    names: Mapping[Name, int]
    values: Floats
    """Mean change; that of a time is its logarithm's."""
    by_page: Floats
    """[page, effect]"""
    by_network: Floats
    """[network, effect], around the stratum's mean"""
    by_pair: Floats
    """[page and network, effect]"""
    strata: int
    draws: Integers
    """Complete pairs of loads, [effect]"""

    def combine(self, factors: Mapping[Name, float]) -> Estimate:
        places = [self.names[name] for name in factors]
        weights = np.array(list(factors.values()))
        value = float(self.values[places] @ weights)
        page, network, pair = self._sums(places, weights)
        squares = [float(sums @ sums) for sums in (page, network, pair)]
        square = max(squares[0] + squares[1] - squares[2], squares[0], squares[1])
        # Clusters in which the parts cancel each other exactly, or but for rounding, are clusters alike.
        pages, networks = (int(sums[:, places].any(axis=1).sum()) for sums in (self.by_page, self.by_network))
        degrees = _degrees(page, most=pages - 1), _degrees(network, most=networks - self.strata)
        if min(degrees) < 1:
            return Estimate(value, math.sqrt(square), 0)
        parts = squares[0] ** 2 / degrees[0] + squares[1] ** 2 / degrees[1]
        joint = square**2 / parts if parts > 0 else min(degrees)
        return Estimate(value, math.sqrt(square), max(1, math.floor(min(joint, *degrees))))

    def is_equal(self, *, least: int) -> bool:
        """Return whether no pair of loads differs, of at least `least` for each effect."""
        return bool((self.draws >= least).all() and (self.values == 0).all() and not self.by_pair.any())

    def components(self, factors: Mapping[Name, float]) -> Components:
        """Return the parts of a combination's squared error, none below zero."""
        page, network, pair = (
            float(part @ part)
            for part in self._sums([self.names[name] for name in factors], np.array(list(factors.values())))
        )
        return Components(pages=max(0.0, page - pair), networks=max(0.0, network - pair), pairs=pair)

    def of(self, quantity: str, window: Hashable) -> Estimate:
        return self.combine({(quantity, window): 1.0})

    def _sums(self, places: Sequence[int], weights: Floats) -> tuple[Floats, Floats, Floats]:
        page, network, pair = (
            sums[:, places] @ weights for sums in (self.by_page, self.by_network, self.by_pair)
        )
        return page, network, pair


def percent_saved(change: Interval) -> Interval:
    """Return per cent saved, of the change of a logarithm.

    >>> percent_saved(Interval(0.0, 0.0, math.inf))
    Interval(estimate=-0.0, lower=-inf, upper=-0.0)
    """

    def saved(logarithm: float) -> float:
        return -100 * math.expm1(logarithm) if logarithm < 700 else -math.inf

    return Interval(saved(change.estimate), saved(change.upper), saved(change.lower))


def changes_of(load: Load, base: Load) -> dict[str, Floats]:
    """Return each draw's change of the logarithm of page time, and percentage points sent again."""
    again, before = (side["bytes_retransmitted"] / side["payload_bytes"] for side in (load, base))
    return {"page": np.log(load["page_ms"]) - np.log(base["page_ms"]), "resent": 100 * (again - before)}


def measure_again(evidence: Evidence, *, incumbent: Policy) -> Effects:
    """Return the incumbent by another route less itself, under its name."""
    changes = changes_of(evidence.again, evidence.at(incumbent))
    return effects_of(
        evidence,
        {
            (name, incumbent): np.where(abs(change) < EQUAL[name], 0.0, change)
            for name, change in changes.items()
        },
    )


def effects_of(
    evidence: Evidence, changes: Mapping[Name, Floats], *, clusters: Integers | None = None
) -> Effects:
    """Return the effects of changes, each along the draws; NaN where a change is unknown.

    `clusters` are numbers of what is drawn beside networks, by default pages.
    """
    pages, networks = evidence.pages if clusters is None else clusters, evidence.places
    pairs = np.unique(pages * (len(evidence.networks) + 1) + networks, return_inverse=True)[1]
    joined = _join_strata(evidence.strata, np.unique(networks))
    values = np.full(len(changes), np.nan)
    counts = np.zeros(len(changes), np.intp)
    # By columns, since effects are combined by columns.
    sums = [
        np.zeros((int(codes.max(initial=-1)) + 1, len(changes)), order="F")
        for codes in (pages, networks, pairs)
    ]
    for place, ((quantity, _), change) in enumerate(changes.items()):
        known, w = weigh(evidence, np.isfinite(change), of_slow=quantity == SLOW)
        counts[place] = len(w)
        if not counts[place]:
            continue
        y, at = change[known], networks[known]
        values[place] = float(w @ y)
        drawn = joined[at]
        mass = np.bincount(drawn, w)
        rest = w * (y - (np.bincount(drawn, w * y) / np.where(mass > 0, mass, 1))[drawn])
        # What the stratum's own mean hides of the spread around it.
        of_pair = rest * np.sqrt(_bessel_factors(np.bincount(drawn)))[drawn]
        draws = np.bincount(at, minlength=len(evidence.networks))
        of_network = rest * np.sqrt(_bessel_factors(np.bincount(joined[draws > 0])))[drawn]
        for array, codes, part in zip(
            sums, (pages, networks, pairs), (of_pair, of_network, of_pair), strict=True
        ):
            array[:, place] = np.bincount(codes[known], part, len(array))
        drawn_clusters = len(np.unique(pages[known]))
        sums[0][:, place] *= (
            math.sqrt(drawn_clusters / (drawn_clusters - 1)) if drawn_clusters > 1 else math.nan
        )
    return Effects(
        names={name: place for place, name in enumerate(changes)},
        values=values,
        by_page=sums[0],
        by_network=sums[1],
        by_pair=sums[2],
        strata=len(np.unique(joined[np.unique(networks)])),
        draws=counts,
    )


def weigh(evidence: Evidence, known: Mask, *, of_slow: bool = False) -> tuple[Mask, Floats]:
    """Return a mask of the known draws over the population, and their weights.

    A network's weight in its stratum is divided among its known draws; weights sum to 1.
    """
    share, weight = evidence.frame["slow_share" if of_slow else "share"], evidence.frame["weight"]
    known = known & (share * weight > 0)[evidence.places]
    at = evidence.places[known]
    draws = np.bincount(at, minlength=len(weight))
    own = evidence.strata
    weights = np.where(draws > 0, weight, 0)
    weights = weights / np.maximum(np.bincount(own, weights)[own], 1e-300) * share
    w: Floats = (weights / np.maximum(draws, 1))[at]
    return known, w / w.sum() if len(w) else w


def _bessel_factors(counts: Integers) -> Floats:
    factors: Floats = counts / np.maximum(counts - 1, 1)
    return factors


def _join_strata(strata: Integers, sampled: Integers) -> Integers:
    """Return each network's stratum; one with a single network that is `there` joins its neighbour."""
    counts = np.bincount(strata[sampled], minlength=int(strata.max(initial=-1)) + 1)
    joined, group, held = np.zeros(len(counts), np.intp), 0, 0
    for place, count in enumerate(counts.tolist()):
        if held >= 2:
            group, held = group + 1, 0
        joined[place] = group
        held += count
    if held < 2 and group:
        joined[joined == group] = group - 1
    return joined[strata]


def _degrees(sums: Floats, *, most: int) -> float:
    """Return the effective degrees of freedom: as many equal clusters would vary as much."""
    squares = sums**2
    fourth = float(squares @ squares)
    return min(float(most), 3 * float(squares.sum()) ** 2 / fourth) if fourth > 0 else float(most)
