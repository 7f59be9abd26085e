"""An Internet-Draft to begin with, in RFCXML version 3 (RFC 7991), and single tables for another draft."""

import dataclasses
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence

from releases.formatting import in_ascii
from reports.content import Published
from reports.forms.cells import headings, key_number, left_out, recompute_command, text_rows
from reports.forms.typesetting import fold_commands, tie_ascii
from reports.references import CITATION, Reference, cited, parts_of
from reports.sections.shape import Column, Table
from schema.authors import MAINTAINERS

MOST_WORDS = 3_000
"""Words of a draft that a working group reads."""

TABLES: Mapping[str, tuple[str, ...]] = {
    "policies": (),
    "round-trips": (),
    "lists": (),
    "checklist": (),
    "shares": ("unknown", "iw6"),
    "backcast-choices": (),
}
"""Tables of the draft, and the columns that it leaves out. The last are left out where they would make it
longer than MOST_WORDS."""

INTRODUCTION = (
    "An initial window of 3 segments was raised to 10 in 2013 [RFC6928], on the evidence of 2010 "
    "[IW10-2010]. The sections below give the evidence of {year}, from the report [FIRSTFLIGHT{year}], which "
    "has the whole of it. The command after each table computes the table again from the report's data, and "
    "tells whether it is equal."
)

WIDTH, BORDER = 66, 3
"""Columns of a table, and of a border with the spaces beside a cell."""

HEADER = '<?xml version="1.0" encoding="utf-8"?>\n'

TIE = "\u00a0"
"""Keeps a number and its unit on one line."""


def draft_name(year: int) -> str:
    return f"draft-you-tcpm-iw-evidence-{year}-00"


def draft_xml(report: Published) -> str:
    """Return the draft of a report, with as many of TABLES as MOST_WORDS allow."""
    for count in range(len(TABLES), -1, -1):
        xml = _draft(report, [*TABLES][:count])
        if len(re.sub("<[^>]*>", " ", xml).split()) <= MOST_WORDS:
            break
    return xml


def _draft(report: Published, names: Sequence[str]) -> str:
    root = ET.Element(
        "rfc",
        {
            "version": "3",
            "ipr": "trust200902",
            "docName": draft_name(report.year),
            "submissionType": "IETF",
            "category": "info",
            "consensus": "true",
            "xml:lang": "en",
            "tocInclude": "true",
            "symRefs": "true",
            "sortRefs": "true",
        },
    )
    root.append(_front(report))
    ET.SubElement(root, "middle").extend(_sections(report, names))
    listed = ET.SubElement(ET.SubElement(root, "back"), "references")
    _text(listed, "name", "Informative References")
    listed.extend(map(_reference, _references(report).values()))
    return HEADER + _serialise(root)


def _references(report: Published) -> dict[str, Reference]:
    own = _own(report)
    listed = [reference for section in report.sections for reference in section.references]
    known = (own, *cited(INTRODUCTION), *listed)
    return {reference.anchor: reference for reference in known if CITATION.fullmatch(f"[{reference.anchor}]")}


def table_blocks(report: Published, items: Sequence[str]) -> str:
    """Return tables as blocks, by their ids; KeyError names a missing one."""
    tables = {table.id: table for table in report.tables()}
    return "\n".join(_serialise(block) for item in items for block in _table(tables[item]))


def _front(report: Published) -> ET.Element:
    front, year = ET.Element("front"), report.year
    _text(front, "title", f"Evidence on TCP's Initial Window in {year}").set("abbrev", f"IW Evidence {year}")
    ET.SubElement(front, "seriesInfo", {"name": "Internet-Draft", "value": draft_name(year)})
    names = {"fullname": "Your Name", "initials": "Y.", "surname": "Name"}
    author = ET.SubElement(front, "author", names)
    _text(author, "organization", "Your Organization")
    _text(ET.SubElement(author, "address"), "email", "you@example.org")
    ET.SubElement(front, "date")  # the day on which the draft is made
    _text(front, "area", "WIT")
    _text(front, "workgroup", "tcpm")
    _text(
        ET.SubElement(front, "abstract"),
        "t",
        f"This document gives measured evidence on the initial window of TCP in {year}: how much of the web "
        "fits into it, what larger windows save, and what they cost. "
        f"{report.answer.headline}",
    )
    return front


def _sections(report: Published, names: Sequence[str]) -> Iterator[ET.Element]:
    answer, deciding = report.answer, report.answer.deciding
    introduction = _section(
        "introduction",
        "Introduction",
        f"Every number is {report.marks}." if report.marks else "",
        answer.first_line,
        answer.limits,
    )
    introduction.insert(1, _citing("t", INTRODUCTION.format(year=report.year), _references(report)))
    yield introduction
    numbers = Table(
        id="numbers",
        title="The numbers that matter",
        columns=tuple(Column(id=name, title=name, kind="text") for name in ("what", "value")),
        rows=tuple({"what": number.label, "value": key_number(number)} for number in answer.numbers),
        source="",
        query="",
    )
    first = _section(
        "answer",
        "The Answer",
        answer.headline,
        *answer.sentences,
        answer.confidence.text,
        deciding.what if deciding else "",
    )
    first.extend(_table(numbers))
    yield first
    yield from _evidence(report, names)
    limits = _section("limits", "Limits of the Evidence")
    _items(limits, "li", report.limits)
    yield limits
    redo = _section("redo", "Computing It Again", "These commands make the report again from its release.")
    ET.SubElement(redo, "sourcecode", {"type": "shell"}).text = in_ascii(
        "\n".join(fold_commands(report.redo, WIDTH))
    )
    yield redo
    yield _section(
        "security",
        "Security Considerations",
        "A larger initial window lets a server send more before the client has shown that it can be reached "
        "at its address. With TCP the handshake shows that first; no amplification is added.",
    )
    yield _section("iana", "IANA Considerations", "This document has no IANA actions.")


