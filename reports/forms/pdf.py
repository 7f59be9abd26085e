"""The brief as a PDF by typst: tagged (PDF/UA-1), and with fonts that typst itself contains."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path

import pikepdf
import typst

from reports.forms.brief import Brief
from reports.forms.typesetting import each_text, keep_unbroken

TEMPLATE = Path(__file__).with_name("templates") / "brief.typ"

STANDARD: typst.PDFStandard = "ua-1"

AUTHOR = "The firstflight maintainers"

FONTS = typst.Fonts(include_system_fonts=False, include_embedded_fonts=True)
"""Fonts of the package alone: the machine's fonts would change the layout."""


class PdfError(Exception):
    """typst refused the document; the message is its own."""


def brief_pdf(brief: Brief, *, figure: str) -> bytes:
    """Return the PDF of a brief; `figure` is its plane as SVG. The same brief gives the same bytes;
    PdfError."""
    data = each_text({**dataclasses.asdict(brief), "author": AUTHOR}, keep_unbroken)
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
    """Return the same PDF with its objects in compressed streams:
    most objects of a tagged document are its tags, which typst leaves as text."""
    smaller = io.BytesIO()
    with pikepdf.open(io.BytesIO(document)) as opened:
        opened.save(smaller, object_stream_mode=pikepdf.ObjectStreamMode.generate, deterministic_id=True)
    return smaller.getvalue()
