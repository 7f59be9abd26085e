"""The files of each figure and table: data as CSV, drawings, Vega-Lite, and the query."""

import csv
import dataclasses
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reports.forms.ascii_figure import ascii_figure
from reports.forms.monochrome import svg_text
from reports.forms.printed import Printed, Table
from reports.forms.summary_text import wrapped

Data = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Coloured:
    """A figure in colour."""

    svg: str
    """The drawing on white ground, as the PDF has it."""
    png: bytes
    texts: Mapping[str, str]
    """Its files of text by the end of their names: `.svg`,
    `-narrow.svg` for phones if it is a wide one, `.vl.json`."""


def csv_text(columns: Sequence[Data], rows: Sequence[Data]) -> str:
    """Rows as CSV (RFC 4180); an interval takes three columns,
    unknown values and words in place of numbers are empty.

    >>> interval = {"id": "ms", "kind": "interval"}
    >>> print(csv_text([interval], [{"ms": {"estimate": 2.5, "lower": 1.0, "upper": None}}]).replace("\\r", ""), end="")
    ms,ms_lower,ms_upper
    2.5,1.0,
    """  # noqa: E501
    heads = [name for column in columns for name in _names(column)]
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(heads)
    writer.writerows(
        [value for column in columns for value in _values(column, row.get(column["id"]))] for row in rows
    )
    return written.getvalue()


def _names(column: Data) -> list[str]:
    name = column["id"]
    return [name, f"{name}_lower", f"{name}_upper"] if column["kind"] == "interval" else [name]


def _values(column: Data, value: Any) -> list[Any]:  # noqa: ANN401  # a cell has any type
    if column["kind"] == "text":
        return [value]
    known = None if isinstance(value, str) else value
    if column["kind"] != "interval":
        return [known]
    if isinstance(known, Mapping):
        return [known["estimate"], known["lower"], known["upper"]]
    return [known, None, None]


def write_figures(folder: Path, report: Printed, *, charts: Mapping[str, Coloured]) -> None:
    """Write the files of every figure. `charts` are those that are drawn in colour, by id."""
    folder.mkdir()
    for figure in report.figures:
        base = folder / figure.id
        _write(base, ".csv", csv_text(figure.facts["columns"], figure.facts["rows"]))
        if figure.facts.get("bands"):
            _write(base, "-bands.csv", csv_text(band_columns(figure.facts), figure.facts["bands"]))
        _write(base, "-monochrome.svg", svg_text(figure))
        _write(base, ".txt", "\n".join([*wrapped(figure.title), "", *ascii_figure(figure), ""]))
        if figure.id in charts:
            for suffix, text in charts[figure.id].texts.items():
                _write(base, suffix, text)
            base.with_name(f"{base.name}.png").write_bytes(charts[figure.id].png)
        else:
            _write(base, ".svg", svg_text(figure))


def band_columns(figure: Data) -> list[Data]:
    """Columns of the bands of a figure: its own, with the vertical one as an interval."""
    return [{**one, "kind": "interval"} if one["id"] == figure["y"] else one for one in figure["columns"]]


def write_tables(folder: Path, tables: Sequence[Data]) -> None:
    """Write the data of every table as CSV."""
    folder.mkdir()
    for table in tables:
        _write(folder / table["id"], ".csv", csv_text(table["columns"], table["rows"]))


def _write(base: Path, suffix: str, text: str) -> None:
    base.with_name(f"{base.name}{suffix}").write_text(text, encoding="utf-8", newline="")


def index_text(report: Printed) -> str:
    """What each figure and table is, where it stands in the page, and how its data are computed again."""
    listed = [*_entries("figures", (one.table for one in report.figures)), *_entries("tables", report.tables)]
    return json.dumps(listed, indent=2, ensure_ascii=False) + "\n"


def _entries(folder: str, tables: Iterator[Table]) -> Iterator[Data]:
    for one in tables:
        yield {
            "id": one.id,
            "title": one.title,
            "page": f"../index.html#{one.id}",
            "data": f"{folder}/{one.id}.csv",
            "source": one.source,
            "query": one.query,
            "recompute": one.command,
        }
