"""The explorer's figure as PNG, and its points as CSV."""

from __future__ import annotations

import csv
import io

import vl_convert

from api.explorer.comparison import Comparison, Curve

COLUMNS = ("release", "measure", "size_bytes", "cdf", "iw", "lower", "upper", "known", "unknown")

PNG_SCALE = 2
"""Pixels of a PNG for each CSS pixel."""


def png(svg: str) -> bytes:
    """A figure as PNG, in the colours for light ground."""
    drawn: bytes = vl_convert.svg_to_png(svg, scale=PNG_SCALE)
    return drawn


def as_csv(comparison: Comparison) -> str:
    """The drawn steps of every CDF as CSV (RFC 4180).

    `cdf` is the share of items of at most `size_bytes`. In the rows of the windows, `iw` is the window in segments, and `lower` and
    `upper` are the ends of the share's confidence interval where it is known. A release without a known share has no row.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for panel in comparison.panels:
        for curve in panel.curves:
            writer.writerows(_rows(curve, comparison.windows))
    return text.getvalue()


def _rows(curve: Curve, windows: tuple[tuple[int, int], ...]) -> list[list[object]]:
    fits = {size: (iw, one) for (iw, size), one in zip(windows, curve.shares, strict=True)}
    steps = dict(curve.steps)
    if steps:  # a window below the smallest item is no step
        steps |= {size: one.value for size, (_, one) in fits.items() if one.value is not None}
    rows: list[list[object]] = []
    for size, share in sorted(steps.items()):
        iw, one = fits.get(size, (None, None))
        interval = (None, None) if one is None else (one.lower, one.upper)
        rows.append(
            [spelt(curve.release), curve.measure, size, share, iw, *interval, curve.known, curve.unknown]
        )
    return rows


def spelt(text: str) -> str:
    """Text that no spreadsheet takes for a formula.

    >>> spelt("=HYPERLINK(1)"), spelt("2026-11.desktop")
    ("'=HYPERLINK(1)", '2026-11.desktop')
    """
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text
