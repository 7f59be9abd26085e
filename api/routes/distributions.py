"""Distributions of a release as the API and the pages show them: shares that fit, quantiles and thinned CDFs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from api.stored.held import HeldCdf, Points
from releases.cdf import LEAST_KNOWN_SHARE, Fit
from releases.strata.sample import Sample
from releases.strata.statistics import FEW_SITES, NO_KNOWN_SIZE, NO_SITES
from schema.computed_tables import MEASURES

PERCENTS = (5, 10, 25, 50, 75, 90, 95, 99)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Distribution:
    """The distribution of one measure of one release."""

    measure: str
    known: int
    unknown: int
    fits: tuple[Fit, ...]
    quantiles: tuple[tuple[int, int], ...]
    """(percent, size in bytes) for each of PERCENTS; empty if no size is known."""
    points: Points
    sites: int | None = None
    """Sites with an item of known size; None if the release does not say."""
    fit_intervals: tuple[tuple[float, float], ...] = ()
    """Of the share of each of `fits`; empty if they are unknown."""
    quantile_intervals: tuple[tuple[int, int], ...] = ()
    """In bytes, of each of `quantiles`; empty if they are unknown."""
    band: tuple[tuple[float, float], ...] = ()
    """Intervals of the share at each of `points`; empty if they are unknown or were not asked for."""
    interval_unknown: str | None = NO_SITES
    """Why the intervals are unknown; None if they are known."""

    @property
    def is_stated(self) -> bool:
        """Return whether enough sizes are known to state a share of them as that of all."""
        return self.known > 0 and self.known >= LEAST_KNOWN_SHARE * (self.known + self.unknown)

    @property
    def definition(self) -> str:
        """Definition of the measure."""
        return MEASURES[self.measure]


def distributions(
    held: Mapping[str, HeldCdf],
    *,
    measures: Sequence[str],
    windows: Sequence[int],
    mss: int,
    points: int,
    samples: Mapping[str, Sample] | None = None,
    has_bands: bool = False,
) -> list[Distribution]:
    """The `measures` of a release compared with `windows` of full segments, with intervals of those that have `samples`.

    `has_bands` asks for the intervals of the thinned CDF's points too.
    """
    found = [
        Distribution(
            measure=name,
            known=held[name].cdf.known,
            unknown=held[name].cdf.unknown,
            fits=tuple(held[name].cdf.fit(iw, mss=mss) for iw in windows),
            quantiles=tuple((percent, held[name].cdf.quantile(percent)) for percent in PERCENTS)
            if held[name].cdf.known
            else (),
            points=held[name].points(points),
        )
        for name in measures
    ]
    samples = samples or {}
    return [
        _with_intervals(one, samples[one.measure], has_bands=has_bands) if one.measure in samples else one
        for one in found
    ]


def share_band(sample: Sample, sizes: Iterable[int]) -> tuple[tuple[float, float], ...]:
    """The interval of the share of items up to each of `sizes`, in bytes."""
    return tuple(sample.share_intervals([sample.cdf.fit(1, mss=size).count for size in sizes]))


def _with_intervals(distribution: Distribution, sample: Sample, *, has_bands: bool) -> Distribution:
    why = None if sample.has_intervals else FEW_SITES if sample.sites else NO_KNOWN_SIZE
    known = dataclasses.replace(distribution, sites=sample.sites, interval_unknown=why)
    if why is not None:
        return known
    return dataclasses.replace(
        known,
        fit_intervals=tuple(sample.share_intervals([fit.count for fit in known.fits])),
        quantile_intervals=tuple(sample.quantile_intervals([percent for percent, _ in known.quantiles])),
        band=share_band(sample, [size for size, _ in known.points.steps]) if has_bands else (),
    )
