"""The explorer's figure: the CDFs of each measure in a plot, all on the same axes."""

import itertools
import math
from collections.abc import Iterator

from markupsafe import Markup

from api.charts import (
    NARROW,
    Chart,
    Mark,
    Plot,
    Scale,
    decade_marks,
    dot,
    in_rows,
    path,
    plot_width,
    share_marks,
    share_scale,
    text,
    wrapped,
)
from api.explorer.comparison import Band, Comparison, Curve, Panel
from api.routes.pages import label
from releases.formatting import percent

LEAST_WIDTH = 300
"""Least width of a plot and its axis beside another one."""

HEIGHT, LARGE_HEIGHT = 230, 320
"""Height of a plot, and of one that has a wide chart for itself."""

MANY_WINDOWS = 5
"""Number of windows from which their labels are numbers alone."""

LEAST_APART = 15
"""Distance of the shares beside a curve below which one of two is left out, in CSS pixels."""


def draw_comparison(comparison: Comparison, *, width: int) -> Chart:
    """The chart of a comparison, `width` CSS pixels wide."""
    panels = comparison.panels
    rows = math.ceil(len(panels) / max(1, width // LEAST_WIDTH))
    columns = math.ceil(len(panels) / rows)
    low, high = comparison.decades
    x = Scale(low=10**low, high=10**high, length=plot_width(width, columns), is_log=True)
    height = LARGE_HEIGHT if columns == 1 and width > NARROW else HEIGHT
    return Chart(
        title=comparison.title,
        width=width,
        columns=columns,
        plots=[draw_panel(comparison, panel, x, height) for panel in panels],
        heading=comparison.heading,
        subheading=comparison.stratum,
        legend=list(name_curves(comparison)),
        notes=comparison.source,
        attributes={"data-decades": f"{low} {high}"},
    )


def draw_panel(comparison: Comparison, panel: Panel, x: Scale, height: int) -> Plot:
    """The plot of one measure."""
    y = share_scale(height)
    plot = Plot(
        width=x.length,
        height=height,
        name=label(panel.measure) if len(comparison.panels) > 1 else "",
        y_title="↑ share up to this size",
        x_title="size, logarithmic →",
        attributes={"data-measure": panel.measure},
    )
    plot.add_axes(decade_marks(x), share_marks(y))
    prefix = "IW " if len(comparison.windows) < MANY_WINDOWS else ""
    windows = in_rows([Mark(x(size_bytes), f"{prefix}{iw}") for iw, size_bytes in comparison.windows])
    plot.add_uprights(windows, sizes=[size_bytes for _, size_bytes in comparison.windows])
    curves = [(style, curve) for style, curve in enumerate(panel.curves) if curve.steps]
    for style, curve in curves:
        if band := [step for step in curve.drawn_band if step[0] <= x.high]:
            plot.add(path(outline(band, x, y), f"b{style} band"))
    for style, curve in curves:
        plot.add(path(step_function(curve, x, y), f"c{style}"))
    if len(panel.curves) == 1:
        plot.add(*_shares(panel.curves[0], windows, y))
    if not curves:
        reasons = wrapped(
            "; ".join(dict.fromkeys(curve.unknown_because or "" for curve in panel.curves)), x.length
        )
        plot.add(
            *(
                text(words, x.length / 2, height / 2 + 16 * (place - len(reasons)), text_anchor="middle")
                for place, words in enumerate(reasons)
            )
        )
    return plot


def name_curves(comparison: Comparison) -> Iterator[str]:
    """Yield the name of each release, and whether it has no curve at all."""
    for place, release in enumerate(comparison.releases):
        is_drawn = any(panel.curves[place].steps for panel in comparison.panels)
        yield release if is_drawn else f"{release}: unknown"


def step_function(curve: Curve, x: Scale, y: Scale) -> str:
    """Path data of a CDF across the plot, without the steps beyond its end."""
    steps = "".join(
        f"H{x(size_bytes)}V{y(share)}" for size_bytes, share in curve.steps if size_bytes <= x.high
    )
    return f"M0 {y(0)}{steps}H{x.length}"


def outline(band: Band, x: Scale, y: Scale) -> str:
    """Path data of the outline of confidence intervals."""
    placed = [(x(size_bytes), y(lower), y(upper)) for size_bytes, lower, upper in band]
    pairs = list(itertools.pairwise(placed))
    forth = "".join(f"V{upper}H{end}" for (_, _, upper), (end, _, _) in pairs)
    back = "".join(f"V{lower}H{begin}" for (begin, lower, _), _ in reversed(pairs))
    return f"M{placed[0][0]} {placed[0][2]}{forth}{back}Z"


def _shares(curve: Curve, windows: tuple[Mark, ...], y: Scale) -> Iterator[Markup]:
    """Yield the share at each window, but for those that would hide the one before."""
    last = math.inf
    for mark, share in zip(windows, curve.shares, strict=True):
        if share.value is not None and last - y(share.value) >= LEAST_APART:
            last = y(share.value)
            beside = last - 4 if last > 14 else last + 16
            yield dot(mark.at, last, "b0")
            yield text(percent(share.value), mark.at - 8, beside, "ink share", text_anchor="end")
