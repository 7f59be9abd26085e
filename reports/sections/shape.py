"""The shape of a section: plain data, of which the page,
the tables and every other form of the report are renderings.

A row maps column ids to values: text, a number, None for what is unknown, or an interval as
{"estimate": …, "lower": …, "upper": …}. Numbers are in the column's unit.
COMPARED stands where a row would be compared with itself.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from releases.interval import Interval

Row = Mapping[str, Any]

ColumnKind = Literal["text", "count", "number", "interval", "stated"]
"""number: a measured one. stated: a bound, a setting or a figure that others published,
with its own digits."""

COMPARED = "compared with"
"""Value of a row that the others are compared with, in a column of numbers; data as CSV leave it empty."""

Drawing = Literal["forest", "intervals", "lines", "bars"]
"""forest: an interval for each category, sideways, or below each other for each of its series. intervals:
points with bars over categories, by series. lines: a curve for each series over a quantity. bars: a bar for
each category."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table or figure."""

    id: str
    title: str
    unit: str = ""
    kind: ColumnKind = "number"
    near: tuple[float, ...] = ()
    """Bounds that the column's numbers are held against: none is printed as one of them, or beyond it,
    that is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with everything that a copy of it needs."""

    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    source: str
    """Release, replay or publication that the rows come from."""
    query: str
    """Command or SQL that computes the rows again."""
    notes: tuple[str, ...] = ()
    shown: int | None = None
    """Rows, from the first, that pages and documents print; None for all. The data have all of them."""
    is_published: bool = False
    """True for numbers that others published, and for definitions:
    they do not bear the marks of this report's own numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line across a figure, at a value of the measured axis."""

    value: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure as its data and what is drawn of them."""

    id: str
    title: str
    caption: str
    drawing: Drawing
    x: str
    """Column along the horizontal axis."""
    y: str
    """Column along the vertical axis."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    source: str
    query: str
    series: str | None = None
    """Column that tells curves apart."""
    lines: tuple[Line, ...] = ()
    bands: tuple[Row, ...] = ()
    """Intervals along the curves: rows whose vertical value is an interval."""
    is_logarithmic: bool = False
    """True if the horizontal axis is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of the report."""

    id: str
    title: str
    lead: str
    """What the section tells, in one or two plain sentences."""
    missing: str | None = None
    """Why there are no data, if there are none."""
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The section as JSON."""
        return asdict(self)


def interval(found: Interval | None) -> dict[str, float] | None:
    """An interval as a row has it."""
    return None if found is None else asdict(found)


def not_measured(name: str, title: str, lead: str, why: str) -> Section:
    """A section whose data this release lacks."""
    return Section(id=name, title=title, lead=lead, missing=f"Not measured in this release: {why}")
