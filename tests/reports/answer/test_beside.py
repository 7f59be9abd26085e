"""Harm to others that loads beside the decision measured, in the verdict matrix."""

from typing import Any

from reports.answer.beside import MARK, NOTE, with_harm_beside
from reports.forms.verdict_matrix import text_rows

HARM = "95th percentile of a probe's delay"


def unmeasured(window: int) -> dict[str, Any]:
    return {
        "window": window,
        "mark": "not measured",
        "value": None,
        "printed": None,
        "note": "ruled out before",
    }


def row(title: str, *cells: dict[str, Any]) -> dict[str, Any]:
    facts = {"id": title, "title": title, "kind": "harm", "unit": "ms", "limit": 20.0, "source": "ours"}
    return {**facts, "cells": list(cells)}


def measured(condition: str, estimate: float, reading: str, *, window: str = "IW 16") -> dict[str, Any]:
    worse = {"estimate": estimate, "lower": estimate - 1, "upper": estimate + 1}
    return {"harm": HARM, "condition": condition, "window": window, "worse": worse, "reading": reading}


SIGNS = {"not measured": {"sign": "\u2013", "meaning": "not measured"}}
VERDICTS: dict[str, Any] = {
    "windows": [16, 42],
    "marks": SIGNS,
    "rows": [row(HARM, unmeasured(16), unmeasured(42)), row("bytes", unmeasured(16))],
    "notes": ["a note"],
}
ROWS = [
    measured("idle-4bdp", 3.0, "too few loads to tell"),
    measured("idle-1bdp", 9.0, "within the bound"),
    measured("idle-1bdp", 1.0, "within the bound", window="IW 30"),
]
SECTIONS = [{"tables": [{"id": "others-harm", "rows": ROWS}]}]


def test_a_cell_has_the_worst_condition_with_its_mark_and_a_footnote() -> None:
    found = with_harm_beside(VERDICTS, SECTIONS)
    assert found is not None
    first, second = text_rows(found)
    assert first[2:] == ("~ 3.00 (2.00\u20134.00) [b]", "\u2013 [c]")
    assert second[2] == "\u2013 [c]"
    (cell, _) = found["rows"][0]["cells"]
    assert (cell["note"], cell["value"]) == ("idle-4bdp: too few loads to tell", None)
    assert found["marks"]["beside"] == MARK
    assert found["notes"] == ["a note", NOTE]


def test_a_matrix_without_loads_beside_it_stays_as_it_is() -> None:
    assert with_harm_beside(VERDICTS, []) == VERDICTS
    assert with_harm_beside(None, SECTIONS) is None
