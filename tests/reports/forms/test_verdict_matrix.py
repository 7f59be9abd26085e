"""The verdict matrix refers to its footnotes by letters, in every form."""

from __future__ import annotations

from typing import Any

from reports.forms.verdict_matrix import footnotes, text_rows


def row(title: str, source: str, *cells: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": title,
        "title": title,
        "source": source,
        "cells": cells,
        "kind": "harm",
        "unit": "pp",
        "limit": 0.5,
    }


MEASURED = {
    "window": 16,
    "mark": "fails",
    "value": {"estimate": 2.0, "lower": 1.2, "upper": 2.8},
    "printed": {"estimate": 2.0, "lower": 1.0, "upper": 3.0},
    "note": "",
}
MISSING = {"window": 30, "mark": "not measured", "value": None, "printed": None, "note": "ruled out before"}

VERDICTS: dict[str, Any] = {
    "windows": [16, 30],
    "marks": {"fails": {"sign": "\u2717"}, "not measured": {"sign": "\u2013"}},
    "rows": [row("bytes", "the paper", MEASURED, MISSING), row("delay", "the paper", MISSING)],
}


def test_footnotes_are_sources_and_notes_once_each_in_the_order_of_the_matrix() -> None:
    assert footnotes(VERDICTS) == ["the paper", "ruled out before"]


def test_a_cell_that_was_not_measured_has_its_footnote_as_a_letter_and_not_as_a_digit() -> None:
    first, second = text_rows(VERDICTS)
    assert (first[0], first[3]) == ("bytes [a]", "\u2013 [b]")
    assert first[2].startswith("\u2717 2.00 (1.00")
    # A window that a row has no cell of is unknown.
    assert second[2:] == ("\u2013", "\u2013 [b]")
