"""The report's section on sizes: shares that fit into each window, with intervals, and quantiles."""

import dataclasses
from collections.abc import Mapping, Sequence

from typing_extensions import TypedDict

from releases.catalogue import Release
from releases.cdf import Cdf, count_incomplete, read_cdfs
from releases.distributions import share_intervals
from releases.interval import Interval
from releases.slow_start import MSS_FIG1, WINDOWS
from schema.computed_tables import MEASURES

PERCENTS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)
"""Quantiles that the report states."""

HEADLINE = ("first_flights", "responses_iw_limited", "responses", "pages")
"""Measures that the report opens with."""


BAND_POINTS = 50
"""Points of a curve's band, at quantiles evenly apart."""


class Share(TypedDict):
    """How much of a measure fits into a window."""

    iw: int
    window_bytes: int
    fitting: int
    percent: float | None
    """None where most sizes are unknown: that of the few known ones would mislead."""
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
    shares: list[Share]
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
    """What a report states of the sizes of a release."""

    content: Sizes
    cdfs: Mapping[str, Cdf]
    """The CDF of each measure."""
    bands: Mapping[str, Mapping[int, Interval]]
    """Intervals of cumulative shares by measure and size in bytes, from the smallest on,
    of the measures in HEADLINE that can be stated and that enough sites have."""


def size_section(release: Release, *, windows: Sequence[int] = WINDOWS) -> SizeCounts:
    """Count the items of known and unknown size of each measure,
    with shares that fit into each window and quantiles.

    A share is None where most sizes of its measure are unknown: that of the few known ones would mislead.
    """
    cdfs = read_cdfs(release.file("distribution"))
    marked = [iw * MSS_FIG1 for iw in windows]
    along = {name: band_sizes(cdfs[name], marked) for name in HEADLINE if cdfs[name].is_stated}
    intervals = share_intervals(release, sizes={name: along.get(name, marked) for name in MEASURES})
    return SizeCounts(
        content=size_content(cdfs, intervals, windows=windows),
        cdfs=cdfs,
        bands={
            name: {size: intervals[name, size] for size in sizes if size >= cdfs[name].sizes[0]}
            for name, sizes in along.items()
            if (name, sizes[0]) in intervals
        },
    )


def band_sizes(cdf: Cdf, marked: Sequence[int]) -> list[int]:
    """Return sizes at which a share has an interval: the smallest, quantiles, and the marked sizes."""
    quantiles = (cdf.quantile(round(100 * at / BAND_POINTS)) for at in range(1, BAND_POINTS))
    return sorted({int(cdf.sizes[0]), *quantiles, *marked})


def size_content(
    cdfs: Mapping[str, Cdf],
    intervals: Mapping[tuple[str, int], Interval],
    *,
    windows: Sequence[int],
) -> Sizes:
    """Return the part `sizes` of report.json; intervals are by measure and size in bytes."""
    apart, share = count_incomplete(cdfs)
    return {
        "mss_bytes": MSS_FIG1,
        "windows": list(windows),
        "headline": list(HEADLINE),
        "incomplete_responses": {"count": apart, "percent": None if share is None else 100 * share},
        "measures": [
            {
                "id": measure,
                "definition": definition,
                "known": cdf.known,
                "unknown": cdf.unknown,
                "is_stated": cdf.is_stated,
                "shares": [_share(cdf, iw, intervals.get((measure, iw * MSS_FIG1))) for iw in windows],
                "quantiles_bytes": {
                    f"p{percent}": cdf.quantile(percent) for percent in PERCENTS if cdf.known
                },
            }
            for measure, definition in MEASURES.items()
            for cdf in (cdfs[measure],)
        ],
    }


def _share(cdf: Cdf, iw: int, interval: Interval | None) -> Share:
    fit = cdf.fit(iw, mss=MSS_FIG1)
    return {
        "iw": iw,
        "window_bytes": fit.window_bytes,
        "fitting": fit.count,
        "percent": 100 * fit.count / cdf.known if cdf.is_stated else None,
        "lower_percent": 100 * interval.lower if interval and cdf.is_stated else None,
        "upper_percent": 100 * interval.upper if interval and cdf.is_stated else None,
    }
