"""A candidate window paired with another window: the page loads that are complete at both."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from reports.recommendation.rule import Rule
from reports.statistics.bootstrap import Estimate, Floats, Mask, bootstrap
from reports.statistics.paired_loads import PairedLoads, complete


class TooFewLoads(Exception):  # it describes the sample, not a fault
    """The sample is too small for an estimate; the message says what is lacking."""


@dataclasses.dataclass(frozen=True, slots=True)
class NotEstimable:
    """Takes the place of an estimate that the sample is too small for."""

    reason: str


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Complete loads of two windows on the profiles of one population."""

    candidate: Mapping[str, Floats]
    """Arrays [page, seed, profile] by column."""
    other: Mapping[str, Floats]
    complete: Mask
    """[page, seed]; each page has a complete seed."""
    weights: Floats
    """Weight of each profile in the population."""
    rule: Rule

    @property
    def has_weight(self) -> Mask:
        """The profiles that belong to the population."""
        has_weight: Mask = self.weights > 0
        return has_weight

    def weighted(self, *columns: Floats) -> Floats:
        """The population's mean over profiles, as [page, seed, column]."""
        counted = self.has_weight
        return np.stack([column[..., counted] @ self.weights[counted] for column in columns], axis=-1)

    def bootstrap(self, columns: Floats, statistic: Callable[[Floats], Floats]) -> Estimate:
        """Estimate `statistic` with the rule's replicates and seed."""
        rule = self.rule
        return bootstrap(
            columns, self.complete, statistic, replicates=rule.replicates, seed=rule.bootstrap_seed
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowPair:
    """A candidate window and the window that it is compared with, for one population."""

    loads: PairedLoads
    candidate: int
    other: int
    population: Mapping[str, float]
    """Weights by profile."""
    rule: Rule

    def sample(self, *columns: str, minimum_pages: int = 1) -> Sample:
        """Take the loads in which all `columns` are known at both windows; raises TooFewLoads."""
        loads = self.loads
        if not loads.covers(self.population):
            lacking = sorted(set(self.population) - set(loads.profiles))
            raise TooFewLoads(f"no cell of the profiles {', '.join(lacking)}")
        for window in (self.candidate, self.other):
            if window not in loads.windows:
                raise TooFewLoads(f"no cell at IW {window}")
        weights = loads.weights(self.population)
        sides = [
            {name: loads.at(name, window) for name in columns} for window in (self.candidate, self.other)
        ]
        mask = complete([array for side in sides for array in side.values()], weights)
        kept = mask.any(axis=1)
        if not kept.any():
            raise TooFewLoads("no page has a complete pair of loads")
        if kept.sum() < minimum_pages:
            raise TooFewLoads(f"{kept.sum()} pages pair, the rule asks for {minimum_pages}")
        first, second = (
            {name: np.moveaxis(array[kept], 1, 2) for name, array in side.items()} for side in sides
        )
        return Sample(first, second, mask[kept], weights, self.rule)
