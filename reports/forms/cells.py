"""Texts of the numbers, tables and commands of report.json, the same in every form of a report."""

from collections.abc import Mapping
from typing import Any

from releases.formatting import UNKNOWN, estimate, grouped, significant, stated, wholes
from reports.answer import KeyNumber
from reports.content import Published
from reports.sections.shape import Column, Table


def recompute_command(report: Published, item: str) -> str:
    return f"firstflight report recompute {report.year} v{report.publication.version} {item}"


def key_number(number: KeyNumber) -> str:
    return estimate(number.value, number.lower, number.upper, number.unit, near=[number.limit or 0])


def headings(table: Table) -> list[str]:
    return [titled(column) for column in table.columns]


def titled(column: Column) -> str:
    return f"{column.title}, {column.unit}" if column.unit else column.title


def text_rows(table: Table) -> list[list[str]]:
    """Return the rows that documents print, as texts."""
    return [
        [cell(row.get(column.id), column) for column in table.columns] for row in table.rows[: table.shown]
    ]


def left_out(table: Table) -> str:
    """Return the note on rows that documents leave out, if any."""
    count = len(table.rows)
    if not table.shown or table.shown >= count:
        return ""
    return f"The first {table.shown} of {grouped(count)} rows; all are in {table.id}.csv."


def cell(value: Any, column: Column) -> str:  # noqa: ANN401  # a cell has any type
    """Return the text of a value in its column.

    >>> interval = Column(id="gain", title="gain", kind="interval")
    >>> cell({"estimate": 1.5, "lower": 1, "upper": 2}, interval).replace("\u2013", " to ")
    '1.50 (1.00 to 2.00)'
    >>> [cell(12, Column(id="a", title="a", kind=kind)) for kind in ("number", "count", "stated", "text")]
    ['12.0', '12', '12', '12']
    """
    if value is None:
        return UNKNOWN
    if isinstance(value, Mapping):
        return estimate(value["estimate"], value["lower"], value["upper"], near=bounds_near(column))
    if column.kind == "text" or isinstance(value, str):
        return str(value)
    if column.kind == "number":
        return significant(value, near=bounds_near(column))
    return grouped(value) if column.kind == "count" else stated(value)


def bounds_near(column: Column) -> tuple[float, ...]:
    """Return what a column's numbers are not rounded to: their bounds, and 100 %.

    >>> bounds_near(Column(id="gain", title="gain", unit="%", near=(1.0,)))
    (1.0, 100.0)
    """
    return (*column.near, *wholes(column.unit))
