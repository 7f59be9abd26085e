"""The whole report as plain text: 72 columns of ASCII, with its figures drawn in characters."""

from collections.abc import Iterable, Iterator

from reports.forms.ascii_figure import ascii_figure
from reports.forms.ascii_table import ascii_table
from reports.forms.printed import Figure, Printed, Section, Table
from reports.forms.summary_text import INDENT, WIDTH, closing, command_lines, opening, wrapped


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
