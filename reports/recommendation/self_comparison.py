"""A/A comparison: a window against itself with other seeds, to show how far chance moves page times."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from statistics import NormalDist

import numpy as np

from reports.recommendation.window_pair import TooFewLoads
from reports.statistics.paired_loads import PairedLoads


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SelfComparison:
    """Difference of mean page times at one window between odd and even seeds."""

    deviation_percent: float
    chance_percent: float
    """Half of the interval that chance alone gives, from the spread over each page's seeds."""
    pairs: int
    """Number of (page, profile) pairs with loss."""


def compare_with_itself(
    loads: PairedLoads, iw: int, population: Mapping[str, float], *, confidence: float
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
    weights = np.broadcast_to(loads.weights(population), usable.shape)[usable]
    even, odd = (np.nanmean(times[..., half::2][usable], axis=1) for half in (0, 1))
    even_loads, odd_loads = (known[..., half::2][usable].sum(axis=1) for half in (0, 1))
    variance = np.nanvar(times[usable], axis=1, ddof=1) * (1 / even_loads + 1 / odd_loads)
    base = float(weights @ even)
    normal = NormalDist().inv_cdf((1 + confidence) / 2)
    return SelfComparison(
        deviation_percent=100 * (float(weights @ odd) / base - 1),
        chance_percent=100 * normal * math.sqrt(float(weights**2 @ variance)) / base,
        pairs=int(usable.sum()),
    )
