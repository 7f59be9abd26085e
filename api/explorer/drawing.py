"""Coordinates of the explorer's figure: panels in a grid, which share their axes.

The template figure.svg only writes them.
"""

import dataclasses
import math
import textwrap
from collections.abc import Callable

from api.axes import WINDOW_ROW, Mark, in_rows
from api.explorer.comparison import Comparison, Curve, Panel
from api.routes.charts import outline
from releases.formatting import size, stated

NARROW, WIDE = 360, 960
"""Widths of figures in CSS pixels: for phones, and for everything wider."""

PANEL_WIDTH = 300
"""Least width of a panel beside another one."""

LEFT, RIGHT, TOP, BOTTOM = 44, 24, 64, 34
"""Margins of a panel, in CSS pixels: for shares, for the end of the axis,
for title and two rows of windows, and for sizes."""

PLOT_HEIGHT = 230
LARGE_PLOT_HEIGHT = 340
"""Height of a plot that has a wide figure for itself."""

LEGEND_LINE = 20
LETTER_WIDTH = 6.5
"""Width of a letter in CSS pixels, about."""

LABEL_WIDTH = 46
"""Width that a label of the size axis needs."""

STYLES = (
    ("#0066a4", "#56b4e9", ""),
    ("#b34f00", "#f0a030", "7 3"),
    ("#007a58", "#2fc49a", "2 2"),
    ("#a8437c", "#e08bb9", "10 3 2 3"),
    ("#6a6d00", "#d6cf3a", "4 4"),
    ("#3f444a", "#b4bac1", "1 3"),
)
"""Colour on light ground, colour on dark ground, and dashes of each curve: dashes tell curves apart in print
and for colour-blind readers. Hues of Okabe and Ito, with a contrast of at least 3:1 with the ground."""


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
    said: tuple[str, ...]
    """Lines that say why there is no curve; empty if there is one."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """A whole figure; coordinates within a panel count from its upper left corner."""

    width: int
    height: int
    panels: tuple[Drawn, ...]
    heading: tuple[str, ...]
    """Lines that name the stratum; empty for every item."""
    legend: tuple[str, ...]
    legend_height: int
    plot_width: float
    plot_height: int
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    windows: tuple[Mark, ...]
    top: int
    left: int = LEFT


def draw(comparison: Comparison, *, width: int) -> Drawing:
    """The figure of a comparison, `width` CSS pixels wide."""
    rows = math.ceil(len(comparison.panels) / max(1, width // PANEL_WIDTH))
    columns = math.ceil(len(comparison.panels) / rows)
    panel_width = width / columns
    plot_width = panel_width - LEFT - RIGHT
    plot_height = LARGE_PLOT_HEIGHT if columns == 1 and width > NARROW else PLOT_HEIGHT
    low, high = comparison.decades

    def x(size_bytes: int) -> float:
        return round((math.log10(max(size_bytes, 1)) - low) / (high - low) * plot_width, 1)

    def y(share: float) -> float:
        return round((1 - share) * plot_height, 1)

    windows = in_rows([Mark(x(size_bytes), str(iw)) for iw, size_bytes in comparison.windows])
    top = TOP + WINDOW_ROW * max(0, max((mark.row for mark in windows), default=0) - 1)
    panel_height = top + plot_height + BOTTOM
    heading = wrapped(comparison.stratum, width)
    legend_height = LEGEND_LINE * (len(heading) + len(comparison.releases)) + 8
    every = math.ceil(LABEL_WIDTH * (high - low) / plot_width)
    return Drawing(
        width=width,
        height=legend_height + panel_height * rows,
        panels=tuple(
            Drawn(
                panel=panel,
                left=round(place % columns * panel_width, 1),
                top=legend_height + place // columns * panel_height,
                paths=tuple(
                    (style, path(curve, x, y, end=plot_width))
                    for style, curve in enumerate(panel.curves)
                    if curve.steps
                ),
                bands=tuple(
                    (style, outline(curve.drawn_band, x, y))
                    for style, curve in enumerate(panel.curves)
                    if curve.drawn_band
                ),
                said=()
                if any(curve.steps for curve in panel.curves)
                else wrapped("; ".join(panel.without_shares), plot_width),
            )
            for place, panel in enumerate(comparison.panels)
        ),
        heading=heading,
        legend=comparison.releases,
        legend_height=legend_height,
        plot_width=round(plot_width, 1),
        plot_height=plot_height,
        x_marks=tuple(Mark(x(10**power), size(10**power)) for power in range(low, high + 1, every)),
        y_marks=tuple(Mark(y(percent / 100), stated(percent, "%")) for percent in (0, 25, 50, 75, 100)),
        windows=windows,
        top=top,
    )


def wrapped(text: str, width: float) -> tuple[str, ...]:
    """A text in lines of at most `width` CSS pixels."""
    return tuple(textwrap.wrap(text, max(1, int(width / LETTER_WIDTH))))


def path(curve: Curve, x: Callable[[int], float], y: Callable[[float], float], *, end: float) -> str:
    """The step function of a CDF from the left edge of the plot to `end`, as SVG path data."""
    steps = "".join(f"H{x(size_bytes)}V{y(share)}" for size_bytes, share in curve.steps)
    return f"M0 {y(0)}{steps}H{round(end, 1)}"
