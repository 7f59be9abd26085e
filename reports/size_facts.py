"""How much fits: shares with intervals and quantiles of every measure, as facts of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reports.distributions import quantiles, share, share_intervals
from reports.slowstart import MSS_FIG1
from schema.derived import MEASURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schema.releases import Release

WINDOWS = (3, 10, 16, 30)
"""Windows of the tables; the recommended one joins them."""

HEADLINE = ("first_flights", "responses_iw_limited", "responses", "pages")
"""Measures that the report opens with."""


def size_facts(release: Release, *, windows: Sequence[int] = WINDOWS, mss: int = MSS_FIG1) -> dict[str, Any]:
    """Of each measure: members known and unknown, the share that fits each window, quantiles."""
    intervals = share_intervals(release, measures=list(MEASURES), windows=windows, mss=mss)
    measures = []
    for measure, definition in MEASURES.items():
        fits = [share(release, measure, iw=iw, mss=mss) for iw in windows]
        measures.append(
            {
                "id": measure,
                "definition": definition,
                "known": fits[0].known,
                "unknown": fits[0].unknown,
                "shares": [
                    {
                        "iw": fit.iw,
                        "window_bytes": fit.window_bytes,
                        "fitting": fit.fitting,
                        "percent": None if fit.share is None else 100 * fit.share,
                        "lower_percent": _end(intervals.get((measure, fit.iw)), "lower"),
                        "upper_percent": _end(intervals.get((measure, fit.iw)), "upper"),
                    }
                    for fit in fits
                ],
                "quantiles_bytes": {
                    f"p{percent}": size for percent, size in quantiles(release, measure).items()
                },
            }
        )
    return {"mss_bytes": mss, "windows": list(windows), "headline": list(HEADLINE), "measures": measures}


def _end(interval: object | None, end: str) -> float | None:
    return None if interval is None else 100 * float(getattr(interval, end))
