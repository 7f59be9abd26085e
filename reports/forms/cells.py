"""Texts of the numbers, tables and commands of report.json, the same in every form of a report."""

from collections.abc import Iterator, Mapping
from typing import Any

from releases.formatting import UNKNOWN, estimate, grouped, significant, stated, visible_text, wholes

Data = Mapping[str, Any]


def visible_content(value: Any) -> Any:  # noqa: ANN401  # JSON has any shape
    """Return the same content with every text visible."""
    if isinstance(value, str):
        return visible_text(value)
    if isinstance(value, Mapping):
        return {name: visible_content(inner) for name, inner in value.items()}
    return [visible_content(inner) for inner in value] if isinstance(value, list | tuple) else value


def figures_of(content: Data) -> Iterator[Data]:
    """Yield every figure of report.json in its order."""
    return (figure for section in content["sections"] for figure in section["figures"])


def tables_of(content: Data) -> Iterator[Data]:
    """Yield every table of report.json in its order."""
    return (table for section in content["sections"] for table in section["tables"])


def recompute_command(content: Data, item: str) -> str:
    """Return the command that computes a figure, table or number again and compares it."""
    return f"firstflight report recompute {content['year']} v{content['publication']['version']} {item}"


def key_number(number: Data) -> str:
    """Return the text of one of the numbers that matter."""
    return estimate(
        number["value"], number["lower"], number["upper"], number["unit"], near=[number["limit"] or 0]
    )


def headings(table: Data) -> list[str]:
    """Return the titles of a table's columns with their units."""
    return [titled(column) for column in table["columns"]]


def titled(column: Data) -> str:
    """Return a column's title with its unit."""
    return f"{column['title']}, {column['unit']}" if column["unit"] else str(column["title"])


def text_rows(table: Data) -> list[list[str]]:
    """Return the rows of a table that documents print, as texts."""
    rows = table["rows"][: table.get("shown")]
    return [[cell(row.get(column["id"]), column) for column in table["columns"]] for row in rows]


def left_out(table: Data) -> str:
    """Return the note on the rows that documents leave out; empty if they print all."""
    shown, count = table.get("shown"), len(table["rows"])
    if not shown or shown >= count:
        return ""
    return f"The first {shown} of {grouped(count)} rows; all are in {table['id']}.csv."


def cell(value: Any, column: Data) -> str:  # noqa: ANN401  # a cell has any type
    """Return the text of a value in its column.

    >>> cell({"estimate": 1.5, "lower": 1, "upper": 2}, {"kind": "interval"}).replace("\u2013", " to ")
    '1.50 (1.00 to 2.00)'
    >>> cell(0.1, {"kind": "number"}), cell(12, {"kind": "count"}), cell(0.5, {"kind": "stated"}), cell("a", {"kind": "text"})
    ('0.100', '12', '0.5', 'a')
    """  # noqa: E501
    if value is None:
        return UNKNOWN
    if isinstance(value, Mapping):
        return estimate(value["estimate"], value["lower"], value["upper"], near=bounds_near(column))
    if column["kind"] == "text" or isinstance(value, str):
        return str(value)
    if column["kind"] == "number":
        return significant(value, near=bounds_near(column))
    return grouped(value) if column["kind"] == "count" else stated(value)


def bounds_near(column: Data) -> tuple[float, ...]:
    """State what the numbers of a column are not rounded to: the bounds that they are held against, and 100
    %.

    >>> bounds_near({"unit": "%", "near": [1.0]}), bounds_near({})
    ((1.0, 100.0), ())
    """
    return (*column.get("near", ()), *wholes(column.get("unit", "")))
