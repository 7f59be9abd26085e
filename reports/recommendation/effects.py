"""What one window gains or harms against another, from paired loads: every estimate that the rule needs."""

from __future__ import annotations

import dataclasses
import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from releases.interval import Interval
from releases.slow_start import FRAME_OVERHEAD, MSS_TIMESTAMPS
from replay.published.signed_rank import wilcoxon_signed_rank
from reports.statistics.bootstrap import Estimate, Floats, bootstrap, bootstrap_quantile_ratio, hodges_lehmann
from reports.statistics.paired_loads import PairedLoads, complete

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reports.recommendation.rule import HarmMeasure, Margin, Rule
    from reports.statistics.bootstrap import Mask

SHARES: dict[HarmMeasure, tuple[str, str]] = {
    "retransmitted_bytes": ("bytes_retransmitted", "payload_bytes"),
    "responses_retransmitted": ("responses_retransmitted", "responses"),
    "connections_initial_loss": ("connections_initial_loss", "connections"),
}
"""Measures that are one total over another."""

QUANTILES: dict[HarmMeasure, float] = {"page_time_p95": 0.95, "page_time_p99": 0.99, "page_time_p999": 0.999}


TIMES: dict[HarmMeasure, str] = {
    "page_time_mean": "page_ms",
    "short_flow_time": "short_flow_ms",
    "probe_p95": "probe_p95_ms",
}
"""Measures that are a mean time."""


class TooFewLoads(Exception):  # it describes the sample, not a fault
    """The sample is too small for the estimate; the message says what is lacking."""


@dataclasses.dataclass(frozen=True, slots=True)
class NotEstimable:
    """An estimate that the sample cannot give."""

    reason: str


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Gain:
    """Page time saved by `candidate` against `against`, in percent of the latter's mean."""

    candidate: int
    against: int
    estimate: Estimate
    pages: int
    seeds: int
    """Paired seeds that the poorest page has."""
    typical_percent: float
    """Hodges-Lehmann over the pages' own gains: the shape, whatever the tails."""
    p_value: float
    """Wilcoxon signed rank over the pages' own gains."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Harm:
    """What `margin` bounds, in its unit: the candidate's worsening over the incumbent, or a level."""

    estimate: Estimate
    silent_loads: float | None = None
    """Independent loads without one event of the candidate's, where there was none at all: the bootstrap sees no
    width then, and knows nothing of what the next load would have."""
    others_silent_loads: float | None = None
    """The same of the incumbent, where its share was taken off."""
    incumbents_level: Harm | None = None
    """Of a level."""
    over_incumbent: Harm | None = None
    """The candidate's level less the incumbent's."""

    def is_broken_by_incumbent(self, limit: float) -> bool:
        """Such a level says something of networks and pages, not of the candidate."""
        return self.incumbents_level is not None and self.incumbents_level.estimate.value >= limit

    def interval(self, confidence: float) -> Interval:
        """Two-sided, in percent or percentage points."""
        found = self.estimate.interval(confidence)
        return Interval(
            found.estimate,
            found.lower - unseen_percent(self.others_silent_loads, confidence),
            found.upper + unseen_percent(self.silent_loads, confidence),
        )


def unseen_percent(silent_loads: float | None, confidence: float) -> float:
    """Upper end of a share of which so many loads had nothing (Clopper and Pearson; about 3.7 in so many).

    It holds whatever the share is of in a load, since no load can have more than all of it.

    >>> round(unseen_percent(100, 0.95), 2), unseen_percent(None, 0.95)
    (3.62, 0.0)
    """
    return 0.0 if silent_loads is None else 100 * (1 - ((1 - confidence) / 2) ** (1 / silent_loads))


@dataclasses.dataclass(frozen=True, slots=True)
class _Pair:
    """Two windows in one population, cut to what is complete in both."""

    sides: tuple[dict[str, Floats], dict[str, Floats]]
    """By measure [page, seed, profile]: of the candidate, of the other."""
    mask: Mask
    weights: Floats


