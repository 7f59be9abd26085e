"""Writes the forms of a report beside its page: the folder `forms`.

report.md                         the report as Markdown
brief.html .pdf, slide.svg .png   written by reports.document.report, which draws their plane
pictures/                         the same: pictures to take, as SVG, PNG and Vega-Lite with their data
report.schema.json                the JSON Schema of report.json
index.json                        each figure and table: its place in the page, its data, query and command
figures/ tables/                  data as CSV; drawings as SVG, PNG and Vega-Lite
"""

import csv
import dataclasses
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reports.content import Published
from reports.forms.cells import recompute_command
from reports.forms.texts import report_markdown
from reports.sections.shape import Column, Figure, Row

FOLDER = "forms"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The drawings of a figure."""

    svg: str
    png: bytes
    vega_lite: str


def csv_text(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    """Return rows as CSV (RFC 4180); an interval takes three columns,
    unknown values and words in place of numbers are empty.

    >>> row = {"ms": {"estimate": 2.5, "lower": 1.0, "upper": None}}
    >>> print(csv_text([Column(id="ms", title="time", kind="interval")], [row]).replace("\\r", ""), end="")
    ms,ms_lower,ms_upper
    2.5,1.0,
    """
    heads = [name for column in columns for name in _names(column)]
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(heads)
    writer.writerows(
        [value for column in columns for value in _values(column, row.get(column.id))] for row in rows
    )
    return written.getvalue()


def _names(column: Column) -> list[str]:
    name = column.id
    return [name, f"{name}_lower", f"{name}_upper"] if column.kind == "interval" else [name]


def _values(column: Column, value: Any) -> list[Any]:  # noqa: ANN401  # a cell has any type
    if column.kind == "text":
        return [value]
    known = None if isinstance(value, str) else value
    if column.kind != "interval":
        return [known]
    if isinstance(known, Mapping):
        return [known["estimate"], known["lower"], known["upper"]]
    return [known, None, None]


def write_figures(folder: Path, report: Published, *, charts: Mapping[str, Drawn]) -> None:
    """Write the files of every figure; one without data has no drawing."""
    folder.mkdir()
    for figure in report.figures():
        base = folder / figure.id
        _write(base, ".csv", csv_text(figure.columns, figure.rows))
        if figure.bands:
            _write(base, "-bands.csv", csv_text(band_columns(figure), figure.bands))
        if drawn := charts.get(figure.id):
            _write(base, ".svg", drawn.svg)
            _write(base, ".vl.json", drawn.vega_lite)
            base.with_name(f"{base.name}.png").write_bytes(drawn.png)


def band_columns(figure: Figure) -> list[Column]:
    return [
        dataclasses.replace(column, kind="interval") if column.id == figure.y else column
        for column in figure.columns
    ]


def write_tables(folder: Path, report: Published) -> None:
    folder.mkdir()
    for table in report.tables():
        _write(folder / table.id, ".csv", csv_text(table.columns, table.rows))


def _write(base: Path, suffix: str, text: str) -> None:
    base.with_name(f"{base.name}{suffix}").write_text(text, encoding="utf-8", newline="")


def index_text(report: Published) -> str:
    """State what each item is, where it stands, and how its data are computed again."""
    listed = [
        {
            "id": item.id,
            "title": item.title,
            "page": f"../index.html#{item.id}",
            "data": f"{folder}/{item.id}.csv",
            "source": item.source,
            "query": item.query,
            "recompute": recompute_command(report, item.id),
        }
        for folder, items in (("figures", [*report.figures()]), ("tables", [*report.tables()]))
        for item in items
    ]
    return json.dumps(listed, separators=(",", ":"), ensure_ascii=False) + "\n"


def write_forms(
    folder: Path, report: Published, *, charts: Mapping[str, Drawn], schema: Mapping[str, Any]
) -> None:
    """Write the forms into a new folder."""
    folder.mkdir()
    write_figures(folder / "figures", report, charts=charts)
    write_tables(folder / "tables", report)
    texts = {
        "report.md": report_markdown(report),
        "report.schema.json": json.dumps(schema, indent=2, sort_keys=True) + "\n",
        "index.json": index_text(report),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
