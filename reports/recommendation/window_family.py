"""Windows compared with one other window on the same pages: the loads that are complete at all of them."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from reports.recommendation.rule import Rule
from reports.statistics.bootstrap import Floats, Mask
from reports.statistics.paired_loads import PairedLoads, complete


class TooFewLoads(Exception):  # it describes the sample, not a fault
    """The sample is too small for an estimate; the message says what is lacking."""


@dataclasses.dataclass(frozen=True, slots=True)
class NotEstimable:
    """Takes the place of an estimate that the sample is too small for."""

    reason: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """Complete loads of windows on the profiles of one population."""

    pages: tuple[str, ...]
    at: Mapping[int, Mapping[str, Floats]]
    """Arrays [page, seed, profile] by window and column; only profiles with weight."""
    complete: Mask
    """[page, seed]; each page has a complete seed."""
    weights: Floats
    """Weight of each profile; they sum to 1."""
    down_bps: Floats
    """Downstream rate of each profile."""

    def by_page(self, loads: Floats) -> Floats:
        """A page's mean over its complete seeds of the population's mean over profiles, from [page,
        seed, profile]."""
        known = np.where(self.complete[..., np.newaxis], loads, 0.0)
        found: Floats = (known @ self.weights).sum(axis=1) / self.complete.sum(axis=1)
        return found


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowFamily:
    """Windows, and the window that each is compared with,
    over weighted arms of a replay and for one population."""

    arms: Sequence[tuple[PairedLoads, float]]
    """Loads with their weights: one arm alone, or the arms of a mixture."""
    windows: tuple[int, ...]
    other: int
    population: Mapping[str, float]
    """Weights by profile."""
    rule: Rule

    def by_page(
        self, columns: Sequence[str], value: Callable[[Sample, int], Floats], *, least_pages: int
    ) -> dict[int, Floats]:
        """The value of each page at each window, the arms' weighted mean; raises TooFewLoads.

        `value` gives the pages' values in one arm at a window, [page].
        """
        samples = self.samples(columns)
        shared = sorted(set.intersection(*(set(one.pages) for one, _ in samples)))
        if len(shared) < least_pages:
            raise TooFewLoads(f"{len(shared)} pages pair, the rule asks for {least_pages}")
        found = {window: np.zeros(len(shared)) for window in self.windows}
        total = sum(weight for _, weight in samples)
        for sample, weight in samples:
            places = {page: place for place, page in enumerate(sample.pages)}
            kept = [places[page] for page in shared]
            for window in self.windows:
                found[window] += weight / total * value(sample, window)[kept]
        return found

    def samples(self, columns: Sequence[str]) -> list[tuple[Sample, float]]:
        """The loads in which all `columns` are known at every window, by arm; raises TooFewLoads."""
        return [(self._sample(loads, columns), weight) for loads, weight in self.arms]

    def _sample(self, loads: PairedLoads, columns: Sequence[str]) -> Sample:
        if not loads.covers(self.population):
            lacking = sorted(set(self.population) - set(loads.profiles))
            raise TooFewLoads(f"no cell of the profiles {', '.join(lacking)}")
        needed = (*self.windows, self.other)
        for window in needed:
            if window not in loads.windows:
                raise TooFewLoads(f"no cell at IW {window}")
        weights = loads.weights(self.population)
        arrays = {window: {name: loads.at(name, window) for name in columns} for window in needed}
        mask = complete([array for side in arrays.values() for array in side.values()], weights)
        kept: Mask = np.atleast_1d(mask.any(axis=1))
        counted: Mask = weights > 0
        if not kept.any():
            raise TooFewLoads("no page has a complete pair of loads")
        return Sample(
            pages=tuple(page for page, is_kept in zip(loads.pages, kept, strict=True) if is_kept),
            at={
                window: {name: np.moveaxis(array[kept][:, counted], 1, 2) for name, array in side.items()}
                for window, side in arrays.items()
            },
            complete=mask[kept],
            weights=weights[counted],
            down_bps=loads.down_bps[counted],
        )
