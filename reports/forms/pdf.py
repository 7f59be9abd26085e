"""The report as a PDF by typst: tagged (PDF/UA-1), with bookmarks, and with fonts that typst itself contains."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typst

from reports.forms.printed import Printed, Table

TEMPLATE = Path(__file__).with_name("templates") / "report.typ"

TEXT_WIDTH = 640
"""CSS pixels to the width of the text."""

MOST_HEIGHT = 850
"""Height of a page's text without a long caption, in the same pixels."""

SHORT = 16
"""Letters of the longest cell of a column that needs no second line."""

STANDARD: typst.PDFStandard = "ua-1"

AUTHOR = "The firstflight maintainers"

FONTS = typst.Fonts(include_system_fonts=False, include_embedded_fonts=True)
"""Fonts of the package alone: the machine's fonts would change the layout."""


class PdfError(Exception):
    """typst refused the document; the message is its own."""


def pdf(report: Printed, *, drawings: Mapping[str, str]) -> bytes:
    """The PDF of a report. `drawings` are its figures as SVG by id. The same report gives the same bytes; PdfError."""
    compiler = typst.Compiler(
        TEMPLATE,
        root=TEMPLATE.parent,
        font_paths=FONTS,
        sys_inputs={"report": json.dumps(_data(report, drawings))},
    )
    try:
        # Without a time of its own, typst would write the clock's.
        made = compiler.compile(format="pdf", pdf_standards=STANDARD, timestamp=0)
    except typst.TypstError as exc:
        raise PdfError(f"the report cannot be written as PDF: {exc.message}") from exc
    assert isinstance(made, bytes)
    return made


def _data(report: Printed, drawings: Mapping[str, str]) -> dict[str, Any]:
    """What the template reads."""
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
    return {
        **data,
        "author": AUTHOR,
        "version": str(report.version),
        "running": f"{report.title}: {report.headline}",
        "byline": f"{AUTHOR}. {published[0].upper()}{published[1:]}. Release sha256:{report.sha256}",
    }


def _column_shares(table: Table) -> list[float | None]:
    """Share of the room that each column of sentences gets, None for columns as wide as their content.

    Shares are roots of the cells' mean length: twice the room makes a long text half as high, and a short one needs its words' width.
    """
    cells = [[len(row[at]) for row in table.rows] for at in range(len(table.headings))]
    return [
        None
        if is_number or max(lengths, default=0) <= SHORT
        else round(math.sqrt(sum(lengths) / len(lengths)), 2)
        for is_number, lengths in zip(table.is_number, cells, strict=True)
    ]


def _width_percent(svg: str) -> float:
    """Width of a drawing as a share of the text's; a drawing that would be higher than a page with its caption is made smaller.

    >>> _width_percent('<svg width="320" height="400">'), _width_percent('<svg width="320" height="1700">')
    (50.0, 25.0)
    """
    width, height = (re.search(rf'<svg[^>]*\s{name}="([0-9.]+)"', svg) for name in ("width", "height"))
    if not width or not height:
        return 100.0
    shrunk = min(1.0, MOST_HEIGHT / float(height[1]))
    return min(100.0, 100 * shrunk * float(width[1]) / TEXT_WIDTH)
