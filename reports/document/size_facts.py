"""How much fits: shares with intervals and quantiles of every measure, as facts of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from releases.distributions import quantiles, share, share_intervals, steps
from releases.slow_start import MSS_FIG1
from schema.computed_tables import MEASURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from releases.catalogue import Release

WINDOWS = (3, 10, 16, 30)
"""Windows of the tables; the recommended one joins them."""

HEADLINE = ("first_flights", "responses_iw_limited", "responses", "pages")
"""Measures that the report opens with."""


def size_facts(release: Release, *, windows: Sequence[int] = WINDOWS, mss: int = MSS_FIG1) -> dict[str, Any]:
    """Of each measure: members known and unknown, the share that fits each window, quantiles."""
    intervals = share_intervals(release, measures=list(MEASURES), windows=windows, mss=mss)
    measures = []
    for measure, definition in MEASURES.items():
        least = share(release, measure, iw=windows[0], mss=mss)
        sizes, cumulative = steps(release, measure)
        fitting = {iw: _fitting(sizes, cumulative, iw * mss) for iw in windows}
        measures.append(
            {
                "id": measure,
                "definition": definition,
                "known": least.known,
                "unknown": least.unknown,
                "shares": [
                    {
                        "iw": iw,
                        "window_bytes": iw * mss,
                        "fitting": fitting[iw],
                        "percent": 100 * fitting[iw] / least.known if least.known else None,
                        "lower_percent": _end(intervals.get((measure, iw)), "lower"),
                        "upper_percent": _end(intervals.get((measure, iw)), "upper"),
                    }
                    for iw in windows
                ],
                "quantiles_bytes": {
                    f"p{percent}": size for percent, size in quantiles(release, measure).items()
                },
            }
        )
    return {"mss_bytes": mss, "windows": list(windows), "headline": list(HEADLINE), "measures": measures}


def _fitting(sizes: NDArray[np.int64], cumulative: NDArray[np.int64], window_bytes: int) -> int:
    """Members of at most `window_bytes`, from the steps of their CDF."""
    below = int(np.searchsorted(sizes, window_bytes, side="right"))
    return int(cumulative[below - 1]) if below else 0


def _end(interval: object | None, end: str) -> float | None:
    return None if interval is None else 100 * float(getattr(interval, end))
