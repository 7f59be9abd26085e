"""The report and its summary as Markdown (CommonMark with tables)."""

import re
from collections.abc import Iterable, Iterator, Sequence

from reports.forms.printed import Figure, Figured, Printed, Section, Table

PLAIN_SPACES = re.compile(r"[ \t\n]+")
"""White space that may become one space: no-break spaces stay."""

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
"""Characters that Markdown could take for markup."""


def summary_markdown(report: Printed) -> str:
    """The answer, the numbers that matter, and how to cite the report."""
    return _joined([*_opening(report), *_closing(report)])


def report_markdown(report: Printed) -> str:
    """The whole report; figures are links to the drawings in the folder `figures`."""
    return _joined(
        [
            *_opening(report),
            *(block for section in report.sections for block in _section(section)),
            *_closing(report),
        ]
    )


def escaped(text: str) -> str:
    """Text without any markup.

    >>> print(escaped("a*b <script> 1. c"))
    a\\*b \\<script\\> 1. c
    """
    return SPECIAL.sub(r"\\\1", " ".join(PLAIN_SPACES.split(text.strip())))


def table_markdown(table: Table) -> str:
    """The rows of a table, numbers to the right."""
    rule = ("---:" if right else ":---" for right in table.is_number)
    heads = (escaped(heading) for heading in table.headings)
    rows = ((escaped(text) for text in row) for row in table.rows)
    return "\n".join(_row(cells) for cells in (heads, rule, *rows))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _joined(blocks: Sequence[str]) -> str:
    return "\n\n".join(block for block in blocks if block) + "\n"


def _opening(report: Printed) -> Iterator[str]:
    yield f"# {escaped(report.title)}"
    published = f", {report.date}" if report.date else ""
    yield f"Version {report.version}{published}."
    if report.marks:
        yield f"**Every number is {escaped(report.marks)}.**"
    if report.warning:
        yield f"> {escaped(report.warning)}"
    yield f"## {escaped(report.headline)}"
    yield from map(escaped, (report.sentence, report.limits, report.confidence))
    if report.deciding:
        yield escaped(report.deciding)
        yield f"```\n{report.deciding_command}\n```"
    yield "\n".join(f"- {escaped(reason)}" for reason in report.reasons)
    if report.numbers:
        yield _numbers(report.numbers)


def _numbers(numbers: Sequence[Figured]) -> str:
    rows = [
        (escaped(one.label), escaped(one.value), escaped(one.note), f"`{one.command}`") for one in numbers
    ]
    heads = ("number", "value", "note", "command that computes it again")
    return "\n".join(_row(cells) for cells in (heads, (":---",) * 4, *rows))


def _closing(report: Printed) -> Iterator[str]:
    yield "## Cite"
    yield escaped(report.citation)
    yield f"Release `sha256:{report.sha256}`"


def _section(section: Section) -> Iterator[str]:
    yield f"## {escaped(section.title)}"
    yield from map(escaped, section.paragraphs)
    yield "\n".join(f"- {escaped(item)}" for item in section.items)
    for figure in section.figures:
        yield from _figure(figure)
    for table in section.tables:
        yield from _table(table)
    if section.commands:
        yield "\n".join(("```", *section.commands, "```"))


def _figure(figure: Figure) -> Iterator[str]:
    yield f"![{escaped(figure.title)}](figures/{figure.id}.svg)"
    yield f"**{escaped(figure.title)}** {escaped(figure.caption)}"
    yield f"Data: [CSV](figures/{figure.id}.csv). {_origin(figure.table)}"


def _table(table: Table) -> Iterator[str]:
    yield f"### {escaped(table.title)}"
    yield table_markdown(table)
    yield from map(escaped, table.notes)
    yield _origin(table)


def _origin(table: Table) -> str:
    return f"Source: {escaped(table.source)}. Again by `{table.command}`"
