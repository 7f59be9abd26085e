"""A report as it is printed: sections of text, tables of text cells, and figures with their data,
read from report.json.

Every form of the report but the page is a rendering of `Printed`.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from releases.formatting import UNKNOWN, estimate, grouped, significant, stated, visible_text, wholes
from reports.forms.provenance import parameters, provenance

Data = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table whose cells are text."""

    id: str
    title: str
    headings: tuple[str, ...]
    is_number: tuple[bool, ...]
    """Columns that are aligned to the right."""
    rows: tuple[tuple[str, ...], ...]
    source: str
    query: str
    command: str
    """Command that computes the table again and compares it."""
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure with its data as a table, and what a drawing needs of them."""

    table: Table
    caption: str
    facts: Data
    """The figure of report.json: drawing, axes, columns, rows and lines."""
    marks: str = ""
    """Words that mark every number; they are part of each drawing, so that copies have them too."""

    @property
    def id(self) -> str:
        """Anchor of the figure, the same in every form."""
        return self.table.id

    @property
    def title(self) -> str:
        """Title without its caption."""
        return self.table.title


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of the report."""

    id: str
    title: str
    paragraphs: tuple[str, ...]
    items: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    empty_figures: tuple[Figure, ...] = ()
    """Figures without data, which have files as the others, and no place in a document."""
    tables: tuple[Table, ...] = ()
    commands: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Figured:
    """One of the numbers that matter, with the command that computes it again."""

    id: str
    label: str
    value: str
    note: str
    command: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """A whole report, ready for any form."""

    year: int
    version: int
    date: str | None
    """Day of publication, as 2027-01-15; None if it is not known."""
    title: str
    marks: str
    """Words that mark every number; empty if the report is evidence."""
    warning: str
    """What must be read before everything else; empty if there is nothing."""
    limits: str
    """What recorded pages are and are not; empty for a crawl of ours."""
    headline: str
    sentence: str
    confidence: str
    deciding: str
    """What would decide an open question; empty if none is open."""
    deciding_command: str
    reasons: tuple[str, ...]
    numbers: tuple[Figured, ...]
    citation: str
    citation_title: str
    sha256: str
    """Checksum of the release."""
    sections: tuple[Section, ...]

    @property
    def name(self) -> str:
        """Year and version, as the command line takes them."""
        return f"{self.year} v{self.version}"

    @property
    def figures(self) -> Iterator[Figure]:
        """Every figure, in the order of the report, those without data last in their sections."""
        return (one for section in self.sections for one in (*section.figures, *section.empty_figures))

    @property
    def tables(self) -> Iterator[Table]:
        """Every table that is no figure's, in the order of the report."""
        return (table for section in self.sections for table in section.tables)


def printed(content: Data, *, marks: str) -> Printed:
    """The printed form of the content of report.json; `marks` are the words that mark its numbers."""
    content = visible_content(content)
    answer, publication = content["answer"], content.get("publication") or {}
    version, deciding = publication.get("version", 1), answer["deciding"]
    recompute = f"firstflight report recompute {content['year']} v{version}"
    return Printed(
        year=content["year"],
        version=version,
        date=publication.get("date"),
        title=f"First flights in {content['year']}",
        marks=marks,
        warning=answer["first_line"] or "",
        limits=answer["limits"] or "",
        headline=answer["headline"],
        sentence=answer["sentence"],
        confidence=f"Confidence: {answer['confidence']['level']}; {answer['confidence']['because']}",
        deciding=deciding["what"] if deciding else "",
        deciding_command=deciding["command"] if deciding else "",
        reasons=tuple(answer["reasons"]),
        numbers=tuple(_key_number(one, recompute) for one in answer["numbers"]),
        citation=content["citation"]["line"],
        citation_title=content["citation"]["title"],
        sha256=content["release"]["sha256"],
        sections=tuple(_sections(content, marks, recompute)),
    )


def visible_content(value: Any) -> Any:  # noqa: ANN401  # JSON has any shape
    """The same content with every text visible."""
    if isinstance(value, str):
        return visible_text(value)
    if isinstance(value, Mapping):
        return {name: visible_content(inner) for name, inner in value.items()}
    return [visible_content(inner) for inner in value] if isinstance(value, list | tuple) else value


