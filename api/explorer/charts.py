"""The explorer's figures as SVG, PNG and Vega-Lite.

The functions run in the process apart (`api.drawing`), which alone loads Altair and Vega, and little else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from api import drawing

if TYPE_CHECKING:
    from figures.frame import AltairChart


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """The words and numbers of a figure, which another process draws."""

    form: str
    title: str
    subtitle: str
    source: str
    note: str
    unit: str
    windows: Sequence[tuple[int, int]]
    ends: tuple[int, int]
    series: Sequence[tuple[str, Sequence[Any]]]
    """Name and rows of curves: steps, bins or quantiles, shares in percent."""


def as_svg(what: Drawn, width: int) -> str:
    return drawing.as_svg(_chart(what, width=width))


def as_png(what: Drawn, width: int) -> bytes:
    from figures import rendering

    return rendering.png(_chart(what, width=width))


def as_vega_lite(what: Drawn, width: int) -> str:
    return _interactive(_chart(what, width=width, is_interactive=True))


def _interactive(chart: AltairChart) -> str:
    """Return Vega-Lite, with the colours for dark ground by those for light."""
    from figures import rendering

    chart.usermeta = {"dark": dict(rendering.pair_colours())}
    return rendering.vega_lite(chart)


def _chart(what: Drawn, *, width: int, is_interactive: bool = False) -> AltairChart:
    from figures.distributions import CdfSeries, HistogramSeries, QuantileRow, cdf, histogram, quantiles
    from figures.frame import Frame, Room, Upright, compose

    frame = Frame(
        title=what.title,
        subtitle=what.subtitle,
        source=what.source,
        note=what.note,
        width=width,
        is_interactive=is_interactive,
    )
    windows = [Upright(value=size_bytes, label=f"IW {iw}") for iw, size_bytes in what.windows]
    if not what.series:
        return compose(frame, [], height=0, room=Room(left=0, below=0))
    if what.form == "histogram":
        histograms = [HistogramSeries(name=name, bins=rows) for name, rows in what.series]
        return histogram(frame, histograms, windows, unit=what.unit)
    if what.form == "quantiles":
        by_row = [QuantileRow(name=name, quantiles=dict(rows)) for name, rows in what.series]
        return quantiles(frame, by_row, windows, unit=what.unit)
    curves = [
        CdfSeries(
            name=name,
            steps=[(at, share) for at, share, *_ in rows],
            band=[(at, lower, upper) for at, _, lower, upper in rows if lower is not None],
        )
        for name, rows in what.series
    ]
    return cdf(frame, curves, windows, domain=what.ends, unit=what.unit)


Part = list[tuple[int, float, float | None, float | None]]
"""Values that a line joins: month, share, and ends of its interval."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class DrawnMonths:
    """The words and numbers of a figure of a quantity by month."""

    title: str
    subtitle: str
    source: str
    months: Sequence[str]
    flags: dict[int, str]
    """Numbers of changes, by the month that they stand before."""
    series: Sequence[tuple[str, list[Part]]]
    unit: str = "%"


def months_as_svg(what: DrawnMonths, width: int) -> str:
    return drawing.as_svg(_months_chart(what, width=width))


def months_as_vega_lite(what: DrawnMonths, width: int) -> str:
    return _interactive(_months_chart(what, width=width, is_interactive=True))


def _months_chart(what: DrawnMonths, *, width: int, is_interactive: bool = False) -> AltairChart:
    from figures.frame import Frame
    from figures.months import Monthly, by_month

    frame = Frame(
        title=what.title,
        subtitle=what.subtitle,
        source=what.source,
        width=width,
        is_interactive=is_interactive,
    )
    series = [Monthly(name=name, parts=parts) for name, parts in what.series]
    return by_month(frame, what.months, series, what.flags, unit=what.unit)
