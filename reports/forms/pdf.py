"""The report as a PDF by typst: tagged (PDF/UA-1), with bookmarks,
and with fonts that typst itself contains."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pikepdf
import typst

from reports.forms.brief import Brief
from reports.forms.printed import Printed, Table
from reports.forms.typesetting import each_text, unbroken

TEMPLATES = Path(__file__).with_name("templates")

TEXT_WIDTH = 640
"""CSS pixels to the width of the text."""

MOST_HEIGHT = 850
"""Height of a page's text without a long caption, in the same pixels."""

SHORT = 20
"""Letters of the longest cell of a column that stays on one line."""

SENTENCE = 4
"""Letters of a column of sentences for each root of their mean length."""

HEADING = 10
"""Letters that a line of a heading has at least, if the heading is not shorter."""

ROOM, GAP = 90, 3
"""Letters to the width of a table, and those that the room between two columns would take."""

STANDARD: typst.PDFStandard = "ua-1"

AUTHOR = "The firstflight maintainers"

FONTS = typst.Fonts(include_system_fonts=False, include_embedded_fonts=True)
"""Fonts of the package alone: the machine's fonts would change the layout."""


class PdfError(Exception):
    """typst refused the document; the message is its own."""


def pdf(report: Printed, *, drawings: Mapping[str, str]) -> bytes:
    """The PDF of a report. `drawings` are its figures as SVG by id.

    The same report gives the same bytes; PdfError.
    """
    return _compiled("report.typ", _data(report, drawings))


def brief_pdf(brief: Brief, *, figure: str) -> bytes:
    """The PDF of a brief, as `pdf` makes that of a report. `figure` is its plane as SVG."""
    data = each_text({**dataclasses.asdict(brief), "author": AUTHOR}, unbroken)
    return _compiled("brief.typ", {**data, "figure": figure})


def _compiled(template: str, data: Mapping[str, Any]) -> bytes:
    compiler = typst.Compiler(
        TEMPLATES / template,
        root=TEMPLATES,
        font_paths=FONTS,
        sys_inputs={"report": json.dumps(data)},
    )
    try:
        # Without a time of its own, typst would write the clock's.
        made = compiler.compile(format="pdf", pdf_standards=STANDARD, timestamp=0)
    except typst.TypstError as exc:
        raise PdfError(f"{template} cannot be written as PDF: {exc.message}") from exc
    assert isinstance(made, bytes)
    return packed(made)


def packed(document: bytes) -> bytes:
    """The same PDF with its objects in compressed streams:
    most objects of a tagged document are its tags, which typst leaves as text."""
    smaller = io.BytesIO()
    with pikepdf.open(io.BytesIO(document)) as opened:
        opened.save(smaller, object_stream_mode=pikepdf.ObjectStreamMode.generate, deterministic_id=True)
    return smaller.getvalue()


def _data(report: Printed, drawings: Mapping[str, str]) -> dict[str, Any]:
    """What the template reads, in which no line ends within a number."""
    data = dataclasses.asdict(report)
    for section, made in zip(report.sections, data["sections"], strict=True):
        made["figures"] = [
            {
                **dataclasses.asdict(figure.table),
                "caption": figure.caption,
                "svg": drawings[figure.id],
                "width": _width_percent(drawings[figure.id]),
                "alt": f"{figure.title} {figure.caption}",
            }
            for figure in section.figures
        ]
        made["tables"] = [
            {**dataclasses.asdict(table), "shares": _column_shares(table)} for table in section.tables
        ]
    published = f"version {report.version}" + (f", {report.date}" if report.date else "")
    told = {
        **data,
        "author": AUTHOR,
        "version": str(report.version),
        "running": f"{report.title}: {report.headline}",
        "byline": f"{AUTHOR}. {published[0].upper()}{published[1:]}. Release sha256:{report.sha256}",
    }
    read: dict[str, Any] = each_text(told, unbroken)
    return read


def _column_shares(table: Table) -> list[float | None]:
    """Share of the text's width that each column gets; None for columns as wide as their content.

    Where all fits on one line, the first column takes the room that is left. Else every column has a share by
    its longest cell, or by the words and the length of its sentences: twice the room makes a long text half
    as high.

    >>> columns = {"id": "", "title": "", "source": "", "query": "", "command": "", "is_number": (False, True)}
    >>> _column_shares(Table(headings=("path", "size"), rows=(("Ethernet", "1460"),), **columns))
    [1.0, None]
    >>> _column_shares(Table(headings=("path", "size"), rows=(("a word " * 30, "1460"),), **columns))
    [58.0, 4]
    """  # noqa: E501
    texts = [[heading, *(row[at] for row in table.rows)] for at, heading in enumerate(table.headings)]
    if sum(max(map(len, column)) + GAP for column in texts) <= ROOM:
        return [1.0, *(None for _ in texts[1:])]
    return [_share(heading, cells) for heading, *cells in texts]


def _share(heading: str, cells: Sequence[str]) -> float:
    words = [word for text in (heading, *cells) for word in unbroken(text).split(" ")]
    longest = max(map(len, cells), default=0)
    if longest <= SHORT:
        return max(longest, max(map(len, heading.split()), default=0), min(len(heading), HEADING))
    mean = sum(map(len, cells)) / len(cells)
    return round(max(max(map(len, words)), SENTENCE * math.sqrt(mean)), 1)


def _width_percent(svg: str) -> float:
    """Width of a drawing as a share of the text's; a drawing that would be higher than a page
    with its caption is made smaller.

    >>> _width_percent('<svg width="320" height="400">'), _width_percent('<svg width="320" height="1700">')
    (50.0, 25.0)
    """
    width, height = (re.search(rf'<svg[^>]*\s{name}="([0-9.]+)"', svg) for name in ("width", "height"))
    if not width or not height:
        return 100.0
    shrunk = min(1.0, MOST_HEIGHT / float(height[1]))
    return min(100.0, 100 * shrunk * float(width[1]) / TEXT_WIDTH)
