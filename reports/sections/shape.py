"""The shape of a section: plain data, of which the page,
the tables and every other form of the report are renderings.

A row maps column ids to values: text, a number, None for what is unknown, or an interval as
{"estimate": …, "lower": …, "upper": …}. Numbers are in the column's unit.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeVar

from releases.interval import Interval
from reports.references import Reference

Row = Mapping[str, Any]

ColumnKind = Literal["text", "count", "number", "interval", "stated"]
"""number: a measured one. stated: a bound, a setting or a figure that others published,
with its own digits."""

Drawing = Literal["dots", "curves", "plane"]
"""dots: an estimate with its interval for each category, below each other, by series. curves: a curve for
each series over a quantity. plane: gain and cost of each window, drawn by reports.document.plane."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table or figure."""

    id: str
    title: str
    unit: str = ""
    kind: ColumnKind = "number"
    near: tuple[float, ...] = ()
    """Bounds that the numbers are compared with: rounding never moves one onto or across them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with everything that a copy of it needs."""

    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    source: str = ""
    """Release, replay or publication that the rows come from; empty: that of the section."""
    query: str = ""
    """Command or SQL that computes the rows again; empty: that of the section."""
    notes: tuple[str, ...] = ()
    shown: int | None = None
    """Rows, from the first, that pages and documents print; None for all. The data have all of them."""
    is_folded: bool = False
    """True if pages show the rows on demand, as of any table of many."""
    is_published: bool = False
    """True for others' numbers, and definitions, which do not bear this report's marks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceLine:
    """A line across a figure, at a value of the measured axis."""

    value: float
    label: str
    """Name above the plot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure as its data and what is drawn of them."""

    id: str
    title: str
    caption: str
    drawing: Drawing
    x: str
    y: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    source: str = ""
    query: str = ""
    is_published: bool = False
    """True if it is not of this report's pages, whose marks it does not bear."""
    series: str | None = None
    lines: tuple[ReferenceLine, ...] = ()
    bands: tuple[Row, ...] = ()
    """Rows whose vertical value is an interval."""
    is_logarithmic: bool = False
    domain: tuple[float, float] | None = None
    """Ends of the horizontal axis, shared by figures that are compared; what is beyond is drawn at them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A paragraph under a title of its own."""

    id: str
    title: str
    text: str
    """With what is cited in brackets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of the report."""

    id: str
    title: str
    lead: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    paragraphs: tuple[Paragraph, ...] = ()
    references: tuple[Reference, ...] = ()


def is_told(difference: Mapping[str, Any] | None) -> bool:
    """Return whether the interval of a difference excludes zero: only then titles and sentences state it.

    >>> [is_told({"estimate": 2, "lower": low, "upper": 4}) for low in (1, -1, None)], is_told(None)
    ([True, False, False], False)
    """
    if difference is None or None in (difference["lower"], difference["upper"]):
        return False
    return Interval(difference["estimate"], difference["lower"], difference["upper"]).excludes_zero


def is_less(first: Mapping[str, Any] | None, second: Mapping[str, Any] | None) -> bool:
    """Return whether all of an interval lies below another: only then one is said to be smaller."""
    if first is None or second is None or None in (first["upper"], second["lower"]):
        return False
    return bool(first["upper"] < second["lower"])


def interval(value: Interval | None) -> dict[str, float] | None:
    return None if value is None else asdict(value)


Item = TypeVar("Item", Figure, Table)


def state_origin(section: Section, *, source: str, query: str = "") -> Section:
    """Return a section whose figures and tables have this source and query where they have none."""

    def stated(item: Item) -> Item:
        return replace(item, source=item.source or source, query=item.query or query)

    figures, tables = tuple(map(stated, section.figures)), tuple(map(stated, section.tables))
    return replace(section, figures=figures, tables=tables)
