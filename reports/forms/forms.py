"""Writes the forms of a report beside its page: the folder `forms`.

report.md                         the report as Markdown
brief.html .pdf, slide.svg .png   written by reports.document.report, which draws their plane
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

from reports.forms.cells import figures_of, recompute_command, tables_of, visible_content
from reports.forms.texts import report_markdown

Data = Mapping[str, Any]

FOLDER = "forms"
"""Name of the folder beside the page."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The drawings of a figure."""

    svg: str
    png: bytes
    vega_lite: str


def csv_text(columns: Sequence[Data], rows: Sequence[Data]) -> str:
    """Return rows as CSV (RFC 4180); an interval takes three columns,
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


def write_figures(folder: Path, content: Data, *, charts: Mapping[str, Drawn]) -> None:
    """Write the files of every figure. `charts` are their drawings by id; a figure without data has none."""
    folder.mkdir()
    for figure in figures_of(content):
        base = folder / figure["id"]
        _write(base, ".csv", csv_text(figure["columns"], figure["rows"]))
        if figure["bands"]:
            _write(base, "-bands.csv", csv_text(band_columns(figure), figure["bands"]))
        if drawn := charts.get(figure["id"]):
            _write(base, ".svg", drawn.svg)
            _write(base, ".vl.json", drawn.vega_lite)
            base.with_name(f"{base.name}.png").write_bytes(drawn.png)


def band_columns(figure: Data) -> list[Data]:
    """Return columns of the bands of a figure: its own, with the vertical one as an interval."""
    return [
        {**column, "kind": "interval"} if column["id"] == figure["y"] else column
        for column in figure["columns"]
    ]


def write_tables(folder: Path, content: Data) -> None:
    """Write the data of every table as CSV."""
    folder.mkdir()
    for table in tables_of(content):
        _write(folder / table["id"], ".csv", csv_text(table["columns"], table["rows"]))


def _write(base: Path, suffix: str, text: str) -> None:
    base.with_name(f"{base.name}{suffix}").write_text(text, encoding="utf-8", newline="")


def index_text(content: Data) -> str:
    """State what each figure and table is, where it stands in the page, and how its data are computed
    again."""
    listed = [
        {
            "id": item["id"],
            "title": item["title"],
            "page": f"../index.html#{item['id']}",
            "data": f"{folder}/{item['id']}.csv",
            "source": item["source"],
            "query": item["query"],
            "recompute": recompute_command(content, item["id"]),
        }
        for folder, items in (("figures", figures_of(content)), ("tables", tables_of(content)))
        for item in items
    ]
    return json.dumps(visible_content(listed), indent=2, ensure_ascii=False) + "\n"


def write_forms(
    folder: Path, content: Data, *, marks: str, charts: Mapping[str, Drawn], schema: Data
) -> None:
    """Write the forms of the content of report.json into a new folder.

    `marks` are the words that mark its numbers; `charts` the figures that are drawn, by id;
    `schema` that of the content.
    """
    folder.mkdir()
    write_figures(folder / "figures", content, charts=charts)
    write_tables(folder / "tables", content)
    texts = {
        "report.md": report_markdown(content, marks=marks),
        "report.schema.json": json.dumps(schema, indent=2, sort_keys=True) + "\n",
        "index.json": index_text(content),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