def _pair(
    loads: PairedLoads,
    candidate: int,
    against: int,
    population: Mapping[str, float],
    measures: tuple[str, ...],
) -> _Pair:
    if not loads.covers(population):
        lacking = sorted(set(population) - set(loads.profiles))
        raise TooFewLoads(f"no cell of the profiles {', '.join(lacking)}")
    for window in (candidate, against):
        if window not in loads.windows:
            raise TooFewLoads(f"no cell at IW {window}")
    weights = loads.weights(population)
    sides = [{name: loads.at(name, window) for name in measures} for window in (candidate, against)]
    mask = complete([array for side in sides for array in side.values()], weights)
    kept = mask.any(axis=1)
    if not kept.any():
        raise TooFewLoads("no page has a complete pair of loads")
    first, second = ({name: np.moveaxis(array[kept], 1, 2) for name, array in side.items()} for side in sides)
    return _Pair((first, second), mask[kept], weights)


def _weighted(pair: _Pair, *columns: Floats) -> Floats:
    """[page, seed, column]: the population's mean over profiles."""
    counted = pair.weights > 0
    return np.stack([column[..., counted] @ pair.weights[counted] for column in columns], axis=-1)


def gain(
    loads: PairedLoads, candidate: int, against: int, population: Mapping[str, float], rule: Rule
) -> Gain:
    """The estimand: the ratio of population-weighted mean page times, replicated by page."""
    pair = _pair(loads, candidate, against, population, ("page_ms",))
    times = _weighted(pair, pair.sides[0]["page_ms"], pair.sides[1]["page_ms"])
    estimate = bootstrap(
        times,
        pair.mask,
        lambda means: 100 * (1 - means[:, 0] / means[:, 1]),
        replicates=rule.replicates,
        seed=rule.bootstrap_seed,
    )
    seeds = pair.mask.sum(axis=1)
    by_page = np.where(pair.mask[..., np.newaxis], times, 0.0).sum(axis=1) / seeds[:, np.newaxis]
    own = 100 * (1 - by_page[:, 0] / by_page[:, 1])
    return Gain(
        candidate,
        against,
        estimate,
        len(own),
        int(seeds.min()),
        hodges_lehmann(own),
        wilcoxon_signed_rank(own),
    )


def harm(
    loads: PairedLoads,
    margin: Margin,
    candidate: int,
    against: int,
    population: Mapping[str, float],
    rule: Rule,
) -> Harm:
    """The worsening that `margin` bounds, in its unit; raises TooFewLoads where the sample cannot tell."""
    if margin.measure in SHARES:
        return _share_harm(loads, margin, candidate, against, population, rule)
    if margin.measure in TIMES:
        return _time_harm(loads, margin, candidate, against, population, rule)
    if margin.measure == "bulk_time":
        return _bulk_harm(loads, candidate, against, population, rule)
    pair = _harm_pair(loads, candidate, against, population, ("page_ms",), rule)
    mine, theirs = (side["page_ms"] for side in pair.sides)
    share = QUANTILES[margin.measure]
    loads_in_pair = int(pair.mask.sum() * (pair.weights > 0).sum())
    needed = round(rule.quantile_loads / (1 - share))
    if loads_in_pair < needed:
        raise TooFewLoads(f"needs {needed} paired loads, has {loads_in_pair}")
    counted = pair.weights > 0
    ratio = bootstrap_quantile_ratio(
        mine[..., counted],
        theirs[..., counted],
        pair.mask,
        profile_weights=pair.weights[counted],
        share=share,
        replicates=rule.replicates,
        seed=rule.bootstrap_seed,
    )
    return Harm(estimate=Estimate(100 * (ratio.value - 1), 100 * (ratio.replicates - 1)))


def _harm_pair(
    loads: PairedLoads,
    candidate: int,
    against: int,
    population: Mapping[str, float],
    measures: tuple[str, ...],
    rule: Rule,
) -> _Pair:
    """Of fewer pages the bootstrap knows too little."""
    pair = _pair(loads, candidate, against, population, measures)
    if len(pair.mask) < rule.minimum_pages:
        raise TooFewLoads(f"{len(pair.mask)} pages pair, the rule asks for {rule.minimum_pages}")
    return pair


