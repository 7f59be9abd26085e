"""The report's section on sizes: shares that fit into each window, with intervals, and quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from releases.catalogue import Release
from releases.cdf import Cdf, incomplete, read_cdfs
from releases.distributions import share_intervals
from releases.interval import Interval
from releases.slow_start import MSS_FIG1, WINDOWS
from schema.computed_tables import MEASURES

PERCENTS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)
"""Quantiles that the report states."""

HEADLINE = ("first_flights", "responses_iw_limited", "responses", "pages")
"""Measures that the report opens with."""


def size_section(
    release: Release, *, windows: Sequence[int] = WINDOWS, mss: int = MSS_FIG1
) -> dict[str, Any]:
    """Count the items of known and unknown size of each measure, with shares that fit into each window and quantiles.

    A share is None where most sizes of its measure are unknown: that of the few known ones would mislead.
    """
    intervals = share_intervals(release, measures=list(MEASURES), windows=windows, mss=mss)
    cdfs = read_cdfs(release.file("distribution"))
    apart, share = incomplete(cdfs)
    return {
        "mss_bytes": mss,
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
                "shares": [_share(cdf, iw, mss, intervals.get((measure, iw))) for iw in windows],
                "quantiles_bytes": {
                    f"p{percent}": cdf.quantile(percent) for percent in PERCENTS if cdf.known
                },
            }
            for measure, definition in MEASURES.items()
            for cdf in (cdfs[measure],)
        ],
    }


def _share(cdf: Cdf, iw: int, mss: int, interval: Interval | None) -> dict[str, Any]:
    fit = cdf.fit(iw, mss=mss)
    return {
        "iw": iw,
        "window_bytes": fit.window_bytes,
        "fitting": fit.count,
        "percent": 100 * fit.count / cdf.known if cdf.is_stated else None,
        "lower_percent": 100 * interval.lower if interval and cdf.is_stated else None,
        "upper_percent": 100 * interval.upper if interval and cdf.is_stated else None,
    }
