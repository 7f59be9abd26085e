"""Effects of windows compared with another, estimated from paired loads: page time saved, and harm.

Every effect is a mean over pages, of each page's mean over networks and seeds; its intervals hold together
for all windows that were compared with the same one.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from releases.interval import Interval
from releases.slow_start import FRAME_OVERHEAD, MSS_TIMESTAMPS
from reports.recommendation.rule import HarmMeasure, Margin
from reports.recommendation.window_family import Sample, TooFewLoads, WindowFamily
from reports.statistics.bootstrap import Floats, hodges_lehmann
from reports.statistics.exact import clopper_pearson
from reports.statistics.quantiles import quantile_ratios
from reports.statistics.signed_rank import wilcoxon_signed_rank
from reports.statistics.simultaneous import LEAST_PAGES, PageMeans, page_means

SHARES: dict[HarmMeasure, tuple[str, str]] = {
    "retransmitted_bytes": ("bytes_retransmitted", "payload_bytes"),
    "responses_retransmitted": ("responses_own_retransmitted", "responses"),
    "connections_initial_loss": ("connections_initial_loss", "connections"),
}
"""Harm measures that are one count over another, with the columns of both."""

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

Scale = Literal["saved", "longer", "plain"]
"""Log ratios shown as a percentage saved or longer, or values shown as they are."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Effect:
    """One window's effect, with intervals that hold together with those of the other windows."""

    means: PageMeans
    column: int
    """The window's column of `means`."""
    scale: Scale
    rare: Rare | None = None
    """Set if too few pages have an event for their spread to be known."""

    @property
    def value(self) -> float:
        """The estimate, in percent, percentage points or milliseconds."""
        return self._shown(float(self.means.means[self.column]))

    @property
    def pages(self) -> int:
        """Pages that the effect is a mean of."""
        return self.means.pages

    def interval(self, confidence: float) -> Interval:
        """Two-sided simultaneous interval; the estimate alone with a confidence of 0."""
        if confidence == 0:
            return Interval(self.value, self.value, self.value)
        if self.rare:
            return self.rare.interval(self.value, confidence)
        found = self.means.intervals(confidence)[self.column]
        ends = sorted((self._shown(found.lower), self._shown(found.upper)))
        return Interval(self.value, *ends)

    def _shown(self, value: float) -> float:
        if self.scale == "plain":
            return value
        ratio = math.exp(min(value, 700.0))
        return 100 * (1 - ratio if self.scale == "saved" else ratio - 1)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rare:
    """Numbers of pages with an event, where they are too few to show how large an event is.

    A page's share is at most whole, so that the share of pages with an event bounds the mean over pages.
    """

    pages: int
    with_event: int
    """Pages with an event at the candidate."""
    others_with_event: int | None
    """Pages with an event at the other window; None for a level."""

    def interval(self, value: float, confidence: float) -> Interval:
        """Interval in percentage points by Clopper and Pearson,
        whose ends are those of the worst sizes of events."""
        upper = 100 * clopper_pearson(self.with_event, self.pages, confidence)[1]
        lower = (
            0.0
            if self.others_with_event is None
            else -100 * clopper_pearson(self.others_with_event, self.pages, confidence)[1]
        )
        return Interval(value, min(lower, value), max(upper, value))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gain:
    """Page time that a candidate saves against another window, in percent:
    the mean over pages of the log ratio."""

    effect: Effect
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

    effect: Effect
    incumbents_level: float | None = None
    """Set if this is a level."""
    over_incumbent: Effect | None = None
    """The candidate's level less the incumbent's; set if this is a level."""

    def is_broken_by_incumbent(self, limit: float) -> bool:
        """Return whether the incumbent's level reaches the limit: it is due to networks and pages then."""
        return self.incumbents_level is not None and self.incumbents_level >= limit


def gains(family: WindowFamily, column: str = "page_ms") -> dict[int, Gain]:
    """The gain of each window in a column of times; raises TooFewLoads."""
    found = family.by_page(
        [column],
        lambda sample, window: log_ratio(sample, family, window, column),
        least_pages=LEAST_PAGES,
    )
    effects = _effects(family, found, "saved")
    seeds = min(int(sample.complete.sum(axis=1).min()) for sample, _ in family.samples([column]))
    return {
        window: Gain(
            effect=effect,
            pages=effect.pages,
            seeds=seeds,
            typical_percent=hodges_lehmann(100 * (1 - np.exp(found[window]))),
            p_value=wilcoxon_signed_rank(-found[window]),
        )
        for window, effect in effects.items()
    }


def harms(family: WindowFamily, margin: Margin) -> dict[int, Harm]:
    """The harm of each window that `margin` bounds, in the margin's unit; raises TooFewLoads."""
    if margin.measure in SHARES:
        return _share_harms(family, margin)
    if margin.measure in QUANTILES:
        return _quantile_harms(family, QUANTILES[margin.measure])
    columns, value = _times(family, margin)
    found = family.by_page(columns, value, least_pages=family.rule.minimum_pages)
    effects = _effects(family, found, "plain" if margin.unit == "ms" else "longer")
    return {window: Harm(effect=effect) for window, effect in effects.items()}


def _effects(family: WindowFamily, found: Mapping[int, Floats], scale: Scale) -> dict[int, Effect]:
    means = page_means(
        np.stack([found[window] for window in family.windows], axis=1),
        seed=family.rule.bootstrap_seed,
        replicates=family.rule.replicates,
    )
    return {
        window: Effect(means=means, column=column, scale=scale)
        for column, window in enumerate(family.windows)
    }


