"""The brief: the answer of a report on two pages, made from the content of report.json alone, and its PDF by
typst: tagged (PDF/UA-1), and with fonts that typst itself contains."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pikepdf
import typst

from releases.formatting import (
    NARROW,
    UNKNOWN,
    apart,
    capital,
    estimate,
    grouped,
    quantity,
    range_text,
    significant,
)
from replay.backcast.published import BASE
from reports.answer import KeyNumber
from reports.content import Published
from reports.forms.typesetting import each_text, keep_unbroken
from reports.sections.verdict import (
    BY_ITSELF,
    describe_plane,
    describe_turns,
    policy_rows,
    round_trip_rows,
    spread_text,
)
from schema.authors import MAINTAINERS
from verdict.verdict import Verdict

TEMPLATE = Path(__file__).with_name("templates") / "brief.typ"

STANDARD: typst.PDFStandard = "ua-1"

FONTS = typst.Fonts(include_system_fonts=False, include_embedded_fonts=True)
"""Fonts of the package: the machine's would change the layout."""

QUESTION = (
    "How many segments should a server send before it hears from the browser: its initial window (IW)? "
    "Ten today."
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number in two units."""

    value: str
    other: str
    label: str
    note: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Short:
    """A table of the report in a shortened form."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """All words and numbers of the brief."""

    title: str
    question: str
    byline: str
    marks: str
    warning: str
    headline: str
    sentence: str
    how_sure: str
    numbers: tuple[Number, ...]
    finding: str
    source: str
    tables: tuple[Short, ...]
    sure: tuple[str, ...]
    measured_on: tuple[str, ...]
    citation: str
    redo: tuple[str, ...]


def brief_of(report: Published) -> Brief:
    answer, verdict, publication, release = (
        report.answer,
        report.verdict,
        report.publication,
        report.release,
    )
    date = f", {publication.date}" if publication.date else ""
    return Brief(
        title=f"First flights in {report.year}",
        question=QUESTION,
        byline=f"{report.citation['author']}. Version {publication.version}{date}.",
        marks=report.marks,
        warning=answer.first_line or "",
        headline=answer.headline,
        sentence=" ".join(answer.sentences),
        how_sure=f"Confidence: {answer.confidence.level}.",
        numbers=tuple(_numbers(report)),
        finding=describe_plane(verdict),
        source=f"firstflight, release {release.crawl}, version {release.version}, {report.licence}. 2010: "
        "Dukkipati et al. 2010, Tables 3 and 7." + (f" {BY_ITSELF}" if verdict else ""),
        tables=tuple(_tables(verdict)) if verdict else (),
        sure=tuple(filter(None, _sure(report))),
        measured_on=tuple(_measured_on(report)),
        citation=report.citation["line"],
        redo=tuple(report.redo),
    )


def _numbers(report: Published) -> Iterator[Number]:
    """State what is saved, what is sent again, and what fits, each in two units."""
    by_id = {number.id: number for number in report.answer.numbers}
    if "gain" in by_id:
        gain, time, resent = by_id["gain"], by_id["milliseconds"], by_id["resent"]
        more = None if resent.value is None else 10 * resent.value
        yield _number(gain, f"{quantity(time.value, 'ms')} a page", why=time.note.partition("; ")[2])
        yield _number(resent, f"{significant(more)} more of 1{NARROW}000 bytes")
    fits = by_id["fits"]
    shares = [share for measure in report.sizes["measures"] for share in measure["shares"]]
    counted = (
        f"{grouped(share['fitting'])} " for share in shares if share["percent"] == fits.value is not None
    )
    of_known, _, rest = fits.note.partition("; ")
    yield _number(fits, next(counted, "") + of_known, why=rest)


def _number(number: KeyNumber, other: str, *, why: str = "") -> Number:
    is_known = None not in (number.lower, number.upper)
    near = [number.limit or 0]
    interval = f"95 %: {range_text(number.lower, number.upper, number.unit, near=near)}" if is_known else ""
    return Number(
        value=quantity(number.value, number.unit, near=near) if number.value is not None else "unknown",
        other=other,
        label=number.label,
        note=". ".join(part for part in (interval, capital(why)) if part),
    )


SHORTENED = {
    "policy": "first flight",
    "gain": "time saved, %",
    "gain_in_sum": "in sum, %",
    "milliseconds": "a page, ms",
    "resent": "sent again, pp",
    "resent_in_sum": "in sum, pp",
    "others": "others longer, %",
    "standing": "standing",
}
"""Columns of the table of policies, with their headings."""


def _tables(verdict: Verdict) -> Iterator[Short]:
    yield Short(
        title="What a first flight saves and costs",
        headings=tuple(SHORTENED.values()),
        rows=tuple(
            tuple(_cell(row[name]) for name in SHORTENED)
            for row, candidate in zip(policy_rows(verdict), verdict.candidates, strict=True)
            if candidate.standing is not None
        ),
    )
    if verdict.groups:
        yield Short(
            title="By the longest handshake of a page: time saved, % / sent again, pp",
            headings=("first flight", *(group.title for group in verdict.groups)),
            rows=tuple(
                (
                    str(row["policy"]),
                    *(
                        f"{_cell(row[f'{group.id}-gain'])} / {_cell(row[f'{group.id}-resent'])}"
                        for group in verdict.groups
                    ),
                )
                for row in round_trip_rows(verdict.groups)
            ),
        )


def _cell(value: object) -> str:
    return estimate(value["estimate"], None, None) if isinstance(value, Mapping) else str(value or UNKNOWN)


def _sure(report: Published) -> Iterator[str]:
    confidence, verdict = report.answer.confidence, report.verdict
    yield confidence.text
    if verdict is None:
        return
    choices = [row for table in report.tables() if table.id == "backcast-choices" for row in table.rows]
    chosen = [
        f"{row['window']} ({row['center']} data centre)"
        for row in choices
        if row["verdict"].endswith("chosen")
    ]
    if choices:
        window = " and ".join(chosen) or "none"
        yield f"Over the networks of 2010, with IW {BASE} in force, the same rule chooses {window}."
    yield spread_text(verdict)
    yield describe_turns(verdict.ledger)


def _measured_on(report: Published) -> Iterator[str]:
    recorded, crawl, replay = report.recorded_pages, report.crawl, report.replay
    if recorded:
        source = apart(recorded["source"].partition(";")[0])
        pages = f"{grouped(recorded['pages'])}, recorded {recorded['recorded']}"
        yield f"Recorded pages, not the live web: {pages}. Recorder and source: {source}."
    else:
        yield (
            f"{grouped(crawl['sites'])} sites of the list {report.release.list_id}, loaded in "
            f"{crawl['month']} from the vantage {crawl['vantage']} by {report.release.browser}."
        )
    if replay:
        loads, networks = grouped(replay["loads"]), grouped(replay["networks"])
        lists = report.verdict.lists if report.verdict else ()
        others = ", and ".join(f"{grouped(each.pages)} pages of {each.title}" for each in lists)
        also = f" To confirm it, {others}." if others else ""
        yield f"Replayed in {loads} loads by Linux over {networks} networks.{also}"
    yield f"Licence: {report.licence}."


class PdfError(Exception):
    """typst refused the document; the message is its own."""


def brief_pdf(brief: Brief, *, figure: str) -> bytes:
    """Return the PDF of a brief, the same bytes for the same brief; PdfError."""
    data = each_text({**dataclasses.asdict(brief), "author": MAINTAINERS.name}, keep_unbroken)
    compiler = typst.Compiler(
        TEMPLATE,
        root=TEMPLATE.parent,
        font_paths=FONTS,
        sys_inputs={"report": json.dumps({**data, "figure": figure})},
    )
    try:
        # Without a time of its own, typst would write the clock's.
        document = compiler.compile(format="pdf", pdf_standards=STANDARD, timestamp=0)
    except typst.TypstError as exc:
        raise PdfError(f"{TEMPLATE.name} cannot be written as PDF: {exc.message}") from exc
    assert isinstance(document, bytes)
    return pack(document)


def pack(document: bytes) -> bytes:
    """Return the PDF with its objects in compressed streams: typst leaves tags, which are most, as text."""
    smaller = io.BytesIO()
    with pikepdf.open(io.BytesIO(document)) as opened:
        opened.save(smaller, object_stream_mode=pikepdf.ObjectStreamMode.generate, deterministic_id=True)
    return smaller.getvalue()