def _evidence(report: Published, names: Sequence[str]) -> Iterator[ET.Element]:
    """Yield the sections with a table or paragraphs of these names."""
    references = _references(report)
    for section in report.sections:
        own = [table for name in names for table in section.tables if table.id == name]
        if not own and not section.paragraphs:
            continue
        element = _section(f"about-{section.id}", section.title)
        element.append(_citing("t", section.lead, references))
        for table in own:
            columns = tuple(column for column in table.columns if column.id not in TABLES[table.id])
            element.extend(_table(dataclasses.replace(table, columns=columns)))
            again = ET.SubElement(element, "t")
            again.text = "The table is computed again by "
            _text(again, "tt", recompute_command(report, table.id)).tail = "."
        for paragraph in section.paragraphs:
            part = _section(f"{section.id}-{paragraph.id}", paragraph.title)
            part.append(_citing("t", paragraph.text, references))
            element.append(part)
        yield element


def _section(name: str, title: str, *paragraphs: str | None) -> ET.Element:
    element = ET.Element("section", {"anchor": _anchor(name)})
    _text(element, "name", title)
    for paragraph in filter(None, paragraphs):
        _text(element, "t", paragraph)
    return element


def _citing(name: str, text: str, references: Mapping[str, Reference]) -> ET.Element:
    element = ET.Element(name)
    last: ET.Element | None = None
    for part, to in parts_of(text, references):
        if last is None:
            element.text = tie_ascii(part, tie=TIE)
        else:
            last.tail = tie_ascii(part, tie=TIE)
        if to is not None:
            last = ET.SubElement(element, "xref", {"target": to.anchor})
    return element


def _items(parent: ET.Element, name: str, texts: Iterable[str]) -> None:
    items = ET.SubElement(parent, "ul")
    for text in texts:
        _text(items, name, text)


def _table(table: Table) -> Iterator[ET.Element]:
    """Yield blocks of a table, in as many parts as fit beside its first column."""
    heads, rows = headings(table), text_rows(table)
    parts = _parts([heads, *rows])
    for at, columns in enumerate(parts, start=1):
        named = {"anchor": _anchor(table.id if at == 1 else f"{table.id}-{at}")}
        element = ET.Element("table", named)
        _text(element, "name", table.title + (f" ({at} of {len(parts)})" if len(parts) > 1 else ""))
        for part, lines, cell in (("thead", [heads], "th"), ("tbody", rows, "td")):
            within = ET.SubElement(element, part)
            for line in lines:
                row = ET.SubElement(within, "tr")
                for column in columns:
                    is_text = table.columns[column].kind == "text"
                    _text(row, cell, line[column]).set("align", "left" if is_text else "right")
        yield element
    for note in filter(None, (left_out(table), *table.notes)):
        element = ET.Element("t")
        element.text = tie_ascii(note, tie=TIE)
        yield element


def _parts(rows: Sequence[Sequence[str]]) -> list[list[int]]:
    """Return columns by part: the first column in each, then as many of the others as fit by their widest
    word.

    >>> _parts([["window", "saved", "sent again"], ["IW 16", "1" * 30, "2" * 40]])
    [[0, 1], [0, 2]]
    """
    need = [
        max(len(word) for text in column for word in tie_ascii(text).split() or [""]) + BORDER
        for column in zip(*rows, strict=True)
    ]
    parts, room = [[0]], WIDTH - need[0]
    for column in range(1, len(need)):
        if need[column] > room and len(parts[-1]) > 1:
            parts.append([0])
            room = WIDTH - need[0]
        parts[-1].append(column)
        room -= need[column]
    return parts


def _own(report: Published) -> Reference:
    publication = report.publication
    return Reference(
        anchor=f"FIRSTFLIGHT{report.year}",
        title=report.citation["title"],
        authors=(("", MAINTAINERS.name),),
        date={"year": str(publication.date or report.year)[:4]},
        content=f"Version {publication.version}",
    )


def _reference(reference: Reference) -> ET.Element:
    element = ET.Element(
        "reference",
        {
            "anchor": reference.anchor,
            **({"target": in_ascii(reference.target)} if reference.target else {}),
        },
    )
    front = ET.SubElement(element, "front")
    _text(front, "title", reference.title)
    for initials, surname in reference.authors:
        if initials:
            names = {"initials": in_ascii(initials), "surname": in_ascii(surname)}
            names["fullname"] = f"{names['initials']} {names['surname']}"
            ET.SubElement(front, "author", names)
        else:
            _text(ET.SubElement(front, "author"), "organization", surname)
    ET.SubElement(
        front, "date", {part: reference.date[part] for part in ("month", "year") if part in reference.date}
    )
    for name, value in reference.series:
        ET.SubElement(element, "seriesInfo", {"name": name, "value": value})
    if reference.content:
        _text(element, "refcontent", reference.content)
    return element


def _anchor(name: str) -> str:
    """Return an XML anchor; the prefix keeps it apart from xml2rfc's own, as `table-`.

    >>> _anchor("page_time:avgdc 2010")
    'iw-page_time-avgdc-2010'
    """
    return f"iw-{re.sub(r'[^A-Za-z0-9_.-]', '-', name)}"


def _text(parent: ET.Element, name: str, text: str) -> ET.Element:
    """Add a child of text in ASCII, but for no-break spaces."""
    element = ET.SubElement(parent, name)
    element.text = tie_ascii(text, tie=TIE)
    return element


def _serialise(element: ET.Element) -> str:
    ET.indent(element)
    return ET.tostring(element, encoding="unicode") + "\n"
