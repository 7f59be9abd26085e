"""The report as Markdown (CommonMark with tables), and its summary as plain text: 72 columns of ASCII, as a
mailing list wants it."""

import re
from collections.abc import Iterable, Iterator, Sequence

from releases.formatting import in_ascii
from reports.content import Published
from reports.forms.cells import headings, key_number, left_out, recompute_command, text_rows
from reports.forms.provenance import parameters, provenance
from reports.forms.typesetting import fold_commands, lines_of
from reports.references import reference_text
from reports.sections.shape import Figure, Section, Table

PLAIN_SPACES = re.compile(r"[ \t\n]+")
"""White space that may become one space."""

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&$])")

CODE = re.compile(r"(`(?=\S)[^`<>|]+(?<=\S)`)")

WIDTH = 72
"""Columns of a line in a mail (RFC 3676 §4.2 asks for at most 78, and quoting adds some)."""


def report_markdown(report: Published) -> str:
    return "\n\n".join(block for block in _blocks(report) if block) + "\n"


def escape(text: str) -> str:
    r"""Return the text without markup but for commands between backticks.

    >>> print(escape("a*b <script> 1. c, `d_e`"))
    a\*b \<script\> 1. c, `d_e`
    """
    parts = CODE.split(" ".join(PLAIN_SPACES.split(text.strip())))
    return "".join(part if CODE.fullmatch(part) else SPECIAL.sub(r"\\\1", part) for part in parts)


def _blocks(report: Published) -> Iterator[str]:
    answer, publication = report.answer, report.publication
    yield f"# First flights in {report.year}"
    published = f", {publication.date}" if publication.date else ""
    yield f"Version {publication.version}{published}."
    if report.marks:
        yield f"**Every number is {escape(report.marks)}.**"
    if answer.first_line:
        yield f"> {escape(answer.first_line)}"
    yield f"## {escape(answer.headline)}"
    yield from map(escape, (*answer.sentences, answer.limits or "", answer.confidence.text))
    if answer.deciding:
        yield escape(answer.deciding.what)
        yield _commands([answer.deciding.command])
    yield _table(
        ("number", "value", "note"),
        [(number.label, key_number(number), number.note) for number in answer.numbers],
        [False] * 3,
    )
    for section in report.sections:
        yield from _section(report, section)
    yield "## Limits"
    yield _list_items(report.limits)
    yield escape(report.fuller)
    yield "## Method"
    yield from map(escape, report.method)
    yield "## Provenance"
    yield _list_items(f"{term}: {text}" for term, text in (*provenance(report), *parameters(report)))
    yield "## Rebuild this report"
    yield _commands(report.redo)
    yield "## Glossary"
    yield _list_items(f"{word}: {meaning}" for word, meaning in report.glossary.items())
    yield "## Cite"
    yield escape(report.citation["line"])


def _section(report: Published, section: Section) -> Iterator[str]:
    yield f"## {escape(section.title)}"
    yield escape(section.lead)
    for figure in section.figures:
        if figure.rows:
            name, title = figure.id, escape(figure.title)
            yield f"![{title}](figures/{name}.svg)"
            yield f"**{title}** {escape(figure.caption)}"
            yield f"Data: [CSV](figures/{name}.csv). {_origin(report, figure)}"
    for table in section.tables:
        yield f"### {escape(table.title)}"
        yield _table(headings(table), text_rows(table), [column.kind != "text" for column in table.columns])
        yield from map(escape, (left_out(table), *table.notes))
        yield _origin(report, table)
    for paragraph in section.paragraphs:
        yield f"### {escape(paragraph.title)}"
        yield escape(paragraph.text)
    yield _list_items(
        f"[{entry.anchor}] {reference_text(entry)} {entry.target}".rstrip() for entry in section.references
    )


def _origin(report: Published, item: Figure | Table) -> str:
    return f"Source: {escape(item.source.rstrip('.'))}. Again by `{recompute_command(report, item.id)}`"


def _list_items(items: Iterable[str]) -> str:
    return "\n".join(f"- {escape(item)}" for item in items)


def _commands(commands: Sequence[str]) -> str:
    return "\n".join(("```", *commands, "```"))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], is_number: Sequence[bool]) -> str:
    if not rows:
        return ""
    rule = ["---:" if right else ":---" for right in is_number]
    cells = ([escape(text) for text in row] for row in (heads, *rows))
    head, *body = (f"| {' | '.join(row)} |" for row in cells)
    return "\n".join((head, f"| {' | '.join(rule)} |", *body))


def summary_text(report: Published) -> str:
    return "\n".join(_summary_lines(report)) + "\n"


def _wrap(text: str, *, indent: str = "", hang: str = "") -> list[str]:
    return lines_of(text, WIDTH, first=indent, rest=hang)


def _summary_lines(report: Published) -> Iterator[str]:
    answer, deciding = report.answer, report.answer.deciding
    yield from _wrap(f"First flights in {report.year}, version {report.publication.version}")
    if report.marks:
        yield from _wrap(f"Every number is {report.marks}.".upper())
    yield ""
    if answer.first_line:
        yield from [*_wrap(answer.first_line), ""]
    yield from _wrap(answer.headline)
    for paragraph in (*answer.sentences, answer.limits or "", answer.confidence.text):
        yield from _wrap(paragraph)
    if deciding:
        yield from _wrap(deciding.what)
        yield from (f"  {line}" for line in fold_commands([in_ascii(deciding.command)], WIDTH - 2))
    yield ""
    for number in answer.numbers:
        note = f"; {number.note}" if number.note else ""
        yield from _wrap(f"{key_number(number)} {number.label}{note}", indent="- ", hang="  ")
    # The checksum has a line of its own: it would not fit beside a word.
    sha256 = report.citation["data"].rpartition("sha256:")[2]
    line = report.citation["line"].replace(f", sha256:{sha256}", "")
    yield from ["", *_wrap(line, hang="  "), "SHA-256 of the release's data:", f"  {sha256}"]
