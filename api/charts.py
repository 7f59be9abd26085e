"""SVG charts of the service: plots with axes, lines, intervals and marks, in the colours of its style sheet.

What `figures` does not draw yet; every new figure is of that package (docs/decisions/service/0066).
"""

import dataclasses
import functools
import importlib.resources
import itertools
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from markupsafe import Markup, escape

from figures.theme import FONT
from releases.formatting import size, stated

NARROW, WIDE = 360, 960
"""Widths of charts in CSS pixels: for phones, and for everything wider."""

LEFT, RIGHT, BELOW = 44, 24, 50
"""Room beside and below a plot in CSS pixels: for the labels and titles of its axes."""

WINDOW_ROW = 14
"""Height of each row of labels above a plot."""

TITLE_LINE, LINE, NOTE_LINE = 18, 20, 16
"""Heights of a title of a plot, of a line of the heading or the legend, and of a note below."""

LETTER_WIDTH, BOLD_LETTER_WIDTH = 6.5, 8
"""Widths of a letter and of a bold digit in CSS pixels, about."""

TITLE_SCALE = 1.4
"""Width of the letters of the heading, bold and larger, to that of others."""

GAP = 8
"""Least space between the labels of two marks in one row."""

STYLES = 6
"""Number of series that colours and dashes tell apart."""


@dataclasses.dataclass(frozen=True, slots=True)
class Mark:
    """A labelled place along an axis."""

    at: float
    label: str
    row: int = 0
    """Row of the label above the plot, counted upwards: neighbours that would overlap have different rows."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Scale:
    """Places of values along an axis: `low` is at 0, `high` at `length`, and what is beyond at the ends.

    >>> Scale(low=1, high=0, length=200)(0.25), Scale(low=10, high=1000, length=100, is_log=True)(100)
    (150.0, 50.0)
    """

    low: float
    high: float
    length: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """Return the place of a value in CSS pixels."""
        low, high = self.low, self.high
        if self.is_log:
            low, high, value = math.log10(low), math.log10(high), math.log10(max(value, 1e-9))
        return round(min(1.0, max(0.0, (value - low) / (high - low))) * self.length, 1)


def share_scale(height: float) -> Scale:
    """Return the upright axis of shares, from 0 at the bottom to 1 at the top."""
    return Scale(low=1, high=0, length=height)


def share_marks(y: Scale) -> list[Mark]:
    """Return the labels of an axis of shares."""
    return [Mark(y(percent / 100), stated(percent, "%")) for percent in (0, 25, 50, 75, 100)]


def decades(sizes: Iterable[int]) -> tuple[int, int]:
    """Exponents of the powers of ten that enclose `sizes`, at least one apart; a size below 1 counts as 1.

    >>> decades([300, 14_300]), decades([0])
    ((2, 5), (0, 1))
    """
    known = [max(size, 1) for size in sizes]
    low = math.floor(math.log10(min(known)))
    return low, max(math.ceil(math.log10(max(known))), low + 1)


def decade_marks(x: Scale, *, label_width: float = 46) -> list[Mark]:
    """Return the labels of an axis of sizes in bytes: powers of ten, as many as have room."""
    low, high = round(math.log10(x.low)), round(math.log10(x.high))
    every = math.ceil(label_width * (high - low) / x.length)
    return [Mark(x(10**power), size(10**power)) for power in range(low, high + 1, every)]


def round_axis(least: float, most: float, *, steps: int = 6) -> tuple[float, float, float]:
    """Step and ends of an axis that holds both values, with at most `steps` steps of 1, 2 or 5 times a power
    of ten, and one more where neither value is an end.

    >>> round_axis(0, 2700), round_axis(0, 2700, steps=3), round_axis(-0.3, 1.4, steps=5)
    ((500.0, 0.0, 3000.0), (1000.0, 0.0, 3000.0), (0.5, -0.5, 1.5))
    """
    span = max(most - least, 1e-9)
    power = 10.0 ** math.floor(math.log10(span / steps))
    step = next(power * times for times in (1, 2, 5, 10) if span / (power * times) <= steps)
    return step, step * math.floor(least / step), step * math.ceil(most / step)


def steps_between(step: float, low: float, high: float) -> list[float]:
    """Values of an axis from `low` to `high`.

    >>> steps_between(0.1, 0, 0.3)
    [0.0, 0.1, 0.2, 0.3]
    """
    return [round(low + step * place, 9) for place in range(round((high - low) / step) + 1)]


def in_rows(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Marks in ascending order, each in the lowest row in which its label does not touch the one before.

    >>> marks = [Mark(10, "3"), Mark(20, "4"), Mark(30, "30"), Mark(38, "42"), Mark(90, "100")]
    >>> [mark.row for mark in in_rows(marks)]
    [0, 1, 0, 2, 0]
    """
    last: list[Mark] = []
    placed = []
    for mark in marks:
        row = next((row for row, before in enumerate(last) if not _touch(before, mark)), len(last))
        last[row : row + 1] = [mark]
        placed.append(dataclasses.replace(mark, row=row))
    return tuple(placed)


