"""Coordinates of a CDF chart in SVG, computed here so that the template needs no arithmetic."""

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence

from api.axes import WINDOW_ROW, Mark, decades, in_rows
from api.routes.distributions import Distribution
from releases.formatting import size, stated

WINDOW_ROWS = 3
"""Rows of windows above the plot that there is room for; 3, 10,
16 and 30 segments need no more over ten decades."""

TOP = 4 + WINDOW_ROW * WINDOW_ROWS
WIDTH, HEIGHT = 340, TOP + 168
MANY_DECADES = 5
LEFT, RIGHT, BOTTOM = 42, 10, 26


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """A CDF over a logarithmic size axis."""

    path: str
    """The step function, as SVG path data."""
    band: str
    """The outline of the confidence intervals, as SVG path data; empty if they are unknown."""
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    windows: tuple[Mark, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def chart(distribution: Distribution) -> Chart | None:
    """The chart of a distribution; None if no size is known."""
    if not distribution.points.steps:
        return None
    windows = [fit.window_bytes for fit in distribution.fits]
    low, high = decades([step for step, _ in distribution.points.steps] + windows)

    def x(size_bytes: int) -> float:
        place = (math.log10(max(size_bytes, 1)) - low) / (high - low)
        return round(LEFT + place * (WIDTH - LEFT - RIGHT), 1)

    def y(share: float) -> float:
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)

    every = 1 if high - low <= MANY_DECADES else 2  # more labels would overlap
    steps = [f"M{LEFT} {y(0)}"]
    steps += [f"H{x(step)}V{y(cdf)}" for step, cdf in distribution.points.steps]
    band = drawn_band(distribution.points.steps, distribution.band)
    return Chart(
        band=outline(band, x, y) if band else "",
        path="".join([*steps, f"H{WIDTH - RIGHT}"]),
        x_marks=tuple(Mark(x(10**power), size(10**power)) for power in range(low, high + 1, every)),
        y_marks=tuple(Mark(y(percent / 100), stated(percent, "%")) for percent in (0, 50, 100)),
        windows=in_rows([Mark(x(fit.window_bytes), f"{fit.iw}") for fit in distribution.fits]),
    )


Band = Sequence[tuple[int, float, float]]
"""Sizes in bytes, each with the ends of the interval of the share up to it."""


def drawn_band(
    steps: Sequence[tuple[int, float]], ends: Sequence[tuple[float, float]]
) -> list[tuple[int, float, float]]:
    """The intervals at the steps of a CDF, up to the smallest size that every item fits;
    what is beyond is certain."""
    last = next((place for place, (_, share) in enumerate(steps) if share == 1), 0)
    band = [(size, *interval) for (size, _), interval in zip(steps, ends, strict=False)][:last]
    return [*band, (steps[last][0], *band[-1][1:])] if band else []


def outline(band: Band, x: Callable[[int], float], y: Callable[[float], float]) -> str:
    """The outline of confidence intervals, as SVG path data."""
    placed = [(x(size_bytes), y(lower), y(upper)) for size_bytes, lower, upper in band]
    pairs = list(itertools.pairwise(placed))
    there = "".join(f"V{upper}H{end}" for (_, _, upper), (end, _, _) in pairs)
    back = "".join(f"V{lower}H{begin}" for (begin, lower, _), _ in reversed(pairs))
    return f"M{placed[0][0]} {placed[0][2]}{there}{back}Z"
