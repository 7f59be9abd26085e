"""Figures of size distributions in the form of Fig. 1 of the 2010 paper: a CDF for each measure,
a line for each window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from releases.catalogue import Release
from releases.cdf import Cdf, read_cdfs
from releases.slow_start import MSS_FIG1
from reports.document.curve_marks import key, markers
from reports.document.figure_style import WIDE, noted
from reports.document.theme import BYTES, CURVES, FONT, LIGHT, LOCALE, PERCENT, SEPARATE, Theme
from reports.document.uprights import uprights
from reports.sections.sizes.size_queries import SLICES

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEIGHT = 340

BAND_OPACITY = 0.22

KEY_TOP = 52
"""Room between the plot and its key, for the axis, in pixels."""

HEADLINE = ("responses", "responses_iw_limited", "first_flights", "pages")
"""Measures of the report's first figure."""


def thinned(
    sizes: NDArray[np.int64],
    cumulative: NDArray[np.int64],
    *,
    thresholds: Sequence[int],
    slices: int = SLICES,
) -> NDArray[np.bool_]:
    """Select the steps to draw: the first and last in each slice of probability,
    and the steps next to thresholds.

    The drawn curve is exact at the thresholds, and differs elsewhere by less than 1/slices.
    """
    keep = np.zeros(len(sizes), np.bool_)
    if not len(sizes):
        return keep
    place = -(-cumulative * slices // cumulative[-1])
    changes = place[:-1] != place[1:]
    keep[:-1] |= changes
    keep[1:] |= changes
    keep[[0, -1]] = True
    for threshold in thresholds:
        above = int(np.searchsorted(sizes, threshold, side="right"))
        keep[max(0, above - 1)] = True
        keep[min(len(sizes) - 1, above)] = True
    return keep


def curve(cdf: Cdf, measure: str, *, thresholds: Sequence[int]) -> list[dict[str, Any]]:
    """Points of a measure's CDF, from 0 at its smallest size."""
    sizes = cdf.sizes.astype(np.int64)
    cumulative = cdf.cumulative.astype(np.int64)
    keep = thinned(sizes, cumulative, thresholds=thresholds)
    if not keep.any():
        return []
    # A logarithmic axis has no zero: an empty response is drawn at one byte.
    drawn = np.maximum(sizes[keep], 1).tolist()
    shares = (cumulative[keep] / cumulative[-1]).tolist()
    name = CURVES[measure].label
    return [{"measure": name, "size": drawn[0], "cdf": 0.0}] + [
        {"measure": name, "size": size, "cdf": cdf} for size, cdf in zip(drawn, shares, strict=True)
    ]


def cdf_figure(
    release: Release,
    *,
    measures: Sequence[str] = HEADLINE,
    windows: Sequence[int] = (3, 10, 16),
    bands: Sequence[Mapping[str, Any]] = (),
    mss: int = MSS_FIG1,
    note: str | None = None,
    theme: Theme = LIGHT,
    width: int = WIDE,
) -> alt.LayerChart:
    """Draw the CDFs of `measures` over a logarithmic size axis,
    with a line at each window of `mss`-byte segments.

    `bands` are intervals of the curves: rows with a measure's label, a size, and `lower` and `upper` shares.
    Measures without an item of known size are left out. `note` is part of the drawing,
    so that copies have it too.
    """
    thresholds = [iw * mss for iw in windows]
    cdfs = read_cdfs(release.file("distribution"))
    curves = {measure: curve(cdfs[measure], measure, thresholds=thresholds) for measure in measures}
    drawn = [measure for measure in measures if curves[measure]]
    by_name = {CURVES[measure].label: curves[measure] for measure in drawn}
    low, high = _domain([point["size"] for points in by_name.values() for point in points] + thresholds)
    colours = {CURVES[measure].label: theme.palette[measure] for measure in drawn}
    dashes = {CURVES[measure].label: CURVES[measure].dash for measure in drawn}
    x, y, lower = _axes(low, high)
    lines = [
        # Each curve extends at 1 to the end of the axis.
        alt.Chart(alt.InlineData(values=[*points, {"measure": name, "size": high, "cdf": 1.0}]))
        .mark_line(
            interpolate="step-after", strokeWidth=2, color=colours[name], strokeDash=list(dashes[name])
        )
        .encode(x=x, y=y)
        for name, points in by_name.items()
    ]
    areas = _areas(bands, colours, x=x, y=lower)
    within = {name: [one for one in points if 0 < one["cdf"] < 1] for name, points in by_name.items()}
    marks = markers(within, x=x, y=y, colours=colours, column="cdf")
    under = key(
        list(by_name), colours=colours, dashes=dashes, ink=theme.ink, width=width, top=HEIGHT + KEY_TOP
    )
    marked = uprights(
        [{"value": iw * mss, "label": f"IW {iw}"} for iw in windows],
        domain=(low, high),
        is_logarithmic=True,
        width=width,
        height=HEIGHT,
        ink=theme.ink,
    )
    chart = alt.LayerChart(layer=[*areas, *lines, *marks, *marked, *under]).properties(
        width=width, height=HEIGHT, background=theme.background
    )
    if note:
        chart = chart.properties(title=noted(note))
    return _styled(chart, theme)


def _axes(low: int, high: int) -> tuple[alt.X, alt.Y, alt.Y]:
    """A logarithmic axis of sizes, and axes of shares for curves and for the lower ends of their bands."""
    x = alt.X(
        "size:Q",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(title="size", values=_decades(low, high), labelExpr=BYTES, **SEPARATE),
    )
    y, lower = (
        alt.Y(
            f"{name}:Q",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(title="cumulative share", labelExpr=PERCENT, tickCount=5),
        )
        for name in ("cdf", "lower")
    )
    return x, y, lower


def _areas(
    bands: Sequence[Mapping[str, Any]], colours: Mapping[str, str], *, x: alt.X, y: alt.Y
) -> list[alt.Chart]:
    """A band for each curve that has one."""
    found = {name: [row for row in bands if row["measure"] == name] for name in colours}
    return [
        alt.Chart(alt.InlineData(values=rows))
        .mark_area(color=colours[name], opacity=BAND_OPACITY)
        .encode(x=x, y=y, y2=alt.Y2("upper:Q"))
        for name, rows in found.items()
        if rows
    ]


def _styled(chart: alt.LayerChart, theme: Theme) -> alt.LayerChart:
    styled: alt.LayerChart = (
        chart.configure(font=FONT, locale=LOCALE)
        .configure_view(stroke=theme.faint)
        .configure_axis(
            labelColor=theme.ink,
            titleColor=theme.ink,
            gridColor=theme.faint,
            domainColor=theme.ink,
            tickColor=theme.ink,
            labelFontSize=12,
            titleFontSize=13,
            titleFontWeight="normal",
        )
    )
    return styled


def _domain(sizes: Sequence[int]) -> tuple[int, int]:
    """The powers of ten around `sizes`."""
    low = int(np.floor(np.log10(max(1, min(sizes)))))
    return 10**low, 10 ** max(int(np.ceil(np.log10(max(sizes)))), low + 1)


def _decades(low: int, high: int) -> list[int]:
    return [10**power for power in range(len(str(low)) - 1, len(str(high)))]
