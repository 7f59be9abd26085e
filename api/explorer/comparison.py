"""Distributions of several releases on common axes: the content of the explorer's figure, table and files."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from api.stored.held_cdfs import HeldCdf
from releases.strata.statistics import Estimate, Statistic, estimate
from schema.computed_tables import MEASURES

STEPS = 240
"""Approximate number of steps drawn of each CDF: more than a figure has pixels from one share to the next."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """The CDF of one measure in one release."""

    release: str
    """Name of the crawl and version of its release."""
    measure: str
    known: int
    unknown: int
    shares: tuple[Estimate, ...]
    """Share that fits into each window of the comparison."""
    median: Estimate
    p95: Estimate
    """95th percentile."""
    steps: tuple[tuple[int, float], ...]
    """Size in bytes and share of items of at most that size, exact at each window; empty if the shares are unknown."""

    @property
    def unknown_because(self) -> str | None:
        """Why shares and quantiles are unknown; None if they are known."""
        return self.median.value_unknown


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """The curves of one measure, one for each release."""

    measure: str
    curves: tuple[Curve, ...]

    @property
    def definition(self) -> str:
        """Definition of the measure."""
        return MEASURES[self.measure]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Panels that share their axes, and the windows that all are compared with."""

    releases: tuple[str, ...]
    panels: tuple[Panel, ...]
    windows: tuple[tuple[int, int], ...]
    """Each window in segments and in bytes, the smallest first."""
    mss: int

    @property
    def decades(self) -> tuple[int, int]:
        """Exponents of the powers of ten that enclose every size and window, at least one apart."""
        ends = [
            curve.steps[end][0]
            for panel in self.panels
            for curve in panel.curves
            if curve.steps
            for end in (0, -1)
        ]
        sizes = [max(size, 1) for size in (*ends, *(size for _, size in self.windows))]
        low = math.floor(math.log10(min(sizes)))
        return low, max(math.ceil(math.log10(max(sizes))), low + 1)


def compare(
    held: Mapping[str, Mapping[str, HeldCdf]], *, measures: Sequence[str], windows: Sequence[int], mss: int
) -> Comparison:
    """The `measures` of releases, whose CDFs are given by the releases' names, compared with `windows` in segments."""
    ordered = sorted(set(windows))
    return Comparison(
        releases=tuple(held),
        panels=tuple(
            Panel(
                measure=measure,
                curves=tuple(
                    _curve(cdfs[measure], release=release, measure=measure, windows=ordered, mss=mss)
                    for release, cdfs in held.items()
                ),
            )
            for measure in measures
        ),
        windows=tuple((iw, iw * mss) for iw in ordered),
        mss=mss,
    )


def _curve(held: HeldCdf, *, release: str, measure: str, windows: Sequence[int], mss: int) -> Curve:
    cdf = held.cdf
    shares = tuple(estimate(Statistic(name="share", iw=iw, mss=mss, percent=50), cdf) for iw in windows)
    median, p95 = (
        estimate(Statistic(name="quantile", iw=1, mss=mss, percent=percent), cdf) for percent in (50, 95)
    )
    return Curve(
        release=release,
        measure=measure,
        known=cdf.known,
        unknown=cdf.unknown,
        shares=shares,
        median=median,
        p95=p95,
        steps=_steps(held, [iw * mss for iw in windows]) if median.value_unknown is None else (),
    )


def _steps(held: HeldCdf, exact: Sequence[int]) -> tuple[tuple[int, float], ...]:
    """Steps to draw, with the value at each size of `exact` that is not below the smallest item."""
    thinned = dict(held.points(STEPS).steps)
    values = {size: held.cdf.fit(1, mss=size).share for size in exact}
    return tuple(sorted((thinned | {size: share for size, share in values.items() if share}).items()))
