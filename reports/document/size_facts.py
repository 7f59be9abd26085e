"""How much fits: shares with intervals and quantiles of every measure, as facts of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from releases.cdf import read_cdfs
from releases.distributions import share_intervals
from releases.slow_start import MSS_FIG1, WINDOWS
from schema.computed_tables import MEASURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from releases.catalogue import Release

PERCENTS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)
"""Quantiles that the report states."""

HEADLINE = ("first_flights", "responses_iw_limited", "responses", "pages")
"""Measures that the report opens with."""


def size_facts(release: Release, *, windows: Sequence[int] = WINDOWS, mss: int = MSS_FIG1) -> dict[str, Any]:
    """For each measure: items of known and of unknown size, the share that fits into each window, quantiles."""
    intervals = share_intervals(release, measures=list(MEASURES), windows=windows, mss=mss)
    cdfs = read_cdfs(release.file("distribution"))
    measures = []
    for measure, definition in MEASURES.items():
        cdf = cdfs[measure]
        measures.append(
            {
                "id": measure,
                "definition": definition,
                "known": cdf.known,
                "unknown": cdf.unknown,
                "shares": [
                    {
                        "iw": fit.iw,
                        "window_bytes": fit.window_bytes,
                        "fitting": fit.count,
                        "percent": 100 * fit.count / cdf.known if cdf.known else None,
                        "lower_percent": _end(intervals.get((measure, fit.iw)), "lower"),
                        "upper_percent": _end(intervals.get((measure, fit.iw)), "upper"),
                    }
                    for fit in (cdf.fit(iw, mss=mss) for iw in windows)
                ],
                "quantiles_bytes": {
                    f"p{percent}": cdf.quantile(percent) for percent in PERCENTS if cdf.known
                },
            }
        )
    return {"mss_bytes": mss, "windows": list(windows), "headline": list(HEADLINE), "measures": measures}


def _end(interval: object | None, end: str) -> float | None:
    return None if interval is None else 100 * float(getattr(interval, end))
