"""Distributions of a release as the API and the pages show them: shares that fit,
quantiles and thinned CDFs."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from api.stored.held import HeldSample, Points
from releases.cdf import Fit, is_stated
from releases.strata.sample import Sample
from releases.strata.statistics import FEW_SITES, NO_KNOWN_SIZE
from schema.computed_tables import MEASURES


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Distribution:
    """The distribution of one measure of one release."""

    measure: str
    known: int
    unknown: int
    fits: tuple[Fit, ...]
    quantiles: tuple[tuple[int, int], ...]
    """(percent, size in bytes) for each of `stored.held.PERCENTS`; empty if no size is known."""
    points: Points
    sites: int
    """Sites with an item of known size."""
    fit_intervals: tuple[tuple[float, float], ...] = ()
    """Of the share of each of `fits`; empty if they are unknown."""
    quantile_intervals: tuple[tuple[int, int], ...] = ()
    """In bytes, of each of `quantiles`; empty if they are unknown."""
    interval_unknown: str | None
    """Why the intervals are unknown; None if they are known."""

    @property
    def is_stated(self) -> bool:
        """Return whether enough sizes are known to state a share of them as that of all."""
        return is_stated(self)

    @property
    def definition(self) -> str:
        """Definition of the measure."""
        return MEASURES[self.measure]


def distributions(
    samples: Mapping[str, HeldSample],
    *,
    windows: Sequence[int],
    mss: int,
    points: int,
) -> list[Distribution]:
    """The samples of a release's measures compared with `windows` of full segments, with intervals."""
    return [
        _distribution(measure, held, windows=windows, mss=mss, points=points)
        for measure, held in samples.items()
    ]


def share_band(sample: Sample, sizes: Iterable[int]) -> tuple[tuple[float, float], ...]:
    """The interval of the share of items up to each of `sizes`, in bytes."""
    return tuple(sample.share_intervals([sample.cdf.fit(1, mss=size).count for size in sizes]))


def _distribution(
    measure: str, held: HeldSample, *, windows: Sequence[int], mss: int, points: int
) -> Distribution:
    sample, cdf = held.sample, held.sample.cdf
    fits = tuple(cdf.fit(iw, mss=mss) for iw in windows)
    why = None if sample.has_intervals else FEW_SITES if sample.sites else NO_KNOWN_SIZE
    return Distribution(
        measure=measure,
        known=cdf.known,
        unknown=cdf.unknown,
        sites=sample.sites,
        fits=fits,
        quantiles=held.quantiles,
        points=held.points(points),
        fit_intervals=tuple(sample.share_intervals([fit.count for fit in fits])) if why is None else (),
        quantile_intervals=held.quantile_intervals,
        interval_unknown=why,
    )
