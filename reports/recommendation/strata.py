"""Gains by the popularity of pages: the mean over the pages of each stratum of ranks,
and over all pages weighted by rank."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from releases.formatting import grouped
from releases.interval import Interval
from releases.ranks import Rank
from reports.recommendation.effects import log_ratio, saved_percent
from reports.recommendation.rule import Rule
from reports.recommendation.window_family import TooFewLoads, WindowFamily
from reports.statistics.bootstrap import Floats
from reports.statistics.paired_loads import PairedLoads
from reports.statistics.simultaneous import LEAST_PAGES, simultaneous_intervals

ALL_ALIKE, BY_RANK = "all pages alike", "all pages by rank"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StratumGain:
    """Page time that a window saves in a stratum of pages, in percent."""

    stratum: str
    pages: int
    iw: int
    saved_percent: Interval
    """Simultaneous over the windows of the stratum."""


def gains_by_stratum(
    loads: PairedLoads,
    ranks: Mapping[str, Rank],
    population: Mapping[str, float],
    *,
    incumbent: int,
    rule: Rule,
) -> list[StratumGain]:
    """The gains over the incumbent of each stratum with two pages or more,
    then of all pages alike and by rank.

    `ranks` are those of the pages by host; a page without one is left out. Empty where no page has a rank.
    """
    windows = tuple(window for window in loads.windows if window != incumbent)
    family = WindowFamily(
        arms=[(loads, 1.0)], windows=windows, other=incumbent, population=population, rule=rule
    )
    try:
        found = family.by_page(
            ["page_ms"],
            lambda sample, window: log_ratio(sample, family, window, "page_ms"),
            least_pages=LEAST_PAGES,
        )
        ((sample, _),) = family.samples(["page_ms"])
    except TooFewLoads:
        return []
    pages = sorted(sample.pages)
    known = np.array([page in ranks for page in pages], dtype=bool)
    if not windows or not known.any():
        return []
    ratios = np.stack([found[window] for window in windows], axis=1)
    strata = np.array([ranks[page].stratum if page in ranks else 0 for page in pages])
    weights = np.array([ranks[page].weight if page in ranks else 0.0 for page in pages])
    groups = [
        (f"up to rank {grouped(upper)}", (strata == upper).astype(float))
        for upper in np.unique(strata[known])
    ]
    groups += [(ALL_ALIKE, known.astype(float)), (BY_RANK, weights)]
    return [
        one
        for name, shares in groups
        if (shares > 0).sum() >= LEAST_PAGES
        for one in _gains(name, ratios, shares, windows, rule)
    ]


def _gains(
    name: str,
    ratios: Floats,
    shares: Floats,
    windows: Sequence[int],
    rule: Rule,
) -> list[StratumGain]:
    found = simultaneous_intervals(
        ratios, rule.confidence, seed=rule.bootstrap_seed, replicates=rule.replicates, weights=shares
    )
    return [
        StratumGain(stratum=name, pages=int((shares > 0).sum()), iw=window, saved_percent=saved_percent(one))
        for window, one in zip(windows, found, strict=True)
    ]
