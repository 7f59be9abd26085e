"""CDFs of size in the form of Fig 1 of the 2010 paper: a step curve each measure, a line each window. Altair, offline."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import vl_convert

from releases.cdf import read_cdfs
from releases.slow_start import MSS_FIG1
from schema.computed_tables import MEASURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from releases.catalogue import Release

SLICES = 250
"""Slices of probability that a thinned curve keeps two steps of: 0.4 % is a pixel or so."""

WIDTH, HEIGHT = 620, 340

FONT = "Liberation Sans, Arial, Helvetica, DejaVu Sans, sans-serif"
"""The first is in vl-convert itself, so that a machine without fonts draws the same PNG."""

SHOWN = {
    "responses": "all responses",
    "responses_first": "first on its connection",
    "responses_iw_limited": "IW-limited responses",
    "first_flights": "first flights",
    "first_flights_after_tls": "first flights after TLS",
    "tls_flights": "TLS flights",
    "connections": "connections",
    "hosts": "hosts of a page",
    "pages": "pages",
}
"""Names of the measures in legends."""

DASHES = {
    "responses": [1, 0],
    "responses_first": [2, 2],
    "responses_iw_limited": [7, 3],
    "first_flights": [1, 0],
    "first_flights_after_tls": [7, 3],
    "tls_flights": [2, 2],
    "connections": [10, 3, 2, 3],
    "hosts": [2, 2],
    "pages": [1, 0],
}
"""With the colour, so that curves stay apart in print and for the colour-blind."""

HEADLINE = ("responses", "responses_iw_limited", "first_flights", "pages")
"""Measures of the figure that stands for a release."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Theme:
    """Colours of one figure."""

    # Stable: part of file names.
    id: str
    background: str
    ink: str
    faint: str
    palette: dict[str, str]


# Hues of Okabe and Ito, darkened or lightened to a contrast of at least 3:1 with the background.
LIGHT = Theme(
    id="light",
    background="#ffffff",
    ink="#1c2024",
    faint="#d9dde2",
    palette={
        "responses": "#0066a4",
        "responses_first": "#0066a4",
        "responses_iw_limited": "#b34f00",
        "first_flights": "#007a58",
        "first_flights_after_tls": "#007a58",
        "tls_flights": "#6a6d00",
        "connections": "#a8437c",
        "hosts": "#a8437c",
        "pages": "#3f444a",
    },
)
DARK = Theme(
    id="dark",
    background="#14171a",
    ink="#e6e8ea",
    faint="#363b41",
    palette={
        "responses": "#56b4e9",
        "responses_first": "#56b4e9",
        "responses_iw_limited": "#f0a030",
        "first_flights": "#2fc49a",
        "first_flights_after_tls": "#2fc49a",
        "tls_flights": "#d6cf3a",
        "connections": "#e08bb9",
        "hosts": "#e08bb9",
        "pages": "#b4bac1",
    },
)
THEMES = (LIGHT, DARK)


def thinned(
    sizes: NDArray[np.int64],
    cumulative: NDArray[np.int64],
    *,
    thresholds: Sequence[int],
    slices: int = SLICES,
) -> NDArray[np.bool_]:
    """Which steps to draw: the first and the last in each slice of probability, and those next to a threshold.

    Each is a true step, so no line moves; between two that are drawn less than 1/slices is left out,
    and nothing at all at a threshold: the last step at or below it and the first above it are kept.
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


def curve(release: Release, measure: str, *, thresholds: Sequence[int]) -> list[dict[str, Any]]:
    """The points of one measure's CDF, from 0 at its smallest size."""
    cdf = read_cdfs(release.file("distribution"))[measure]
    sizes, cumulative = cdf.sizes, cdf.cumulative
    keep = thinned(sizes, cumulative, thresholds=thresholds)
    if not keep.any():
        return []
    # A logarithm has no zero: an empty response would stand at one byte.
    drawn = np.maximum(sizes[keep], 1).tolist()
    shares = (cumulative[keep] / cumulative[-1]).tolist()
    name = SHOWN[measure]
    return [{"measure": name, "size": drawn[0], "cdf": 0.0}] + [
        {"measure": name, "size": size, "cdf": cdf} for size, cdf in zip(drawn, shares, strict=True)
    ]


