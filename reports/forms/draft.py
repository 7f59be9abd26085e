"""What an Internet-Draft takes from a report: sections whose tables fit its lines, and references."""

import dataclasses
import re
from collections.abc import Iterator

from releases.citation.reference import Reference
from releases.citation.work import AUTHOR as PUBLISHED_BY
from reports.forms.ascii_table import GAP
from reports.forms.printed import Printed, Section, Table
from reports.forms.typesetting import widest_word

WIDTH = 66
"""Columns of a table with its borders and indentation."""

MOST_ROWS = 40
"""Most rows of a table in a draft: a page holds about as many."""

AUTHOR = {"fullname": "Your Name", "initials": "Y.", "surname": "Name"}
ORGANIZATION, EMAIL = "Your Organization", "you@example.org"
"""What stands for the author of a draft until somebody takes it over."""

LEFT_OUT = ("glossary", "limits", "provenance")
"""Sections of the report that a draft has no room for, or has in another form."""


REFERENCES = (
    Reference(
        anchor="RFC6928",
        title="Increasing TCP's Initial Window",
        authors=(("J.", "Chu"), ("N.", "Dukkipati"), ("Y.", "Cheng"), ("M.", "Mathis")),
        year=2013,
        month="April",
        target="https://www.rfc-editor.org/info/rfc6928",
        series=(("RFC", "6928"), ("DOI", "10.17487/RFC6928")),
    ),
    Reference(
        anchor="RFC9040",
        title="TCP Control Block Interdependence",
        authors=(("J.", "Touch"), ("M.", "Welzl"), ("S.", "Islam")),
        year=2021,
        month="July",
        target="https://www.rfc-editor.org/info/rfc9040",
        series=(("RFC", "9040"), ("DOI", "10.17487/RFC9040")),
    ),
    Reference(
        anchor="IW10-2010",
        title="An Argument for Increasing TCP's Initial Congestion Window",
        authors=(("N.", "Dukkipati"), ("T.", "Refice"), ("Y.", "Cheng"), ("J.", "Chu"), ("T.", "Herbert"), ("A.", "Agarwal"), ("A.", "Jain"), ("N.", "Sutin")),  # noqa: E501
        year=2010,
        month="July",
        series=(("DOI", "10.1145/1823844.1823848"),),
        content="ACM SIGCOMM Computer Communication Review, vol. 40, no. 3",
    ),
)  # fmt: skip
"""References of every draft besides the report itself."""


def anchor_of(report: Printed) -> str:
    """Anchor of the report's own reference."""
    return f"FIRSTFLIGHT{report.year}"


def references(report: Printed) -> tuple[Reference, ...]:
    """The report itself, and REFERENCES."""
    itself = Reference(
        anchor=anchor_of(report),
        title=report.citation_title,
        authors=(("", PUBLISHED_BY),),
        year=report.year,
        content=f"Version {report.version}",
    )
    return (itself, *REFERENCES)


def draft_name(year: int) -> str:
    """Name of the skeleton, in which `you` stands for the author's name."""
    return f"draft-you-tcpm-iw-evidence-{year}-00"


def abstract(report: Printed) -> str:
    """What the draft is about, and the report's headline."""
    return (
        f"This document gives measured evidence on the initial window of TCP in {report.year}: how much of "
        f"the web fits into it, and what other windows would save and harm. {_qualified(report)}"
    )


def _qualified(report: Printed) -> str:
    marks = f" Every number is {report.marks}." if report.marks else ""
    return f"The report's answer: {report.headline.rstrip('.')}.{marks}"


def sections(report: Printed) -> Iterator[Section]:
    """The body of the draft: introduction, the report's sections, and those that every draft must have."""
    yield Section(
        id="introduction",
        title="Introduction",
        paragraphs=(
            "An initial window of 3 segments was raised to 10 in 2013, on the evidence of 2010. The "
            f"sections below give the evidence of {report.year}. The command after each number, table and "
            "figure computes it again from the report's release, and tells whether it is equal.",
            _qualified(report),
            *filter(
                None, (report.warning, report.sentence, report.limits, report.confidence, report.deciding)
            ),
        ),
        commands=(report.deciding_command,) if report.deciding else (),
        items=report.reasons,
        tables=tuple(_numbers(report)),
    )
    for section in report.sections:
        if section.id not in LEFT_OUT:
            yield dataclasses.replace(
                section,
                tables=tuple(fitting for table in section.tables for fitting in fit(table)),
                paragraphs=(*section.paragraphs, *map(left_out, filter(is_long, section.tables))),
            )
    limits = (item for section in report.sections if section.id == "limits" for item in section.items)
    yield Section(id="limits", title="Limits of the Evidence", paragraphs=(), items=tuple(limits))
    yield Section(
        id="security",
        title="Security Considerations",
        paragraphs=(
            "A larger initial window lets a server send more before the client has shown that it can be "
            "reached at its address. With TCP the handshake shows that first; no amplification is added.",
        ),
    )
    yield Section(id="iana", title="IANA Considerations", paragraphs=("This document has no IANA actions.",))


def _numbers(report: Printed) -> Iterator[Table]:
    if not report.numbers:
        return
    yield Table(
        id="numbers",
        title="The numbers that matter",
        headings=("number", "value", "computed again by"),
        is_number=(False, False, False),
        rows=tuple(
            (f"{one.label}{f' ({one.note})' if one.note else ''}", one.value, one.command)
            for one in report.numbers
        ),
        source="",
        query="",
        command="",
    )


def is_long(table: Table) -> bool:
    """Return whether a table is too long for a draft."""
    return len(table.rows) > MOST_ROWS


def left_out(table: Table) -> str:
    """Where a table is that a draft has no room for."""
    return (
        f"The table \u201c{table.title}\u201d has {len(table.rows)} rows, and is in the report alone; "
        f"{table.command} computes it."
    )


def fit(table: Table) -> Iterator[Table]:
    """The table in parts that fit beside each other's first column; nothing of one that is too long."""
    if is_long(table):
        return
    parts = _parts(table)
    for at, columns in enumerate(parts):
        yield dataclasses.replace(
            table,
            id=table.id if not at else f"{table.id}-{at + 1}",
            title=table.title if len(parts) == 1 else f"{table.title} ({at + 1} of {len(parts)})",
            headings=_chosen(table.headings, columns),
            is_number=tuple(table.is_number[column] for column in columns),
            rows=tuple(_chosen(row, columns) for row in table.rows),
            notes=table.notes if at == len(parts) - 1 else (),
        )


def _chosen(cells: tuple[str, ...], columns: list[int]) -> tuple[str, ...]:
    return tuple(cells[column] for column in columns)


def _parts(table: Table) -> list[list[int]]:
    """Columns by part: the first column in each, then as many of the others as fit by their widest word."""
    need = [
        max(map(widest_word, column)) + GAP + 1 for column in zip(table.headings, *table.rows, strict=True)
    ]
    parts, room = [[0]], WIDTH - need[0]
    for column in range(1, len(need)):
        if need[column] > room and len(parts[-1]) > 1:
            parts.append([0])
            room = WIDTH - need[0]
        parts[-1].append(column)
        room -= need[column]
    return parts


def anchor(name: str) -> str:
    """A name as an XML anchor; the prefix keeps it apart from names that xml2rfc reserves, as `table-`.

    >>> anchor("page_time:avgdc 2010")
    'iw-page_time-avgdc-2010'
    """
    return f"iw-{re.sub(r'[^A-Za-z0-9_.-]', '-', name)}"
