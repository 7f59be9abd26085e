"""Coordinates of the explorer's figure: panels in a grid, which share their axes.

The template figure.svg only writes them.
"""

import dataclasses
import itertools
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence

from api.axes import WINDOW_ROW, Mark, in_rows
from api.explorer.comparison import Band, Comparison, Curve, Panel
from api.routes.pages import percent
from releases.chart_theme import HUES
from releases.formatting import size, stated

NARROW, WIDE = 360, 960
"""Widths of figures in CSS pixels: for phones, and for everything wider."""

PANEL_WIDTH = 300
"""Least width of a panel beside another one."""

LEFT, RIGHT, TOP, BOTTOM = 44, 24, 50, 50
"""Margins of a panel, in CSS pixels: for shares, for the end of the axis,
for their title and a row of windows, and for sizes with their title."""

PANEL_TITLE = 18
"""Height of the title of a panel beside others."""

PLOT_HEIGHT = 230
LARGE_PLOT_HEIGHT = 320
"""Height of a plot that has a wide figure for itself."""

LEGEND_LINE = 20
SOURCE_LINE = 16
LETTER_WIDTH = 6.5
"""Width of a letter in CSS pixels, about."""

TITLE_SCALE = 1.4
"""Width of the letters of the title, bold and larger, to that of others."""

MANY_WINDOWS = 5
"""Number of windows from which their labels are numbers alone."""

LEAST_APART = 15
"""Distance of the shares beside a curve below which one of two is left out, in CSS pixels."""

LABEL_WIDTH = 46
"""Width that a label of the size axis needs."""

