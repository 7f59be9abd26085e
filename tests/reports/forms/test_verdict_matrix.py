"""The verdict matrix refers to its footnotes by letters, in every form."""

from typing import Any

from reports.forms.verdict_matrix import by_sender, footnotes, text_rows


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


def test_windows_at_once_and_paced_ones_have_a_matrix_each_that_is_narrow_enough() -> None:
    paced = [MEASURED | {"window": f"{window} paced"} for window in (10, 16)]
    both = {
        **VERDICTS,
        "title": "all",
        "windows": ["10 paced", "16 paced", 16, 30],
        "rows": [row("bytes", "the paper", *paced, MEASURED, MISSING)],
    }
    at_once, of_paced = by_sender(both)
    assert (at_once["title"], at_once["windows"]) == ("all: sent at once", [16, 30])
    assert (of_paced["title"], of_paced["windows"]) == ("all: paced", ["10 paced", "16 paced"])
    assert [one["window"] for part in (at_once, of_paced) for one in part["rows"][0]["cells"]] == [
        16,
        30,
        "10 paced",
        "16 paced",
    ]
    assert list(by_sender(VERDICTS)) == [VERDICTS]


def test_footnotes_are_sources_and_notes_once_each_in_the_order_of_the_matrix() -> None:
    assert footnotes(VERDICTS) == ["the paper", "ruled out before"]


def test_a_cell_that_was_not_measured_has_its_footnote_as_a_letter_and_not_as_a_digit() -> None:
    first, second = text_rows(VERDICTS)
    assert (first[0], first[3]) == ("bytes [a]", "\u2013 [b]")
    assert first[2].startswith("\u2717 2.00 (1.00")
    # A window that a row has no cell of is unknown.
    assert second[2:] == ("\u2013", "\u2013 [b]")
