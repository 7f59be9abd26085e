"""Effects of a window compared with another, estimated from paired loads: page time saved, and harm."""

from __future__ import annotations

import dataclasses

import numpy as np

from releases.interval import Interval
from releases.slow_start import FRAME_OVERHEAD, MSS_TIMESTAMPS
from replay.published.signed_rank import wilcoxon_signed_rank
from reports.recommendation.rule import HarmMeasure, Margin
from reports.recommendation.window_pair import Sample, TooFewLoads, WindowPair
from reports.statistics.bootstrap import Estimate, Floats, bootstrap_quantile_ratio, hodges_lehmann

SHARES: dict[HarmMeasure, tuple[str, str]] = {
    "retransmitted_bytes": ("bytes_retransmitted", "payload_bytes"),
    "responses_retransmitted": ("responses_retransmitted", "responses"),
    "connections_initial_loss": ("connections_initial_loss", "connections"),
}
"""Harm measures that are one total over another, with the columns of both."""

QUANTILES: dict[HarmMeasure, float] = {"page_time_p95": 0.95, "page_time_p99": 0.99, "page_time_p999": 0.999}
"""Harm measures that are a quantile of page time."""

TIMES: dict[HarmMeasure, str] = {
    "page_time_mean": "page_ms",
    "short_flow_time": "short_flow_ms",
    "probe_p95": "probe_p95_ms",
}
"""Harm measures that are a mean time, with its column."""

PAYLOAD_OF_FRAME = MSS_TIMESTAMPS / (MSS_TIMESTAMPS + FRAME_OVERHEAD)
"""Payload's share of a full segment on the wire."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gain:
    """Mean page time that a candidate saves against another window, in percent."""

    estimate: Estimate
    pages: int
    seeds: int
    """Smallest number of paired seeds of a page."""
    typical_percent: float
    """Hodges-Lehmann estimate over the gains of single pages: robust against tails."""
    p_value: float
    """Wilcoxon signed-rank test over the gains of single pages."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Harm:
    """The candidate's worsening over the incumbent, or its own level, in the unit of a margin."""

    estimate: Estimate
    silent_loads: float | None = None
    """Independent loads of the candidate if none has an event: then all bootstrap replicates are zero. Else None."""
    others_silent_loads: float | None = None
    """The same for the incumbent, if the harm is a difference of two shares."""
    incumbents_level: Harm | None = None
    """Set if this is a level."""
    over_incumbent: Harm | None = None
    """The candidate's level less the incumbent's; set if this is a level."""

    def is_broken_by_incumbent(self, limit: float) -> bool:
        """Return whether the incumbent's level reaches the limit: it is due to networks and pages then."""
        return self.incumbents_level is not None and self.incumbents_level.estimate.value >= limit

    def interval(self, confidence: float) -> Interval:
        """Two-sided interval, in percent or percentage points, widened for events too rare to occur."""
        found = self.estimate.interval(confidence)
        return Interval(
            found.estimate,
            found.lower - unseen_percent(self.others_silent_loads, confidence),
            found.upper + unseen_percent(self.silent_loads, confidence),
        )


def unseen_percent(silent_loads: float | None, confidence: float) -> float:
    """Clopper-Pearson upper bound, in percent, with zero events in `silent_loads` loads.

    It bounds the share of any unit within loads (bytes, responses), for at most all units of a load have the event.

    >>> round(unseen_percent(100, 0.95), 2), unseen_percent(None, 0.95)
    (3.62, 0.0)
    """
    return 0.0 if silent_loads is None else 100 * (1 - ((1 - confidence) / 2) ** (1 / silent_loads))


def gain(pair: WindowPair) -> Gain:
    """Estimate the gain: from the ratio of population-weighted mean page times, with pages as clusters."""
    sample = pair.sample("page_ms")
    times = sample.weighted(sample.candidate["page_ms"], sample.other["page_ms"])
    estimate = sample.bootstrap(times, lambda means: 100 * (1 - means[:, 0] / means[:, 1]))
    seeds = sample.complete.sum(axis=1)
    by_page = np.where(sample.complete[..., np.newaxis], times, 0.0).sum(axis=1) / seeds[:, np.newaxis]
    page_gains = 100 * (1 - by_page[:, 0] / by_page[:, 1])
    return Gain(
        estimate=estimate,
        pages=len(page_gains),
        seeds=int(seeds.min()),
        typical_percent=hodges_lehmann(page_gains),
        p_value=wilcoxon_signed_rank(page_gains),
    )


