"""Writes every form of a report but the page: the folder `forms` beside it.

report.md .txt .pdf, summary.md    the report in other formats
brief.html .pdf, slide.svg .png   written by reports.document.report, which draws their plane
report.schema.json                the JSON Schema of report.json
index.json                        each figure and table: its place in the page, its data, query and command
figures/ tables/ data as CSV; drawings as SVG, SVG for phones, PNG, Vega-Lite, ASCII, and SVG in
                                  black and white
draft/ a skeleton of an Internet-Draft for kramdown-rfc and in RFCXML, and its blocks one by one;
a figure is a
                                  block of RFCXML for both, since kramdown-rfc passes it on
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from releases.citation.reference import reference_block, reference_element, written
from reports.forms.ascii_figure import ascii_figure
from reports.forms.ascii_table import ascii_table
from reports.forms.draft import draft_name, fit, references
from reports.forms.figure_files import Coloured, index_text, write_figures, write_tables
from reports.forms.json_schema import schema_text
from reports.forms.kramdown import draft_kramdown, table_block
from reports.forms.markdown import report_markdown, summary_markdown
from reports.forms.monochrome import svg_text
from reports.forms.pdf import pdf
from reports.forms.printed import Figure, Printed, Section, Table, printed, tables_of
from reports.forms.rfcxml import draft_xml, figure_element, table_element
from reports.forms.summary_text import INDENT, WIDTH, closing, command_lines, opening, wrapped

Data = Mapping[str, Any]

FOLDER = "forms"
"""Name of the folder beside the page."""

DRAFTS = "draft"


def draft_path(year: int) -> str:
    """Path of the Internet-Draft from the page, without its suffix (`.md`, `.xml`)."""
    return f"{FOLDER}/{DRAFTS}/{draft_name(year)}"


def write_forms(folder: Path, content: Data, *, marks: str, charts: Mapping[str, Coloured]) -> Printed:
    """Write all forms of the content of report.json into a new folder; returns the printed report.

    `marks` are the words that mark its numbers; `charts` the figures that are drawn in colour, by id.
    """
    report = printed(content, marks=marks)
    folder.mkdir()
    write_figures(folder / "figures", report, charts=charts)
    write_tables(folder / "tables", list(tables_of(content)))
    drawings = {
        figure.id: charts[figure.id].svg if figure.id in charts else svg_text(figure)
        for figure in report.figures
    }
    texts = {
        "summary.md": summary_markdown(report),
        "report.md": report_markdown(report),
        "report.txt": report_text(report),
        "report.schema.json": schema_text(content["format_version"]),
        "index.json": index_text(report),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "report.pdf").write_bytes(pdf(report, drawings=drawings))
    _write_draft(folder / DRAFTS, report)
    return report


def _write_draft(folder: Path, report: Printed) -> None:
    blocks = folder / "blocks"
    blocks.mkdir(parents=True)
    made = {f"../{draft_name(report.year)}": (draft_kramdown(report), draft_xml(report))}
    for table in (part for whole in report.tables for part in fit(whole)):
        made[table.id] = (table_block(table), written(table_element(table)))
    reference = references(report)[0]
    made["reference"] = (reference_block(reference), written(reference_element(reference)))
    for name, (kramdown, rfcxml) in made.items():
        (blocks / f"{name}.md").write_text(f"{kramdown.rstrip()}\n", encoding="utf-8")
        (blocks / f"{name}.xml").write_text(rfcxml, encoding="utf-8")
    for figure in report.figures:
        (blocks / f"{figure.id}.xml").write_text(written(figure_element(figure)), encoding="utf-8")


def report_text(report: Printed) -> str:
    """The same content as the Markdown form: answer, sections with figures and tables, citation."""
    blocks = [
        opening(report),
        _again(one.command for one in report.numbers),
        *(block for section in report.sections for block in _section(section)),
        _heading("Cite", "="),
        closing(report),
    ]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


def _section(section: Section) -> Iterator[list[str]]:
    yield ["", *_heading(section.title, "=")]
    yield from map(wrapped, section.paragraphs)
    yield from (wrapped(item, indent="- ", hang="  ") for item in section.items)
    for figure in section.figures:
        yield from _figure(figure)
    for table in section.tables:
        yield from _table(table)
    yield list(command_lines(section.commands))


def _figure(figure: Figure) -> Iterator[list[str]]:
    yield _heading(figure.title, "-")
    yield [f"{INDENT}{line}".rstrip() for line in ascii_figure(figure)]
    yield wrapped(figure.caption)
    yield _origin(figure.table)


def _table(table: Table) -> Iterator[list[str]]:
    yield _heading(table.title, "-")
    yield ascii_table(table.headings, table.is_number, table.rows, width=WIDTH)
    yield from map(wrapped, table.notes)
    yield _origin(table)


def _heading(text: str, rule: str) -> list[str]:
    title = wrapped(text)
    return [*title, rule * max(map(len, title))]


def _origin(table: Table) -> list[str]:
    return [*wrapped(f"Source: {table.source}."), *_again([table.command])]


def _again(commands: Iterable[str]) -> list[str]:
    lines = list(command_lines(commands))
    return ["Computed again by:", *lines] if lines else []
