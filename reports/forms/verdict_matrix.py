"""The verdict matrix as text cells with footnotes, and as data by candidate and bound."""

from collections.abc import Iterator, Mapping
from typing import Any

from releases.formatting import UNKNOWN, estimate, stated, wholes

Data = Mapping[str, Any]

COLUMNS = (
    *({"id": name, "kind": "text"} for name in ("row", "title", "kind", "unit", "limit", "against", "window", "mark")),  # noqa: E501
    {"id": "value", "kind": "interval"},
    {"id": "printed", "kind": "interval"},
)  # fmt: skip
"""Columns of the matrix as data: a row for each candidate and bound."""


VERDICTS = "verdicts"
"""Id of the matrix."""


def is_matrix(table: str) -> bool:
    """Return whether the table of this id is the matrix or its second part."""
    return table in (VERDICTS, f"{VERDICTS}-paced")


def by_sender(verdicts: Data) -> Iterator[dict[str, Any]]:
    """The matrix as one for windows that leave at once and one for paced ones, which are texts;
    as it is where no window is paced."""
    titles = {int: "sent at once", str: "paced"}
    if not any(isinstance(window, str) for window in verdicts["windows"]):
        yield dict(verdicts)
        return
    for kind, name in titles.items():
        windows = [window for window in verdicts["windows"] if isinstance(window, kind)]
        rows = [
            {**row, "cells": [cell for cell in row["cells"] if cell["window"] in windows]}
            for row in verdicts["rows"]
        ]
        if windows:
            yield {**verdicts, "title": f"{verdicts['title']}: {name}", "windows": windows, "rows": rows}


def data_rows(verdicts: Data) -> Iterator[Data]:
    """The rows of the matrix as data."""
    for row in verdicts["rows"]:
        facts = {name: row[name] for name in ("title", "kind", "unit", "limit", "against")}
        yield from ({**facts, "row": row["id"], **one} for one in row["cells"])


def footnotes(verdicts: Data) -> list[str]:
    """Texts of the footnotes, in the order in which the matrix refers to them: sources of rows,
    and notes of cells."""
    texts = (
        text
        for row in verdicts["rows"]
        for text in (row["source"], *(cell["note"] for cell in row["cells"]))
        if text
    )
    return list(dict.fromkeys(texts))


def letter(place: int) -> str:
    """The letter of a footnote by its place from 0 on, as in a list of HTML:
    letters are not taken for digits of a number.

    >>> letter(0), letter(25), letter(26), letter(53)
    ('a', 'z', 'aa', 'bb')
    """
    before, last = divmod(place, 26)
    return (letter(before - 1) if before else "") + chr(ord("a") + last)


def text_rows(verdicts: Data) -> Iterator[tuple[str, ...]]:
    """Title, bound, and a cell for each window; footnotes are letters in square brackets."""
    signs = {mark: one["sign"] for mark, one in verdicts["marks"].items()}
    notes = footnotes(verdicts)

    def noted(text: str, note: str) -> str:
        return f"{text} [{letter(notes.index(note))}]" if note else text

    def cell(one: Data | None, row: Data) -> str:
        if one is None:
            return UNKNOWN
        value = one["printed"]
        near = (row["limit"], *wholes(row["unit"]))
        shown = (
            ""
            if value is None
            else f" {estimate(value['estimate'], value['lower'], value['upper'], near=near)}"
        )
        return noted(f"{signs[one['mark']]}{shown}", one["note"])

    for row in verdicts["rows"]:
        by_window = {one["window"]: one for one in row["cells"]}
        bound = f"{'at least' if row['kind'] == 'gain' else 'below'} {stated(row['limit'], row['unit'])}"
        cells = (cell(by_window.get(window), row) for window in verdicts["windows"])
        yield (noted(row["title"], row["source"]), bound, *cells)
