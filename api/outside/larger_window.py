"""What a larger window does to pages of 2019 and of 2025 over the same networks: its rows and its figure."""

import dataclasses
import math
from collections.abc import Iterator, Mapping

from api.axes import Mark
from recordings.pages.recording import SETS, read_source
from releases.formatting import interval_text, number, stated
from releases.interval import Interval
from verdict.two_years import AFTER, ALIKE, ALL, BEFORE, CANDIDATE, SAME, YEARS, Comparison, comparison

MEASURES = {
    "gain_percent": ("Page time saved", "%"),
    "resent_pp": ("Payload sent again beyond IW 10", "pp"),
    "net_benefit_pp": ("Net benefit", "pp"),
}
"""What is compared, with its title and unit."""

PLOT_HEIGHT, LEFT, TOP, WIDE_STEP = 170, 52, 34, 330

ACROSS = {(SAME, BEFORE): 0.18, (ALL, BEFORE): 0.34, (SAME, AFTER): 0.66, (ALL, AFTER): 0.82}
"""Places of the points along a plot."""

TICKS = 5
"""Most steps along an axis."""


def comparisons() -> dict[str, Comparison]:
    """All comparisons, the one that decides the sentence first; the last is not drawn."""
    return {pages: comparison(pages) for pages in (SAME, ALL, ALIKE)}


def rows(columns: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Yield the numbers of the figure, in the columns of the page's other data."""
    lists = {year: read_source(SETS[name], {}).list_name for year, name in YEARS.items()}
    for pages, found in comparisons().items():
        for name in MEASURES:
            common = {**columns, "responses": pages, "measure": name, "iw": repr(CANDIDATE)}
            values = {year: getattr(worth, name) for year, worth in found.of.items()}
            for year, value in values.items():
                own = {"what": "larger window", "list": lists[year], "release": YEARS[year]}
                yield common | own | {"sites": found.counts[year], "value": value.estimate} | _ends(value)
            change: Interval = getattr(found.change, name)
            own = {"list": lists[BEFORE], "release": YEARS[BEFORE], "value": values[BEFORE].estimate}
            after = {"list": lists[AFTER], "release": YEARS[AFTER], "value": values[AFTER].estimate}
            yield (
                common
                | own
                | {f"{column}_after": value for column, value in after.items()}
                | {
                    "what": "larger window, change",
                    "sites": found.counts[AFTER] if pages != ALL else None,
                    "change": change.estimate,
                    **_ends(change),
                }
            )


def _ends(value: Interval) -> dict[str, float]:
    return {"lower": value.lower, "upper": value.upper}


def is_clear(change: Interval) -> bool:
    """Whether the interval of a change holds no zero."""
    return change.lower > 0 or change.upper < 0


def is_worth(found: Comparison) -> str:
    """Whether the window is worth more than six years ago, in words."""
    change = found.change.net_benefit_pp
    if not is_clear(change):
        return "whether the larger window is worth more than six years ago cannot be told"
    return f"the larger window is worth {'more' if change.estimate > 0 else 'less'} than six years ago"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Worth2D:
    """A value of one year with its interval."""

    x: float
    y: float
    lower: float
    upper: float
    is_same: bool
    text: str
    said: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class WorthPlot:
    """The values of one measure."""

    title: str
    left: float
    right: float
    top: int
    bottom: int
    zero: float
    y_marks: tuple[Mark, ...]
    x_marks: tuple[Mark, ...]
    points: tuple[Worth2D, ...]
    line: tuple[float, float, float, float]
    """From the earlier year of the same sites to the later."""
    is_clear: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class WorthDrawing:
    """The figure in one width."""

    style: str
    width: int
    height: int
    plots: tuple[WorthPlot, ...]


def draw(*, is_wide: bool) -> WorthDrawing:
    """The figure: its plots side by side, or on phones below each other."""
    found = {pages: comparison(pages) for pages in (SAME, ALL)}
    step_x, step_y = (WIDE_STEP, 0) if is_wide else (0, PLOT_HEIGHT + TOP + 28)
    plots = tuple(
        plot(name, found, left=LEFT + place * step_x, top=TOP + place * step_y, wide=250 if is_wide else 300)
        for place, name in enumerate(MEASURES)
    )
    return WorthDrawing(
        style="for-desktops" if is_wide else "for-phones",
        width=1000 if is_wide else 360,
        height=plots[-1].bottom + 28,
        plots=plots,
    )


def plot(name: str, found: Mapping[str, Comparison], *, left: float, top: int, wide: int) -> WorthPlot:
    """The plot of one measure."""
    title, unit = MEASURES[name]
    right, bottom = left + wide, top + PLOT_HEIGHT
    values = {(pages, year): getattr(one.of[year], name) for pages, one in found.items() for year in YEARS}
    ends = [end for value in values.values() for end in (value.lower, value.upper, 0.0)]
    step, low, high = bounds(min(ends), max(ends))

    def y(value: float) -> float:
        return round(bottom - (value - low) / (high - low) * (bottom - top), 1)

    def x(share: float) -> float:
        return round(left + share * (right - left), 1)

    points = tuple(
        Worth2D(
            x=x(ACROSS[pages, year]),
            y=y(one.estimate),
            lower=y(one.lower),
            upper=y(one.upper),
            is_same=pages == SAME,
            text=number(one.estimate, 1 if unit == "%" else 2),
            said=f"{year}, {pages}: {interval_text(one, unit)}",
        )
        for (pages, year), one in values.items()
    )
    same = [point for point in points if point.is_same]
    return WorthPlot(
        title=f"{title}, {unit}",
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        zero=y(0.0),
        y_marks=tuple(
            Mark(y(low + step * place), stated(round(low + step * place, 9)))
            for place in range(round((high - low) / step) + 1)
        ),
        x_marks=(Mark(x(0.26), str(BEFORE)), Mark(x(0.74), str(AFTER))),
        points=points,
        line=(same[0].x, same[0].y, same[1].x, same[1].y),
        is_clear=is_clear(getattr(found[SAME].change, name)),
    )


def bounds(least: float, most: float) -> tuple[float, float, float]:
    """Step and ends of an axis that holds both values, of steps of 1, 2 or 5 times a power of ten.

    >>> bounds(-0.3, 1.4), bounds(0.0, 4.2)
    ((0.5, -0.5, 1.5), (1.0, 0.0, 5.0))
    """
    span = max(most - least, 1e-9)
    power = 10.0 ** math.floor(math.log10(span / TICKS))
    step = next(power * times for times in (1, 2, 5, 10) if span / (power * times) <= TICKS)
    return step, step * math.floor(least / step), step * math.ceil(most / step)
