"""Harm to others in the verdict matrix, where loads beside those that decide measured it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Data = Mapping[str, Any]

MARK = {"sign": "~", "meaning": "measured beside the decision, where it decides nothing"}
"""Sign and meaning of the mark of these cells, `beside`."""

READINGS = ("within the bound", "too few loads to tell", "beyond the bound")
"""What an interval says of its bound, from the best to the worst."""

NOTE = (
    f"\u201c{MARK['sign']}\u201d: no load that decides has harm conditions. The number, with its 95 % "
    "interval, is of the loads beside the decision, in the worst of their conditions; section \u201cHarm to "
    "others\u201d has all of them."
)


def with_harm_beside(verdicts: Data | None, sections: Sequence[Data]) -> dict[str, Any] | None:
    """The verdict matrix as in report.json with the harm to others of `sections` in
    the cells that are not measured.

    Such a cell keeps its `value` of None: it tells what is known, and decides nothing.
    """
    if verdicts is None:
        return None
    found = dict(_worst(sections))
    rows = [
        {
            **row,
            "cells": [
                _filled(cell, found.get((row["title"], f"IW {cell['window']}"))) for cell in row["cells"]
            ],
        }
        for row in verdicts["rows"]
    ]
    if not any(cell["mark"] == "beside" for row in rows for cell in row["cells"]):
        return dict(verdicts)
    return {
        **verdicts,
        "rows": rows,
        "marks": {**verdicts["marks"], "beside": MARK},
        "notes": [*verdicts["notes"], NOTE],
    }


def _worst(sections: Sequence[Data]) -> Iterator[tuple[tuple[str, str], Data]]:
    """The worst condition of each harm and window, as rows of the table of harm to others."""
    rows = [
        row
        for section in sections
        for table in section["tables"]
        if table["id"] == "others-harm"
        for row in table["rows"]
    ]
    yield from (
        ((row["harm"], row["window"]), row)
        for row in sorted(rows, key=lambda row: (READINGS.index(row["reading"]), row["worse"]["estimate"]))
    )


def _filled(cell: Data, beside: Data | None) -> dict[str, Any]:
    if beside is None or cell["mark"] != "not measured":
        return dict(cell)
    note = f"{beside['condition']}: {beside['reading']}"
    return {**cell, "mark": "beside", "printed": beside["worse"], "note": note}
