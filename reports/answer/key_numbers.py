"""The three numbers that matter: what fits, what the nearest rival saves,
and its worst harm beside its bound."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from releases.formatting import grouped, stated
from releases.interval import Interval
from reports.answer.shape import Findings, KeyNumber, VerdictCell, VerdictRow

FITTING = {"first_flights": "first flights", "responses": "responses"}
"""Measures whose share that fits is one of the three numbers, by name:
the second where the first is unknown."""


def fits_number(measures: Sequence[Mapping[str, Any]], *, iw: int) -> KeyNumber:
    """Share of first flights that fit into a window, or of responses, and labelled so,
    where most first flights are of unknown size.

    `measures` are those of report.json's `sizes`. Unknown, with the counts, where most sizes of both are.
    """
    found = {one["id"]: one for one in measures}
    stated = next((name for name in FITTING if found[name]["is_stated"]), None)
    lacking = found["first_flights"]
    why = (
        f"the size is known of {grouped(lacking['known'])} of "
        f"{grouped(lacking['known'] + lacking['unknown'])} first flights"
    )
    if stated is None:
        label = f"of first flights fit into IW {iw}"
        return KeyNumber(id="fits", label=label, unit="%", value=None, note=why)
    counted = found[stated]
    (share,) = (one for one in counted["shares"] if one["iw"] == iw)
    notes = [f"of {grouped(counted['known'])} of known size"]
    if counted["unknown"]:
        notes.append(f"{grouped(counted['unknown'])} more are unknown")
    if stated != "first_flights":
        notes.append(f"in place of first flights: {why}")
    return KeyNumber(
        id="fits",
        label=f"of {FITTING[stated]} fit into IW {iw}",
        unit="%",
        value=share["percent"],
        lower=share["lower_percent"],
        upper=share["upper_percent"],
        note="; ".join(notes),
    )


def key_numbers(findings: Findings) -> tuple[KeyNumber, ...]:
    """Gain and worst harm of the nearest rival."""
    window = rival(findings)
    if window is None:
        return ()
    return (_gain(findings, window), _worst_harm(findings, window))


def rival(findings: Findings) -> int | None:
    """The recommended window, or else the candidate that comes nearest to being recommended.

    Candidates that no bound has ruled out come first, and of the others those whose gain may be worthwhile.
    Among these it is the one whose worst harm, by the upper end of its interval, is the smallest multiple of
    its bound: a candidate that was lost early, of which few loads are known, is not near for want of
    measurement. The lower end of the gain settles what is left.
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
        else "; of the windows that may save so much, it harms least for its bounds"
    )
    return KeyNumber(
        id="gain",
        label=f"of page time saved by IW {window}{'' if findings.iw == window else ', the nearest rival'}",
        unit="%",
        value=value.estimate if value else None,
        lower=value.lower if value else None,
        upper=value.upper if value else None,
        limit=row.limit,
        note=f"against IW {findings.incumbent}; worthwhile from {stated(row.limit, '%')}{nearest}"
        if value
        else "not measured",
    )


def _worst_harm(findings: Findings, window: int) -> KeyNumber:
    worst = worst_harm(findings.rows, window)
    if worst is None:
        return KeyNumber(
            id="harm",
            label=f"worst harm of IW {window}",
            unit="",
            value=None,
            note="no harm of it was measured",
        )
    row, cell, value = worst
    kind = "its own level" if row.is_level else f"more than at IW {row.against}"
    return KeyNumber(
        id="harm",
        label=f"worst harm of IW {window}: {harm_title(row, cell)}",
        unit=row.unit,
        value=value.estimate,
        lower=value.lower,
        upper=value.upper,
        limit=row.limit,
        note=f"{kind}; must stay below {stated(row.limit, row.unit)}",
    )


def worst_harm(rows: Sequence[VerdictRow], window: int) -> tuple[VerdictRow, VerdictCell, Interval] | None:
    """The required bound that the candidate exceeds most, or comes nearest to, as a multiple of the bound.

    None if none was measured. A bound that is shown not to be met comes before one that is not.
    """
    found = [
        (row, cell, cell.value)
        for row in rows
        if row.kind == "harm" and row.is_required and row.limit > 0
        for cell in row.cells
        if cell.window == window and cell.value is not None
    ]
    return max(found, key=lambda one: (one[1].mark == "fails", one[2].estimate / one[0].limit), default=None)


def harm_title(row: VerdictRow, cell: VerdictCell) -> str:
    """The harm with the condition that it was measured in."""
    return f"{row.title}, in {cell.note}" if cell.note else row.title