def harm(pair: WindowPair, margin: Margin) -> Harm:
    """Estimate the harm that `margin` bounds, in the margin's unit; raises TooFewLoads."""
    if margin.measure in SHARES:
        return _share_harm(pair, margin)
    if margin.measure in TIMES:
        return _time_harm(pair, margin)
    if margin.measure == "bulk_time":
        return _bulk_harm(pair)
    return _quantile_harm(pair, margin)


def _sample(pair: WindowPair, *columns: str) -> Sample:
    return pair.sample(*columns, minimum_pages=pair.rule.minimum_pages)


def _worsening_percent(means: Floats) -> Floats:
    return 100 * (means[:, 0] / means[:, 1] - 1)


def _time_harm(pair: WindowPair, margin: Margin) -> Harm:
    """Harm to a mean time, in percent or milliseconds."""
    column = TIMES[margin.measure]
    sample = _sample(pair, column)
    times = sample.weighted(sample.candidate[column], sample.other[column])
    if margin.unit == "ms":
        return Harm(estimate=sample.bootstrap(times, lambda means: means[:, 0] - means[:, 1]))
    return Harm(estimate=sample.bootstrap(times, _worsening_percent))


def _bulk_harm(pair: WindowPair) -> Harm:
    """Time that a bulk flow takes longer for the bytes that it receives during a load at the other window.

    If the page's load ends sooner, the flow receives its remaining bytes at the full rate of the bottleneck.
    """
    sample = _sample(pair, "page_ms", "competition_bytes")
    payload_per_ms = pair.loads.down_bps * PAYLOAD_OF_FRAME / 8e3
    remaining_ms = (
        sample.other["competition_bytes"] - sample.candidate["competition_bytes"]
    ) / payload_per_ms
    times = sample.weighted(sample.candidate["page_ms"] + remaining_ms, sample.other["page_ms"])
    return Harm(estimate=sample.bootstrap(times, _worsening_percent))


def _quantile_harm(pair: WindowPair, margin: Margin) -> Harm:
    """Harm to a quantile of page time, in percent."""
    rule, share = pair.rule, QUANTILES[margin.measure]
    sample = _sample(pair, "page_ms")
    counted = sample.has_weight
    loads = int(sample.complete.sum() * counted.sum())
    needed = round(rule.quantile_loads / (1 - share))
    if loads < needed:
        raise TooFewLoads(f"needs {needed} paired loads, has {loads}")
    ratio = bootstrap_quantile_ratio(
        sample.candidate["page_ms"][..., counted],
        sample.other["page_ms"][..., counted],
        sample.complete,
        profile_weights=sample.weights[counted],
        share=share,
        replicates=rule.replicates,
        seed=rule.bootstrap_seed,
    )
    return Harm(estimate=Estimate(100 * (ratio.value - 1), 100 * (ratio.replicates - 1)))


def _share_harm(pair: WindowPair, margin: Margin) -> Harm:
    """Harm to a share, in percentage points; a level also has the incumbent's level and the worsening."""
    part, whole = SHARES[margin.measure]
    sample = _sample(pair, part, whole)
    sides = (sample.candidate, sample.other)
    columns = sample.weighted(*(side[name] for side in sides for name in (part, whole)))
    silent, others_silent = (_silent_loads(sample, side[part]) for side in sides)
    worsening = Harm(
        estimate=sample.bootstrap(
            columns, lambda means: 100 * (means[:, 0] / means[:, 1] - means[:, 2] / means[:, 3])
        ),
        silent_loads=silent,
        others_silent_loads=others_silent,
    )
    if not margin.is_level:
        return worsening
    return Harm(
        estimate=sample.bootstrap(columns, lambda means: 100 * means[:, 0] / means[:, 1]),
        silent_loads=silent,
        incumbents_level=Harm(
            estimate=sample.bootstrap(columns, lambda means: 100 * means[:, 2] / means[:, 3]),
            silent_loads=others_silent,
        ),
        over_incumbent=worsening,
    )


def _silent_loads(sample: Sample, events: Floats) -> float | None:
    """Independent loads if none has an event, else None; divided by the largest weight, since that profile hides most."""
    if (events[sample.complete][:, sample.has_weight] > 0).any():
        return None
    return float(sample.complete.sum() / sample.weights.max())