def _touch(left: Mark, right: Mark) -> bool:
    """Return whether the labels of two marks would touch in the same row."""
    return right.at - left.at < BOLD_LETTER_WIDTH * (len(left.label) + len(right.label)) / 2 + GAP


def wrapped(text: str, width: float) -> list[str]:
    """A text in lines of at most `width` CSS pixels."""
    return textwrap.wrap(text, max(1, int(width / LETTER_WIDTH)))


def element(name: str, *content: str, **attributes: object) -> Markup:
    """An SVG element; `_` in names of attributes stands for `-`, attributes that are None are left out, and
    text is escaped.

    >>> element("text", "a < b", x=1, text_anchor="end", class_=None)
    Markup('<text x="1" text-anchor="end">a &lt; b</text>')
    """
    opening = name + "".join(
        f' {key.strip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(map(escape, content))
    return Markup(f"<{opening}>{inner}</{name}>" if inner else f"<{opening}/>")  # noqa: S704  # it is escaped


def text(words: str, x: float, y: float, look: str = "soft", **attributes: object) -> Markup:
    """Words at a place."""
    return element("text", words, class_=look, x=round(x, 1), y=round(y, 1), **attributes)


def line(
    x1: float, y1: float, x2: float, y2: float, look: str, *content: str, **attributes: object
) -> Markup:
    """A straight line."""
    return element("line", *content, class_=look, x1=x1, x2=x2, y1=y1, y2=y2, **attributes)


def path(data: str, look: str, *content: str) -> Markup:
    """A path by its SVG path data."""
    return element("path", *content, class_=look, d=data)


def dot(x: float, y: float, look: str, *content: str, radius: float = 4) -> Markup:
    """A filled circle."""
    return element("circle", *content, class_=look, cx=x, cy=y, r=radius)


def joined(points: Iterable[tuple[float, float] | None]) -> str:
    """Path data of a line through points, which ends at each None.

    >>> joined([(0, 1), (1, 1), None, (2, 0)])
    'M0 1L1 1M2 0'
    """
    data, is_open = "", False
    for point in points:
        if point is not None:
            data += f"{'L' if is_open else 'M'}{point[0]} {point[1]}"
        is_open = point is not None
    return data


@dataclasses.dataclass(kw_only=True, slots=True)
class Plot:
    """A plot; coordinates count from its upper left corner."""

    width: float
    height: float
    name: str = ""
    """What a plot beside others is of."""
    y_title: str = ""
    x_title: str = ""
    attributes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    rows: int = 0
    """Rows of labels of marks above the plot."""
    shapes: list[Markup] = dataclasses.field(default_factory=list)

    def add(self, *shapes: Markup) -> None:
        """Draw shapes above those that are there."""
        self.shapes += shapes

    def add_axes(self, x_marks: Iterable[Mark], y_marks: Iterable[Mark], *, is_left: bool = False) -> None:
        """Draw a line across the plot at each of `y_marks`, and the labels of both axes; those of x begin at
        their places if `is_left`."""
        for mark in y_marks:
            self.add(
                line(0, mark.at, self.width, mark.at, "grid"),
                text(mark.label, -6, mark.at + 4, text_anchor="end"),
            )
        for mark in x_marks:
            anchor = None if is_left else "middle"
            self.add(text(mark.label, mark.at, self.height + 18, text_anchor=anchor))

    def add_uprights(
        self,
        marks: Sequence[Mark],
        *,
        look: Literal["window", "flag", "list"] = "window",
        sizes: Sequence[int] = (),
    ) -> None:
        """Draw an upright line at each mark, with its label above the plot; `sizes` are those of windows."""
        self.rows = max(self.rows, 1 + max((mark.row for mark in marks), default=-1))
        stroke = "lead" if look == "list" else "mark"
        tops = [-4 - WINDOW_ROW * mark.row for mark in marks]
        for mark, top, data_size in itertools.zip_longest(marks, tops, sizes):
            self.add(line(mark.at, top, mark.at, self.height, stroke, data_size=data_size))
        # The labels cover the lines that cross them.
        for mark, top in zip(marks, tops, strict=True):
            over = mark.at + BOLD_LETTER_WIDTH * len(mark.label) / 2 - self.width - RIGHT
            at, anchor = (self.width + RIGHT, "end") if over > 0 else (mark.at, "middle")
            self.add(text(mark.label, at, top - 4, look, text_anchor=anchor))

    @property
    def above(self) -> int:
        """Room above the plot."""
        titles = TITLE_LINE * (bool(self.name) + bool(self.y_title))
        return titles + WINDOW_ROW * self.rows + 8

    def draw(self, left: float, top: float) -> Markup:
        """The group of the plot, whose upper left corner is at `left` and `top`."""
        at = TITLE_LINE - 4 - self.above
        titles = []
        if self.name:
            titles.append(text(self.name, 4 - LEFT, at, "ink name"))
        if self.y_title:
            titles.append(text(self.y_title, 4 - LEFT, at + TITLE_LINE * bool(self.name)))
        if self.x_title:
            titles.append(text(self.x_title, self.width, self.height + 37, text_anchor="end"))
        transform = f"translate({round(left, 1)} {round(top, 1)})"
        return element("g", *titles, *self.shapes, transform=transform, **self.attributes)


def plot_width(width: float, columns: int = 1) -> float:
    """Return the width of each of several plots beside each other in a chart."""
    return round(width / columns - LEFT - RIGHT, 1)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """Plots in a grid below a heading and a legend, and notes below them."""

    title: str
    """What the chart shows, for those who do not see it."""
    width: int
    plots: Sequence[Plot]
    columns: int = 1
    heading: str = ""
    subheading: str = ""
    legend: Sequence[str] = ()
    """Names of the series, in the order of their styles."""
    notes: str = ""
    attributes: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def svg(self) -> str:
        """The chart as a file of its own, with its colours."""
        body, height = self._drawn()
        style = Markup(f"<style>{stylesheet()}</style>")  # noqa: S704  # it is ours
        return element(
            "svg",
            element("title", self.title),
            style,
            element("rect", class_="ground", width="100%", height="100%"),
            *body,
            width=self.width,
            height=height,
            **self._root(height),
        )

    def inline(self, css_class: str) -> Markup:
        """The chart as a part of a page, which has the colours."""
        body, height = self._drawn()
        return element(
            "svg", *body, class_=css_class, role="img", aria_label=self.title, **self._root(height)
        )

    def _root(self, height: float) -> dict[str, str]:
        view = f"0 0 {self.width} {height}"
        own = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": view, "font-family": FONT, "font-size": "12"}
        return {**own, **self.attributes}

    def _drawn(self) -> tuple[list[Markup], int]:
        """The parts of the chart, and its height."""
        titles = wrapped(self.heading, self.width / TITLE_SCALE)
        heads = [(words, "ink heading") for words in titles]
        heads += [(words, "ink") for words in wrapped(self.subheading, self.width)]
        body = [text(words, 4, LINE * row + 16, look) for row, (words, look) in enumerate(heads)]
        if self.legend:
            body.append(element("svg", *self._keys(), y=LINE * len(heads)))
        top: float = LINE * (len(heads) + len(self.legend)) + (8 if heads or self.legend else 0)
        for begin in range(0, len(self.plots), self.columns):
            row = self.plots[begin : begin + self.columns]
            above = max(plot.above for plot in row)
            for column, plot in enumerate(row):
                body.append(plot.draw(column * self.width / self.columns + LEFT, top + above))
            title_room = 0 if any(plot.x_title for plot in row) else -18
            top += above + max(plot.height for plot in row) + BELOW + title_room
        notes = wrapped(self.notes, self.width)
        body += [text(words, 4, top + NOTE_LINE * place + 8) for place, words in enumerate(notes)]
        return body, math.ceil(top + NOTE_LINE * len(notes) + 4 * bool(notes))

    def _keys(self) -> Iterator[Markup]:
        for place, name in enumerate(self.legend):
            middle = LINE * place + 12
            yield path(f"M4 {middle}H36", f"c{place % STYLES}")
            yield text(name, LEFT, middle + 4, "ink")


def for_screens(draw: Callable[[int], Chart]) -> list[Markup]:
    """A chart as parts of a page, drawn for the width of desktops and for that of phones."""
    return [draw(WIDE).inline("for-desktops"), draw(NARROW).inline("for-phones")]


VARIABLE = re.compile(r"(--[a-z0-9]+): *([^;]+);")
DARK = "@media (prefers-color-scheme: dark)"


@functools.cache
def stylesheet() -> str:
    """The style sheet of charts for a file of its own, with the colours of the pages' written in."""
    folder = importlib.resources.files("api").joinpath("static")
    rules = folder.joinpath("charts.css").read_text(encoding="utf-8").partition("*/")[2]
    light, _, dark = folder.joinpath("style.css").read_text(encoding="utf-8").partition(DARK)
    schemes = [dict(VARIABLE.findall(part.partition("}")[0])) for part in (light, dark)]
    coloured = [re.sub(r"var\((.*?)\)", lambda name, of=of: of[name[1]], rules) for of in schemes]  # type: ignore[misc]
    return f"{coloured[0].strip()}\n{DARK} {{\n{coloured[1].strip()}\n}}\n"
