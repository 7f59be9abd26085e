"""Writes the forms of a report beside its page: the folder `forms`.

report.md                         the report as Markdown
brief.html .pdf, slide.svg .png   written by reports.document.report, which draws their plane
report.schema.json                the JSON Schema of report.json
index.json                        each figure and table: its place in the page, its data, query and command
figures/ tables/                  data as CSV; drawings as SVG, PNG and Vega-Lite
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reports.forms.figure_files import Drawn, index_text, write_figures, write_tables
from reports.forms.markdown import report_markdown

Data = Mapping[str, Any]

FOLDER = "forms"
"""Name of the folder beside the page."""


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
