"""Blocks and a skeleton of an Internet-Draft for kramdown-rfc, with nothing to fetch."""

import json
import re
from collections.abc import Iterator
from typing import Any

from releases.citation.reference import reference_block, reference_facts, written
from releases.formatting import in_ascii
from reports.forms.draft import (
    AUTHOR,
    EMAIL,
    ORGANIZATION,
    abstract,
    anchor,
    anchor_of,
    draft_name,
    references,
    sections,
)
from reports.forms.printed import Figure, Printed, Section, Table
from reports.forms.rfcxml import figure_element
from reports.forms.typesetting import TIE, tied_ascii

SPECIAL = re.compile(r"""([\\`*_{}\[\]<>#|$"':!()+=-])""")
"""Characters that kramdown could take for markup, or would replace by typographic ones,
and that a backslash escapes."""
ENTITIES = {"&": "&amp;", "~": "&#126;", "^": "&#94;", TIE: "&#160;"}
"""Characters that a backslash does not escape in kramdown."""


def draft_kramdown(report: Printed) -> str:
    """The whole skeleton."""
    parts = [
        f"---\n{front_matter(report)}",
        "--- abstract",
        escaped(abstract(report)),
        "--- middle",
        *(block for section in sections(report) for block in _section(report, section)),
        "--- back",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def escaped(text: str) -> str:
    """ASCII text without any markup.

    >>> print(escaped("IW <b> & {{x}}"))
    IW \\<b\\> &amp; \\{\\{x\\}\\}
    >>> print(escaped("about ~ 10^6"))
    about &#126; 10&#94;6
    """
    marked = SPECIAL.sub(r"\\\1", " ".join(tied_ascii(text).split()))
    return "".join(ENTITIES.get(one, one) for one in marked)


def front_matter(report: Printed) -> str:
    """The YAML before the text; JSON values are YAML too, whatever they contain."""
    facts: dict[str, Any] = {
        "title": f"Evidence on TCP's Initial Window in {report.year}",
        "abbrev": f"IW Evidence {report.year}",
        "docname": draft_name(report.year),
        "category": "info",
        "submissiontype": "IETF",
        "ipr": "trust200902",
        "area": "WIT",
        "workgroup": "tcpm",
        "v": 3,
        "stand_alone": True,
        "author": [{"name": AUTHOR["fullname"], "org": ORGANIZATION, "email": EMAIL}],
        "informative": {one.anchor: reference_facts(one) for one in references(report)},
    }
    lines = [f"{name}: {json.dumps(value)}" for name, value in facts.items() if name != "informative"]
    return "\n".join([*lines, "informative:", *map(reference_block, references(report))])


def _section(report: Printed, section: Section) -> Iterator[str]:
    yield f"# {escaped(section.title)} {{#{anchor(f'about-{section.id}')}}}"
    yield from map(escaped, section.paragraphs)
    yield from (f"`{in_ascii(command)}`" for command in section.commands)
    yield "\n".join(f"* {escaped(item)}" for item in section.items)
    if section.id == "introduction":
        yield (
            f"The report is {{{{{anchor_of(report)}}}}}; the window of 10 segments is that of "
            "{{RFC6928}}, its evidence that of {{IW10-2010}}, "
            "and a window that adapts that of {{RFC9040}}."
        )
    for figure in section.figures:
        yield figure_block(figure)
        yield _again(figure.table)
    for table in section.tables:
        yield table_block(table)
        yield from map(escaped, table.notes)
        if table.command:
            yield _again(table)


def _again(table: Table) -> str:
    source = f" (source\\: {escaped(table.source)})" if table.source else ""
    return f"{{{{{anchor(table.id)}}}}} is computed again by `{in_ascii(table.command)}`{source}."


def table_block(table: Table) -> str:
    """A table with its anchor and title."""
    rule = ("--:" if right else ":--" for right in table.is_number)
    heads = (escaped(heading) or "&#160;" for heading in table.headings)
    rows = ((escaped(text) for text in row) for row in table.rows)
    lines = (f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows))
    return "\n".join((*lines, f"{{: #{anchor(table.id)} title={quoted(table.title)}}}"))


INERT = str.maketrans({"\\": "/", "{": "(", "}": ")", "<": "(", ">": ")", '"': "'", "&": "+", "|": "/"})
"""What replaces characters that kramdown-rfc takes for markup in an attribute's value,
however they are escaped."""


def quoted(text: str) -> str:
    """Text as the value of an attribute.

    >>> print(quoted('a "b" {c}'))
    "a 'b' (c)"
    """
    return f'"{" ".join(in_ascii(text).translate(INERT).split())}"'


def figure_block(figure: Figure) -> str:
    """A figure as RFCXML, which kramdown-rfc passes on."""
    return written(figure_element(figure)).rstrip()
