"""The three numbers that matter: what fits, what the nearest rival saves, and its worst harm beside its bound."""

from __future__ import annotations

from releases.cdf import Cdf
from reports.answer.shape import Findings, KeyNumber, VerdictCell, VerdictRow


def fits_number(cdf: Cdf, *, iw: int, mss: int) -> KeyNumber:
    """Share of first flights that fit into a window; unknown, with the counts, where most sizes are unknown."""
    there = cdf.known + cdf.unknown
    label = f"of first flights fit into IW {iw}"
    if not cdf.is_stated:
        note = f"the size is known of {cdf.known:,} of {there:,} first flights"
        return KeyNumber(id="fits", label=label, unit="%", value=None, note=note)
    note = f"of {cdf.known:,} of known size" + (f"; {cdf.unknown:,} more are unknown" if cdf.unknown else "")
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
    """The recommended window, or else the candidate that comes nearest to it.

    First come those whose gain may be worthwhile, then those with fewest bounds missed, fewest not known, and the largest gain.
    """
    if findings.iw is not None:
        return findings.iw
    return min(findings.windows, key=lambda window: _distance(findings, window), default=None)


def _distance(findings: Findings, window: int) -> tuple[bool, bool, int, int, float]:
    cells = [_cell(row, window) for row in findings.rows if row.is_required]
    marks = [cell.mark for cell in cells if cell]
    gain = findings.gain(window)
    known = gain is not None and gain.value is not None
    return (
        not known,
        gain is not None and gain.mark == "fails",
        marks.count("fails"),
        len(marks) - marks.count("holds"),
        -gain.value.estimate if gain and gain.value else 0.0,
    )


def _cell(row: VerdictRow, window: int) -> VerdictCell | None:
    return next((cell for cell in row.cells if cell.window == window), None)


def _gain(findings: Findings, window: int) -> KeyNumber:
    row = findings.rows[0]
    cell = findings.gain(window)
    value = cell.value if cell else None
    return KeyNumber(
        id="gain",
        label=f"of page time saved by IW {window}{'' if findings.iw == window else ', the nearest rival'}",
        unit="%",
        value=value.estimate if value else None,
        lower=value.lower if value else None,
        upper=value.upper if value else None,
        limit=row.limit,
        note=f"against IW {findings.incumbent}; worthwhile from {row.limit:g} %" if value else "not measured",
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