STYLES = tuple(
    (*hue, dash) for hue, dash in zip(HUES, ("", "7 3", "2 2", "10 3 2 3", "4 4", "1 3"), strict=True)
)
"""Colour on light ground, colour on dark ground, and dashes of each curve: dashes tell curves apart in print
and for colour-blind readers. Hues of Okabe and Ito, with a contrast of at least 3:1 with the ground."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PlacedShare:
    """The share that fits into a window, beside its curve."""

    x: float
    y: float
    label: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """A panel at its place."""

    panel: Panel
    left: float
    top: float
    paths: tuple[tuple[int, str], ...]
    """Number of the curve's style and its SVG path, for each curve with an item of known size."""
    bands: tuple[tuple[int, str], ...]
    """Number of the curve's style and the outline of its confidence intervals,
    for each curve that has them."""
    shares: tuple[PlacedShare, ...]
    """The share at each window, where there is one curve."""
    said: tuple[str, ...]
    """Lines that say why there is no curve; empty if there is one."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """A whole figure; coordinates within a panel count from the upper left corner of its plot."""

    width: int
    height: int
    panels: tuple[Drawn, ...]
    heading: tuple[str, ...]
    """Lines of the title, then of the stratum."""
    title_lines: int
    legend: tuple[str, ...]
    source: tuple[str, ...]
    """Lines at the bottom."""
    decades: tuple[int, int]
    """Exponents of the powers of ten at the ends of the axis of sizes."""
    plot_width: float
    plot_height: int
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    windows: tuple[Mark, ...]
    sizes: tuple[int, ...]
    """Size of each window, in bytes."""
    top: int
    left: int = LEFT


def draw(comparison: Comparison, *, width: int, title: str) -> Drawing:
    """The figure of a comparison, `width` CSS pixels wide."""
    rows = math.ceil(len(comparison.panels) / max(1, width // PANEL_WIDTH))
    columns = math.ceil(len(comparison.panels) / rows)
    panel_width = width / columns
    plot_width = panel_width - LEFT - RIGHT
    plot_height = LARGE_PLOT_HEIGHT if columns == 1 and width > NARROW else PLOT_HEIGHT
    low, high = comparison.decades

    def x(size_bytes: int) -> float:
        place = (math.log10(max(size_bytes, 1)) - low) / (high - low)
        return round(min(1.0, max(0.0, place)) * plot_width, 1)

    def y(share: float) -> float:
        return round((1 - share) * plot_height, 1)

    prefix = "IW " if len(comparison.windows) < MANY_WINDOWS else ""
    windows = in_rows([Mark(x(size_bytes), f"{prefix}{iw}") for iw, size_bytes in comparison.windows])
    top = TOP + (0 if len(comparison.panels) == 1 else PANEL_TITLE)
    top += WINDOW_ROW * max(0, max((mark.row for mark in windows), default=0) - 1)
    panel_height = top + plot_height + BOTTOM
    # The letters of the title are larger.
    titles = wrapped(title, width / TITLE_SCALE)
    heading = (*titles, *wrapped(comparison.stratum, width))
    above = LEGEND_LINE * (len(heading) + len(comparison.releases)) + 8
    source = wrapped(comparison.source, width)
    every = math.ceil(LABEL_WIDTH * (high - low) / plot_width)
    return Drawing(
        width=width,
        height=above + panel_height * rows + SOURCE_LINE * len(source) + 4,
        panels=tuple(
            Drawn(
                panel=panel,
                left=round(place % columns * panel_width + LEFT, 1),
                top=above + place // columns * panel_height + top,
                paths=tuple(
                    (style, path(curve, x, y, most=10**high, end=plot_width))
                    for style, curve in enumerate(panel.curves)
                    if curve.steps
                ),
                bands=tuple(
                    (style, outline([one for one in curve.drawn_band if one[0] <= 10**high], x, y))
                    for style, curve in enumerate(panel.curves)
                    if curve.drawn_band
                ),
                shares=tuple(_shares(panel.curves[0], windows, y)) if len(panel.curves) == 1 else (),
                said=()
                if any(curve.steps for curve in panel.curves)
                else wrapped("; ".join(panel.without_shares), plot_width),
            )
            for place, panel in enumerate(comparison.panels)
        ),
        heading=heading,
        title_lines=len(titles),
        legend=tuple(_legend(comparison)),
        source=source,
        decades=(low, high),
        plot_width=round(plot_width, 1),
        plot_height=plot_height,
        x_marks=tuple(Mark(x(10**power), size(10**power)) for power in range(low, high + 1, every)),
        y_marks=tuple(Mark(y(percent / 100), stated(percent, "%")) for percent in (0, 25, 50, 75, 100)),
        windows=windows,
        sizes=tuple(size_bytes for _, size_bytes in comparison.windows),
        top=top,
    )


def _legend(comparison: Comparison) -> Iterator[str]:
    """Yield the name of each release, and whether it has no curve at all."""
    for place, release in enumerate(comparison.releases):
        is_drawn = any(panel.curves[place].steps for panel in comparison.panels)
        yield release if is_drawn else f"{release}: unknown"


def wrapped(text: str, width: float) -> tuple[str, ...]:
    """A text in lines of at most `width` CSS pixels."""
    return tuple(textwrap.wrap(text, max(1, int(width / LETTER_WIDTH))))


def path(
    curve: Curve, x: Callable[[int], float], y: Callable[[float], float], *, most: int, end: float
) -> str:
    """The step function of a CDF from the left edge of the plot to `end`, as SVG path data, without the steps
    at sizes above `most`."""
    steps = "".join(f"H{x(size_bytes)}V{y(share)}" for size_bytes, share in curve.steps if size_bytes <= most)
    return f"M0 {y(0)}{steps}H{round(end, 1)}"


def outline(band: Band, x: Callable[[int], float], y: Callable[[float], float]) -> str:
    """The outline of confidence intervals, as SVG path data."""
    placed = [(x(size_bytes), y(lower), y(upper)) for size_bytes, lower, upper in band]
    pairs = list(itertools.pairwise(placed))
    there = "".join(f"V{upper}H{end}" for (_, _, upper), (end, _, _) in pairs)
    back = "".join(f"V{lower}H{begin}" for (begin, lower, _), _ in reversed(pairs))
    return f"M{placed[0][0]} {placed[0][2]}{there}{back}Z"


def _shares(curve: Curve, windows: Sequence[Mark], y: Callable[[float], float]) -> Iterator[PlacedShare]:
    """Yield the share at each window, but for those that would hide the one before."""
    last = math.inf
    for mark, share in zip(windows, curve.shares, strict=True):
        if share.value is not None and last - y(share.value) >= LEAST_APART:
            last = y(share.value)
            yield PlacedShare(x=mark.at, y=last, label=percent(share.value))