def saved_percent(longer: Interval) -> Interval:
    """Percentage saved, from the interval of a log ratio of times."""
    estimate, upper, lower = (
        100 * (1 - math.exp(min(end, 700.0))) for end in (longer.estimate, longer.lower, longer.upper)
    )
    return Interval(estimate, lower, upper)


def log_ratio(sample: Sample, family: WindowFamily, window: int, column: str) -> Floats:
    """Each page's mean log ratio of a time at a window over that at the family's other window."""
    return sample.by_page(np.log(sample.at[window][column] / sample.at[family.other][column]))


def _times(family: WindowFamily, margin: Margin) -> tuple[list[str], Callable[[Sample, int], Floats]]:
    """The columns and the page's value of a mean time: a log ratio, or a difference in milliseconds."""
    if margin.measure == "bulk_time":
        return ["page_ms", "competition_bytes"], lambda sample, window: _bulk(sample, family.other, window)
    column = TIMES[margin.measure]
    if margin.unit == "ms":
        return [column], lambda sample, window: sample.by_page(
            sample.at[window][column] - sample.at[family.other][column]
        )
    return [column], lambda sample, window: log_ratio(sample, family, window, column)


def _bulk(sample: Sample, other: int, window: int) -> Floats:
    """Log ratio of the time that a bulk flow takes for the bytes that it receives
    during a load at the other window.

    If the page's load ends sooner, the flow receives its remaining bytes at the full rate of the bottleneck.
    """
    payload_per_ms = sample.down_bps * PAYLOAD_OF_FRAME / 8e3
    mine, others = sample.at[window], sample.at[other]
    remaining_ms = (others["competition_bytes"] - mine["competition_bytes"]) / payload_per_ms
    # A flow that received far more needs no time less than none.
    return sample.by_page(np.log(np.maximum(mine["page_ms"] + remaining_ms, 1e-3) / others["page_ms"]))


def _quantile_harms(family: WindowFamily, share: float) -> dict[int, Harm]:
    """Harm to a quantile of page time, in percent."""
    rule = family.rule
    ((sample, _),) = family.samples(["page_ms"])
    pages, loads = len(sample.pages), int(sample.complete.sum() * len(sample.weights))
    needed = round(rule.quantile_loads / (1 - share))
    if pages < rule.minimum_pages or loads < needed:
        raise TooFewLoads(
            f"needs {needed} paired loads of {rule.minimum_pages} pages, has {loads} of {pages}"
        )
    means = quantile_ratios(
        [sample.at[window]["page_ms"] for window in family.windows],
        sample.at[family.other]["page_ms"],
        sample.complete,
        profile_weights=sample.weights,
        share=share,
        replicates=rule.replicates,
        seed=rule.bootstrap_seed,
    )
    return {
        window: Harm(effect=Effect(means=means, column=column, scale="longer"))
        for column, window in enumerate(family.windows)
    }


def _share_harms(family: WindowFamily, margin: Margin) -> dict[int, Harm]:
    """Harm to a share, in percentage points of a page's whole;
    a level also has the incumbent's level and the worsening."""
    part, whole = SHARES[margin.measure]
    permanent, before = family.rule.permanent_incumbent, margin.over_step_from
    step = () if before is None else (before, permanent)
    everyone = dataclasses.replace(
        family, windows=tuple(dict.fromkeys((*family.windows, family.other, *step)))
    )

    def share(sample: Sample, window: int) -> Floats:
        counts, totals = (sample.by_page(sample.at[window][name]) for name in (part, whole))
        return np.divide(100 * counts, totals, out=np.zeros_like(counts), where=totals > 0)

    levels = everyone.by_page([part, whole], share, least_pages=family.rule.minimum_pages)
    others = levels[family.other]
    worse = {window: levels[window] - others for window in family.windows}
    if before is not None:
        accepted = levels[permanent] - levels[before]
        beyond = {window: one - accepted for window, one in worse.items()}
        effects = _rare_or_not(family, beyond, levels, others + levels[permanent] + levels[before])
        return {window: Harm(effect=effect) for window, effect in effects.items()}
    own = {window: levels[window] for window in family.windows}
    worsening = _rare_or_not(family, worse, levels, others)
    if not margin.is_level:
        return {window: Harm(effect=effect) for window, effect in worsening.items()}
    return {
        window: Harm(effect=effect, incumbents_level=float(others.mean()), over_incumbent=worsening[window])
        for window, effect in _rare_or_not(family, own, levels, None).items()
    }


def _rare_or_not(
    family: WindowFamily, found: Mapping[int, Floats], levels: Mapping[int, Floats], others: Floats | None
) -> dict[int, Effect]:
    """Effects whose intervals are Clopper and Pearson's where few pages have an event at either window."""
    effects = _effects(family, found, "plain")
    for window, effect in effects.items():
        mine = levels[window] > 0
        theirs = others > 0 if others is not None else np.zeros_like(mine)
        if (mine | theirs).sum() < family.rule.rare_pages:
            rare = Rare(
                pages=len(mine),
                with_event=int(mine.sum()),
                others_with_event=None if others is None else int(theirs.sum()),
            )
            effects[window] = dataclasses.replace(effect, rare=rare)
    return effects
