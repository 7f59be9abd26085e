"""The report as Markdown (CommonMark with tables), and its summary as plain text: 72 columns of ASCII, as a
mailing list wants it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from releases.formatting import in_ascii
from reports.forms.cells import headings, key_number, left_out, recompute_command, text_rows, visible_content
from reports.forms.provenance import parameters, provenance
from reports.forms.typesetting import lines_of

Data = Mapping[str, Any]

PLAIN_SPACES = re.compile(r"[ \t\n]+")
"""White space that may become one space: no-break spaces stay."""

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
"""Characters that Markdown could take for markup."""

WIDTH = 72
"""Columns of a line in a mail (RFC 3676 §4.2 asks for at most 78, and quoting adds some)."""


def report_markdown(content: Data, *, marks: str) -> str:
    """Write the whole report; figures are links to the drawings in the folder `figures`.

    `marks` are the words that mark its numbers.
    """
    content = visible_content(content)
    return "\n\n".join(block for block in _blocks(content, marks) if block) + "\n"


def escape(text: str) -> str:
    """Return the text without any markup.

    >>> print(escape("a*b <script> 1. c"))
    a\\*b \\<script\\> 1. c
    """
    return SPECIAL.sub(r"\\\1", " ".join(PLAIN_SPACES.split(text.strip())))


def _blocks(content: Data, marks: str) -> Iterator[str]:
    answer, publication = content["answer"], content["publication"]
    yield f"# First flights in {content['year']}"
    published = f", {publication['date']}" if publication["date"] else ""
    yield f"Version {publication['version']}{published}."
    if marks:
        yield f"**Every number is {escape(marks)}.**"
    if answer["first_line"]:
        yield f"> {escape(answer['first_line'])}"
    yield f"## {escape(answer['headline'])}"
    confidence = f"Confidence: {answer['confidence']['level']}; {answer['confidence']['because']}"
    yield from map(escape, (answer["sentence"], answer["limits"] or "", confidence))
    if answer["deciding"]:
        yield escape(answer["deciding"]["what"])
        yield _commands([answer["deciding"]["command"]])
    yield _list_items(answer["reasons"])
    yield _table(
        ("number", "value", "note"),
        [(number["label"], key_number(number), number["note"]) for number in answer["numbers"]],
        [False] * 3,
    )
    for section in content["sections"]:
        yield from _section(content, section)
    yield "## Limits"
    yield _list_items(content["limits"])
    yield escape(content["fuller"])
    yield "## Method"
    yield from map(escape, content["method"])
    yield "## Provenance"
    yield _list_items(f"{term}: {text}" for term, text in (*provenance(content), *parameters(content)))
    yield "## Rebuild this report"
    yield _commands(content["redo"])
    yield "## Glossary"
    yield _list_items(f"{word}: {meaning}" for word, meaning in content["glossary"].items())
    yield "## Cite"
    yield escape(content["citation"]["line"])


def _section(content: Data, section: Data) -> Iterator[str]:
    yield f"## {escape(section['title'])}"
    yield from map(escape, (section["lead"], *section["notes"]))
    for figure in section["figures"]:
        if figure["rows"]:
            name, title = figure["id"], escape(figure["title"])
            yield f"![{title}](figures/{name}.svg)"
            yield f"**{title}** {escape(figure['caption'])}"
            yield f"Data: [CSV](figures/{name}.csv). {_origin(content, figure)}"
    for table in section["tables"]:
        yield f"### {escape(table['title'])}"
        yield _table(
            headings(table), text_rows(table), [column["kind"] != "text" for column in table["columns"]]
        )
        yield from map(escape, (left_out(table), *table["notes"]))
        yield _origin(content, table)


def _origin(content: Data, item: Data) -> str:
    return f"Source: {escape(item['source'])}. Again by `{recompute_command(content, item['id'])}`"


def _list_items(items: Iterable[str]) -> str:
    return "\n".join(f"- {escape(item)}" for item in items)


def _commands(commands: Sequence[str]) -> str:
    return "\n".join(("```", *commands, "```"))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], is_number: Sequence[bool]) -> str:
    """Return a table, numbers to the right; empty without rows."""
    if not rows:
        return ""
    rule = ["---:" if right else ":---" for right in is_number]
    cells = ([escape(text) for text in row] for row in (heads, *rows))
    head, *body = (f"| {' | '.join(row)} |" for row in cells)
    return "\n".join((head, f"| {' | '.join(rule)} |", *body))


def summary_text(content: Data, *, marks: str) -> str:
    """Return the answer, the numbers that matter, and how to cite the report.

    `marks` are the words that mark its numbers.
    """
    return "\n".join(_summary_lines(visible_content(content), marks)) + "\n"


def _wrap(text: str, *, indent: str = "", hang: str = "") -> list[str]:
    return lines_of(text, WIDTH, first=indent, rest=hang)


def _summary_lines(content: Data, marks: str) -> Iterator[str]:
    answer, deciding = content["answer"], content["answer"]["deciding"]
    yield from _wrap(f"First flights in {content['year']}, version {content['publication']['version']}")
    if marks:
        yield from _wrap(f"Every number is {marks}.".upper())
    yield ""
    if answer["first_line"]:
        yield from [*_wrap(answer["first_line"]), ""]
    yield from _wrap(answer["headline"].upper())
    confidence = f"Confidence: {answer['confidence']['level']}; {answer['confidence']['because']}"
    for paragraph in (answer["sentence"], answer["limits"] or "", confidence):
        yield from _wrap(paragraph)
    if deciding:
        yield from _wrap(deciding["what"])
        yield f"  {in_ascii(deciding['command'])}"
    for reason in answer["reasons"]:
        yield from _wrap(reason, indent="- ", hang="  ")
    yield ""
    for number in answer["numbers"]:
        note = f"; {number['note']}" if number["note"] else ""
        yield from _wrap(f"{key_number(number)} {number['label']}{note}", indent="- ", hang="  ")
    # The checksum has a line of its own: it would not fit beside a word.
    sha256 = content["citation"]["data"].rpartition("sha256:")[2]
    line = content["citation"]["line"].replace(f", sha256:{sha256}", "")
    yield from ["", *_wrap(line, hang="  "), "SHA-256 of the release's data:", f"  {sha256}"]
