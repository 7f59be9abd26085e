"""A/A comparison: a window against itself with other seeds, to show how far chance moves page times."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from releases.interval import Interval
from reports.recommendation.rule import Rule
from reports.recommendation.window_family import TooFewLoads
from reports.statistics.paired_loads import PairedLoads
from reports.statistics.simultaneous import LEAST_PAGES, simultaneous_intervals


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SelfComparison:
    """Difference of page times at one window between odd and even seeds."""

    longer_percent: Interval
    """Mean over pages of the log ratio of page time, odd seeds against even ones, in percent."""
    pairs: int
    """Number of (page, profile) pairs with loss."""


def compare_with_itself(
    loads: PairedLoads, iw: int, population: Mapping[str, float], *, rule: Rule
) -> SelfComparison:
    """Compare odd with even seeds of every page and profile that has loss; raises TooFewLoads.

    Loads with the same seed agree to the microsecond and would prove nothing. Loads without loss do not depend on
    chance and would only dilute the comparison.
    """
    if iw not in loads.windows:
        raise TooFewLoads(f"no cell at IW {iw}")
    if not loads.covers(population):
        raise TooFewLoads("not every profile of the population was replayed")
    times, drops = loads.at("page_ms", iw), loads.at("bottleneck_drops", iw)
    retransmitted = loads.at("bytes_retransmitted", iw)
    known = ~np.isnan(times)
    lossy = ((drops > 0) | (retransmitted > 0)).any(axis=2)
    usable = lossy & known[..., 0::2].any(axis=2) & known[..., 1::2].any(axis=2)
    usable &= (loads.weights(population) > 0)[np.newaxis]
    if not usable.any():
        raise TooFewLoads("no page was loaded under loss with two seeds")
    pages = usable.any(axis=1)
    if pages.sum() < LEAST_PAGES:
        raise TooFewLoads("only one page was loaded under loss with two seeds")
    logs = np.log(np.where(known, times, 1.0))
    halves = [
        logs[..., half::2].sum(axis=2) / np.maximum(known[..., half::2].sum(axis=2), 1) for half in (0, 1)
    ]
    weights = np.where(usable, loads.weights(population), 0.0)[pages]
    ratios = ((halves[1] - halves[0])[pages] * weights).sum(axis=1) / weights.sum(axis=1)
    (found,) = simultaneous_intervals(
        ratios[:, np.newaxis], rule.confidence, seed=rule.bootstrap_seed, replicates=rule.replicates
    )
    ends = (100 * float(np.expm1(end)) for end in (found.estimate, found.lower, found.upper))
    return SelfComparison(longer_percent=Interval(*ends), pairs=int(usable.sum()))