def cdf_figure(
    release: Release,
    *,
    measures: Sequence[str] = HEADLINE,
    windows: Sequence[int] = (3, 10, 16),
    mss: int = MSS_FIG1,
    title: str | None = None,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """The CDFs of `measures` over a logarithmic size, with a line at each window of `mss`-byte segments.

    Measures that have no item of known size are left out.
    """
    thresholds = [iw * mss for iw in windows]
    curves = {measure: curve(release, measure, thresholds=thresholds) for measure in measures}
    drawn = [measure for measure in measures if curves[measure]]
    rows = [point for measure in drawn for point in curves[measure]]
    low, high = _domain([point["size"] for point in rows] + thresholds)
    # A curve that is at 1 stays there.
    rows += [{"measure": SHOWN[measure], "size": high, "cdf": 1.0} for measure in drawn]
    names = [SHOWN[measure] for measure in drawn]
    lines = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X(
                "size:Q",
                scale=alt.Scale(type="log", domain=[low, high], nice=False),
                axis=alt.Axis(
                    title="size", values=_decades(low, high), labelExpr="format(datum.value, '~s') + 'B'"
                ),
            ),
            y=alt.Y(
                "cdf:Q",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(title="cumulative share", format="%", tickCount=5),
            ),
            color=alt.Color(
                "measure:N",
                sort=names,
                scale=alt.Scale(domain=names, range=[theme.palette[m] for m in drawn]),
            ),
            strokeDash=alt.StrokeDash(
                "measure:N", sort=names, scale=alt.Scale(domain=names, range=[DASHES[m] for m in drawn])
            ),
        )
    )
    layers = [lines, *_window_lines(windows, mss=mss, theme=theme)]
    chart = alt.LayerChart(layer=layers).properties(
        width=WIDTH, height=HEIGHT, padding=12, background=theme.background
    )
    if title:
        chart = chart.properties(title=title)
    return _styled(chart, theme)


def _window_lines(windows: Sequence[int], *, mss: int, theme: Theme) -> list[alt.Chart]:
    """A line and its label for each window; staggered, for windows lie close on a logarithm."""
    layers = []
    ordered = sorted(windows)
    for place, iw in enumerate(ordered):
        data = alt.InlineData(values=[{"size": iw * mss, "label": f"{iw} segments · {iw * mss:,} B"}])
        top = -10 - 15 * (len(ordered) - 1 - place)
        base = alt.Chart(data).encode(x="size:Q")
        layers += [
            base.mark_rule(color=theme.ink, strokeWidth=1, strokeDash=[4, 3]).encode(
                y=alt.value(top - 6), y2=alt.value(HEIGHT)
            ),
            base.mark_text(align="left", dx=5, baseline="middle", color=theme.ink, fontSize=12).encode(
                y=alt.value(top), text="label:N"
            ),
        ]
    return layers


def _styled(chart: alt.LayerChart, theme: Theme) -> alt.LayerChart:
    styled: alt.LayerChart = (
        chart.configure(font=FONT)
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
        .configure_legend(
            orient="bottom",
            title=None,
            labelColor=theme.ink,
            labelFontSize=12,
            labelLimit=300,
            symbolSize=900,
            symbolStrokeWidth=2,
            columns=4,
        )
        .configure_title(color=theme.ink, fontSize=15, anchor="start", offset=14)
    )
    return styled


def _domain(sizes: Sequence[int]) -> tuple[int, int]:
    """Whole powers of ten around `sizes`."""
    low = int(np.floor(np.log10(max(1, min(sizes)))))
    return 10**low, 10 ** max(int(np.ceil(np.log10(max(sizes)))), low + 1)


def _decades(low: int, high: int) -> list[int]:
    return [10**power for power in range(len(str(low)) - 1, len(str(high)))]


def svg(chart: alt.TopLevelMixin) -> str:
    """The figure as self-contained SVG: the same chart gives the same bytes."""
    drawn: str = vl_convert.vegalite_to_svg(_spec(chart), allowed_base_urls=[])
    return drawn


def png(chart: alt.TopLevelMixin, *, scale: float = 2) -> bytes:
    """The figure as PNG, `scale` pixels a CSS pixel."""
    drawn: bytes = vl_convert.vegalite_to_png(_spec(chart), scale=scale, allowed_base_urls=[])
    return drawn


def _spec(chart: alt.TopLevelMixin) -> str:
    return chart.to_json(indent=None)


assert SHOWN.keys() == DASHES.keys() == MEASURES.keys()
