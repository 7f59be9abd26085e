"""The three numbers that matter: what fits, what the nearest rival saves, and its worst harm beside its bound."""

from __future__ import annotations

import math

from releases.cdf import Cdf
from releases.formatting import grouped
from reports.answer.shape import Findings, KeyNumber


def fits_number(cdf: Cdf, *, iw: int, mss: int) -> KeyNumber:
    """Share of first flights that fit into a window; unknown, with the counts, where most sizes are unknown."""
    there = cdf.known + cdf.unknown
    label = f"of first flights fit into IW {iw}"
    if not cdf.is_stated:
        note = f"the size is known of {grouped(cdf.known)} of {grouped(there)} first flights"
        return KeyNumber(id="fits", label=label, unit="%", value=None, note=note)
    note = f"of {grouped(cdf.known)} of known size" + (
        f"; {grouped(cdf.unknown)} more are unknown" if cdf.unknown else ""
    )
    return KeyNumber(
        id="fits", label=label, unit="%", value=100 * cdf.fit(iw, mss=mss).count / cdf.known, note=note
    )


def key_numbers(findings: Findings) -> tuple[KeyNumber, ...]:
    """Gain and worst harm of the nearest rival."""
    window = rival(findings)
    if window is None:
        return ()
    return (_gain(findings, window), _worst_harm(findings, window))


def rival(findings: Findings) -> int | None:
    """The recommended window, or else the candidate that comes nearest to being recommended.

    Candidates that no bound has ruled out come first, and of the others those whose gain may be worthwhile. Among these it is
    the one whose worst harm, by the upper end of its interval, is the smallest multiple of its bound: a candidate that was lost
    early, of which few loads are known, is not near for want of measurement. The lower end of the gain settles what is left.
    """
    if findings.iw is not None:
        return findings.iw
    return min(findings.windows, key=lambda window: _distance(findings, window), default=None)


def _distance(findings: Findings, window: int) -> tuple[bool, bool, float, float]:
    gain = findings.gain(window)
    cells = [(row, cell) for row in findings.rows if row.is_required for cell in row.cells]
    own = [(row, cell) for row, cell in cells if cell.window == window]
    multiples = [
        cell.value.upper / row.limit
        for row, cell in own
        if row.kind == "harm" and row.limit > 0 and cell.value is not None
    ]
    return (
        any(cell.mark == "fails" for _, cell in own),
        gain is None or gain.mark in ("fails", "not measured"),
        max(multiples, default=math.inf),
        -gain.value.lower if gain and gain.value else math.inf,
    )


def _gain(findings: Findings, window: int) -> KeyNumber:
    row = findings.rows[0]
    cell = findings.gain(window)
    value = cell.value if cell else None
    nearest = (
        ""
        if findings.iw == window
        else "; nearest: of those that may save so much, its harm exceeds the bounds least"
    )
    return KeyNumber(
        id="gain",
        label=f"of page time saved by IW {window}{'' if findings.iw == window else ', the nearest rival'}",
        unit="%",
        value=value.estimate if value else None,
        lower=value.lower if value else None,
        upper=value.upper if value else None,
        limit=row.limit,
        note=f"against IW {findings.incumbent}; worthwhile from {row.limit:g} %{nearest}"
        if value
        else "not measured",
    )


def _worst_harm(findings: Findings, window: int) -> KeyNumber:
    """The required bound that the candidate comes nearest to, or exceeds most, as a multiple of the bound."""
    found = [
        (cell.value.estimate / row.limit, row, cell.value)
        for row in findings.rows
        if row.kind == "harm" and row.is_required and row.limit > 0
        for cell in row.cells
        if cell.window == window and cell.value is not None
    ]
    if not found:
        return KeyNumber(
            id="harm",
            label=f"worst harm of IW {window}",
            unit="",
            value=None,
            note="no harm of it was measured",
        )
    _, row, value = max(found, key=lambda one: one[0])
    kind = "level" if row.is_level else f"worse than IW {row.against}"
    return KeyNumber(
        id="harm",
        label=f"worst harm of IW {window}: {row.title}",
        unit=row.unit,
        value=value.estimate,
        lower=value.lower,
        upper=value.upper,
        limit=row.limit,
        note=f"{kind}; must stay below {row.limit:g} {row.unit}",
    )