def _key_number(one: Data, recompute: str) -> Figured:
    value = estimate(one["value"], one["lower"], one["upper"], one["unit"], near=[one["limit"] or 0])
    return Figured(
        id=f"number-{one['id']}",
        label=one["label"],
        value=value,
        note=one["note"],
        command=f"{recompute} number-{one['id']}",
    )


def _sections(content: Data, marks: str, recompute: str) -> Iterator[Section]:
    for one in content["sections"]:
        figures = tuple(_figure(figure, marks, recompute) for figure in one["figures"])
        yield Section(
            id=one["id"],
            title=one["title"],
            paragraphs=tuple(text for text in (one["lead"], one["missing"], *one["notes"]) if text),
            figures=tuple(figure for figure in figures if figure.table.rows),
            empty_figures=tuple(figure for figure in figures if not figure.table.rows),
            tables=tuple(_table(table, recompute, table["notes"]) for table in one["tables"]),
        )
    facts = (*provenance(content), *parameters(content))
    items = tuple(f"{term}: {text}" for term, text in facts)
    yield Section(id="provenance", title="Provenance", paragraphs=(), items=items)
    yield Section(id="limits", title="Limits", paragraphs=(), items=tuple(content["limits"]))
    yield Section(
        id="redo",
        title="Rebuild this report",
        paragraphs=(
            "These commands make the report again from its release; a version above 1 needs the one before "
            "in the folder reports. The SHA-256 of the release's SHA256SUMS is",
            content["release"]["sha256"],
        ),
        commands=tuple(content["redo"]),
    )
    glossary = (f"{word}: {meaning}" for word, meaning in content["glossary"].items())
    yield Section(id="glossary", title="Glossary", paragraphs=(), items=tuple(glossary))


def _figure(one: Data, marks: str, recompute: str) -> Figure:
    return Figure(table=_table(one, recompute, ()), caption=one["caption"], facts=one, marks=marks)


def _table(one: Data, recompute: str, notes: Sequence[str]) -> Table:
    columns, rows = one["columns"], one["rows"]
    if (shown := one.get("shown")) and shown < len(rows):
        notes = (f"The first {shown} of {grouped(len(rows))} rows; all are in {one['id']}.csv.", *notes)
        rows = rows[:shown]
    return Table(
        id=one["id"],
        title=one["title"],
        headings=tuple(_heading(column) for column in columns),
        is_number=tuple(column["kind"] != "text" for column in columns),
        rows=tuple(tuple(cell(row.get(column["id"]), column) for column in columns) for row in rows),
        source=one["source"],
        query=one["query"],
        command=f"{recompute} {one['id']}",
        notes=tuple(notes),
    )


def _heading(column: Data) -> str:
    return f"{column['title']}, {column['unit']}" if column["unit"] else str(column["title"])


def cell(value: Any, column: Data) -> str:  # noqa: ANN401  # a cell has any type
    """The text of a value in its column.

    >>> cell({"estimate": 1.5, "lower": 1, "upper": 2}, {"kind": "interval"}).replace("\u2013", " to ")
    '1.50 (1.00 to 2.00)'
    >>> cell(0.1, {"kind": "number"}), cell(12, {"kind": "count"}), cell(0.5, {"kind": "stated"}), cell("a", {"kind": "text"})
    ('0.100', '12', '0.5', 'a')
    """  # noqa: E501
    if value is None:
        return UNKNOWN
    if isinstance(value, Mapping):
        return estimate(value["estimate"], value["lower"], value["upper"], near=bounds_near(column))
    if column["kind"] == "text" or isinstance(value, str):
        return str(value)
    if column["kind"] == "number":
        return significant(value, near=bounds_near(column))
    return grouped(value) if column["kind"] == "count" else stated(value)


def bounds_near(column: Data) -> tuple[float, ...]:
    """What the numbers of a column are not rounded to: the bounds that they are held against, and 100 %.

    >>> bounds_near({"unit": "%", "near": [1.0]}), bounds_near({})
    ((1.0, 100.0), ())
    """
    return (*column.get("near", ()), *wholes(column.get("unit", "")))


def tables_of(content: Data) -> Iterator[Data]:
    """Every table of report.json in the shape of reports.sections."""
    yield from (table for section in content["sections"] for table in section["tables"])