def _time_harm(
    loads: PairedLoads,
    margin: Margin,
    candidate: int,
    against: int,
    population: Mapping[str, float],
    rule: Rule,
) -> Harm:
    """Means of a time, held against each other as a ratio, or in milliseconds."""
    name = TIMES[margin.measure]
    pair = _harm_pair(loads, candidate, against, population, (name,), rule)
    mine, theirs = (side[name] for side in pair.sides)

    def worse(means: Floats) -> Floats:
        if margin.unit == "ms":
            return means[:, 0] - means[:, 1]
        return 100 * (means[:, 0] / means[:, 1] - 1)

    return Harm(estimate=_bootstrap(pair, rule, _weighted(pair, mine, theirs), worse))


PAYLOAD_OF_FRAME = MSS_TIMESTAMPS / (MSS_TIMESTAMPS + FRAME_OVERHEAD)
"""Payload's share of a full segment on the wire."""


def _bulk_harm(
    loads: PairedLoads, candidate: int, against: int, population: Mapping[str, float], rule: Rule
) -> Harm:
    """How much longer a download takes for what it receives during a load at the other window.

    What it lacks when a shorter load is over it makes up for at the bottleneck's rate, which it has to itself then.
    """
    pair = _harm_pair(loads, candidate, against, population, ("page_ms", "competition_bytes"), rule)
    mine, theirs = pair.sides
    payload_per_ms = loads.down_bps * PAYLOAD_OF_FRAME / 8e3
    lacking = (theirs["competition_bytes"] - mine["competition_bytes"]) / payload_per_ms
    columns = _weighted(pair, mine["page_ms"] + lacking, theirs["page_ms"])
    return Harm(estimate=_bootstrap(pair, rule, columns, lambda means: 100 * (means[:, 0] / means[:, 1] - 1)))


def _bootstrap(pair: _Pair, rule: Rule, columns: Floats, statistic: Callable[[Floats], Floats]) -> Estimate:
    return bootstrap(columns, pair.mask, statistic, replicates=rule.replicates, seed=rule.bootstrap_seed)


def _share_harm(
    loads: PairedLoads,
    margin: Margin,
    candidate: int,
    against: int,
    population: Mapping[str, float],
    rule: Rule,
) -> Harm:
    part, whole = SHARES[margin.measure]
    pair = _harm_pair(loads, candidate, against, population, (part, whole), rule)
    columns = _weighted(pair, *(side[name] for side in pair.sides for name in (part, whole)))
    silent = [_silent_loads(pair, side[part]) for side in pair.sides]

    def level(side: int) -> Harm:
        at = 2 * side
        estimate = _bootstrap(pair, rule, columns, lambda means: 100 * means[:, at] / means[:, at + 1])
        return Harm(estimate=estimate, silent_loads=silent[side])

    worsening = Harm(
        estimate=_bootstrap(
            pair,
            rule,
            columns,
            lambda means: 100 * (means[:, 0] / means[:, 1] - means[:, 2] / means[:, 3]),
        ),
        silent_loads=silent[0],
        others_silent_loads=silent[1],
    )
    if not margin.is_level:
        return worsening
    return dataclasses.replace(level(0), incumbents_level=level(1), over_incumbent=worsening)


def _silent_loads(pair: _Pair, events: Floats) -> float | None:
    """Loads, where none of them has an event; a profile that weighs most is what could hide most."""
    counted = pair.weights > 0
    if (events[pair.mask][:, counted] > 0).any():
        return None
    return float(pair.mask.sum() / pair.weights.max())


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SelfComparison:
    """One window against itself."""

    deviation_percent: float
    chance_percent: float
    """How far chance alone moves it: half of its interval, from the spread of each page's seeds."""
    pairs: int
    """Of page and profile, under loss."""


def aa(loads: PairedLoads, iw: int, population: Mapping[str, float], *, confidence: float) -> SelfComparison:
    """Odd against even seeds of every page and profile under loss.

    The same seed would agree to the microsecond and prove nothing; loads without loss have no chance
    in them and would only dilute it.
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
    loads_each = [known[..., half::2][usable].sum(axis=1) for half in (0, 1)]
    variance = np.nanvar(times[usable], axis=1, ddof=1) * (1 / loads_each[0] + 1 / loads_each[1])
    base = float(weights @ even)
    normal = NormalDist().inv_cdf((1 + confidence) / 2)
    return SelfComparison(
        deviation_percent=100 * (float(weights @ odd) / base - 1),
        chance_percent=100 * normal * math.sqrt(float(weights**2 @ variance)) / base,
        pairs=int(usable.sum()),
    )
