"""The report's section on sizes: shares that fit into each window, with intervals, and quantiles."""

import dataclasses
from collections.abc import Mapping, Sequence

from typing_extensions import TypedDict

from recordings.pages.same_sites import sites_of
from releases.catalogue import Release
from releases.cdf import Cdf, count_incomplete
from releases.interval import Interval
from releases.slow_start import MSS_FIG1, WINDOWS
from releases.strata.cells import read_items
from releases.strata.sample import WHOLE, Sample
from schema.computed_tables import SIZES

PERCENTS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)

HEADLINE = ("first_flights", "responses_iw_limited", "responses", "pages")


BAND_POINTS = 50


class FittingShare(TypedDict):
    """The share of a measure's items that fits into a window."""

    iw: int
    window_bytes: int
    fitting: int
    percent: float | None
    """None where most sizes are unknown: the share of the few known ones would mislead."""
    lower_percent: float | None
    upper_percent: float | None


class Measure(TypedDict):
    """Counts, shares and quantiles of one measure of size."""

    id: str
    definition: str
    known: int
    unknown: int
    is_stated: bool
    """True if enough sizes are known to state shares."""
    shares: list[FittingShare]
    quantiles_bytes: dict[str, int]


class Incomplete(TypedDict):
    """Responses that broke off or had not ended, which are counted apart."""

    count: int
    percent: float | None


class Sizes(TypedDict):
    """The part `sizes` of report.json."""

    mss_bytes: int
    windows: list[int]
    headline: list[str]
    incomplete_responses: Incomplete
    measures: list[Measure]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SizeCounts:
    """The figures that a report states of the sizes of a release."""

    content: Sizes
    cdfs: Mapping[str, Cdf]
    bands: Mapping[str, Mapping[int, Interval]]
    """Intervals of cumulative shares by measure and size, from the smallest on, where enough is known."""


def size_section(release: Release, *, windows: Sequence[int] = WINDOWS) -> SizeCounts:
    """Count each measure, with shares that fit into each window, and quantiles.

    A share is None where most sizes are unknown: that of the few known ones would mislead.
    """
    measures: list[Measure] = []
    cdfs, bands = {}, {}
    sites = sites_of(release)
    for name in SIZES:
        sample = read_items(release.file("item"), name, sites).sample(WHOLE)
        measures.append(measure_of(name, sample, windows=windows))
        cdfs[name] = sample.cdf
        if name in HEADLINE and sample.cdf.is_stated and sample.has_intervals:
            bands[name] = band_of(sample, windows=windows)
    apart, share = count_incomplete(cdfs)
    content = Sizes(
        mss_bytes=MSS_FIG1,
        windows=list(windows),
        headline=list(HEADLINE),
        incomplete_responses={"count": apart, "percent": None if share is None else 100 * share},
        measures=measures,
    )
    return SizeCounts(content=content, cdfs=cdfs, bands=bands)


def measure_of(name: str, sample: Sample, *, windows: Sequence[int]) -> Measure:
    cdf = sample.cdf
    intervals: Sequence[Interval | None] = [None] * len(windows)
    if cdf.is_stated and sample.has_intervals:
        intervals = sample.shares_up_to(iw * MSS_FIG1 for iw in windows)
    return {
        "id": name,
        "definition": SIZES[name],
        "known": cdf.known,
        "unknown": cdf.unknown,
        "is_stated": cdf.is_stated,
        "shares": [_share(cdf, iw, interval) for iw, interval in zip(windows, intervals, strict=True)],
        "quantiles_bytes": {f"p{percent}": cdf.quantile(percent) for percent in PERCENTS if cdf.known},
    }


def _share(cdf: Cdf, iw: int, interval: Interval | None) -> FittingShare:
    fit = cdf.fit(iw, mss=MSS_FIG1)
    return {
        "iw": iw,
        "window_bytes": fit.window_bytes,
        "fitting": fit.count,
        "percent": 100 * fit.share if cdf.is_stated and fit.share is not None else None,
        "lower_percent": 100 * interval.lower if interval else None,
        "upper_percent": 100 * interval.upper if interval else None,
    }


def band_of(sample: Sample, *, windows: Sequence[int]) -> dict[int, Interval]:
    """Return the share up to the smallest size, quantiles, and each window from there on."""
    cdf = sample.cdf
    smallest = int(cdf.sizes[0])
    quantiles = (cdf.quantile(round(100 * at / BAND_POINTS)) for at in range(1, BAND_POINTS))
    marked = (iw * MSS_FIG1 for iw in windows)
    sizes = sorted({smallest, *quantiles, *(size for size in marked if size >= smallest)})
    return dict(zip(sizes, sample.shares_up_to(sizes), strict=True))
