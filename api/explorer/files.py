"""The explorer's figure as PNG, and its points as CSV."""

import csv
import io

from api.explorer.comparison import Comparison, Curve

COLUMNS = ("release", "measure", "size_bytes", "cdf", "iw", "lower", "upper", "known", "unknown", "stratum")

PNG_SCALE = 2
"""Pixels of a PNG for each CSS pixel."""


def png(svg: str) -> bytes:
    """A figure as PNG, in the colours for light ground."""
    import vl_convert  # It takes 10 MB of memory, which a service that draws no PNG saves.

    drawn: bytes = vl_convert.svg_to_png(svg, scale=PNG_SCALE)
    return drawn


def as_csv(comparison: Comparison) -> str:
    """The drawn steps of every CDF as CSV (RFC 4180).

    `cdf` is the share of items of at most `size_bytes`, and `lower` and `upper` are the ends of its
    confidence interval where it is known. In the rows of the windows, `iw` is the window in segments.
    `stratum` has the values that all items have. A release without a known share has no row.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for panel in comparison.panels:
        for curve in panel.curves:
            writer.writerows([*row, comparison.stratum] for row in _rows(curve, comparison.windows))
    return text.getvalue()


def _rows(curve: Curve, windows: tuple[tuple[int, int], ...]) -> list[list[object]]:
    band = curve.band or ((None, None),) * len(curve.steps)
    steps: dict[int, tuple[object, ...]] = {
        size: (share, None, *ends) for (size, share), ends in zip(curve.steps, band, strict=True)
    }
    for (iw, size), one in zip(windows, curve.shares, strict=True):
        if one.value is not None:  # a window below the smallest item is no step
            steps[size] = (one.value, iw, one.lower, one.upper)
    return [
        [spelt(curve.release), curve.measure, size, *values, curve.known, curve.unknown]
        for size, values in sorted(steps.items())
    ]


def spelt(text: str) -> str:
    """Text that no spreadsheet takes for a formula.

    >>> spelt("=HYPERLINK(1)"), spelt("2026-11.desktop")
    ("'=HYPERLINK(1)", '2026-11.desktop')
    """
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text
