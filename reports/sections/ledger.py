"""What would change the answer: the ledger of inputs with the answer and the gain at their ends, kept year by year."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from reports.sections.shape import Column, Figure, Line, Row, Section, Table, not_measured

LEDGER_COLUMNS = (
    Column(id="title", title="input", kind="text"),
    Column(id="turns", title="turns the answer", kind="text"),
    Column(id="low", title="low", kind="text"),
    Column(id="answer_low", title="answer at low", kind="text"),
    Column(id="default", title="as decided", kind="text"),
    Column(id="high", title="high", kind="text"),
    Column(id="answer_high", title="answer at high", kind="text"),
    Column(id="source", title="source", kind="text"),
)

ENDS = {"low": "low end", "default": "as decided", "high": "high end"}
"""Names of an input's ends in the figure, by their fields of an entry."""

SOURCE = "the replay that decides, and a few pages at the ends of its inputs"


def ledger_section(
    ledger: Sequence[Mapping[str, Any]] | None,
    earlier: Sequence[Mapping[str, Any]],
    *,
    year: int,
    incumbent: int,
    worthwhile: float,
    query: str,
) -> Section:
    """What would change the answer: each input with the answers at the ends of its range, this year and in `earlier` editions.

    The figure has gains over the `incumbent` beside the least gain that is `worthwhile`, in percent.
    """
    title = "What would change this answer"
    lead = "Each input that could turn the answer, its range, and the answer at each end."
    kept = years_table(ledger or (), earlier, year=year, query=query) if earlier else None
    if not ledger:
        section = not_measured("ledger", title, lead, "the inputs were not varied.")
        return dataclasses.replace(section, tables=(kept,) if kept else ())
    return Section(
        id="ledger",
        title=title,
        lead=lead,
        figures=(ledger_figure(ledger, incumbent=incumbent, worthwhile=worthwhile, query=query),),
        tables=(
            Table(
                id="inputs",
                title="Inputs and answers",
                columns=LEDGER_COLUMNS,
                rows=tuple(map(ledger_row, ledger)),
                source=SOURCE,
                query=query,
                notes=tuple(dict.fromkeys(map(basis_note, ledger))),
            ),
            *([kept] if kept else []),
        ),
    )


def ledger_figure(
    ledger: Sequence[Mapping[str, Any]], *, incumbent: int, worthwhile: float, query: str
) -> Figure:
    """The gain of the window that the answer rests on, at either end of each input and as decided."""
    window = ledger[0]["window"]
    rows = tuple(
        {
            "input": f"{one['title']}, {one['unit']}" if one["unit"] else one["title"],
            "end": name,
            "value": one[end],
            "answer": one[f"answer_{end}"],
            "saved": one[f"gain_{end}"],
        }
        for one in ledger
        for end, name in ENDS.items()
        if one[f"gain_{end}"] is not None
    )
    return Figure(
        id="fig-ledger",
        title=f"Page time saved by IW {window} against IW {incumbent}, at the ends of every input.",
        caption=f"Points with 95 % intervals, or those of the confidence that is varied. IW {window} is the recommended window or else its nearest rival; a change is "
        f"worthwhile where the whole interval lies right of {worthwhile:g} %. The table has the values of the ends and the answer at each.",
        drawing="forest",
        x="saved",
        y="input",
        series="end",
        columns=(
            Column(id="input", title="input", kind="text"),
            Column(id="end", title="end", kind="text"),
            Column(id="value", title="value", kind="text"),
            Column(id="answer", title="answer", kind="text"),
            Column(id="saved", title="page time saved", unit="%", kind="interval", digits=2),
        ),
        rows=rows,
        source=SOURCE,
        query=query,
        lines=(Line(value=0.0, label="no change"), Line(value=worthwhile, label="worthwhile")),
    )


def basis_note(entry: Mapping[str, Any]) -> str:
    """What an entry's answers rest on, and the answer that ends are compared with.

    >>> basis_note({"basis": "all loads in stages, by intervals", "pages": 591, "answer_default": "no change"})
    'Answers rest on all loads in stages, by intervals, of 591 pages: with nothing changed the answer is “no change”.'
    """
    return (
        f"Answers rest on {entry['basis']}, of {entry['pages']} pages: with nothing changed the answer is "
        f"“{entry['answer_default']}”."
    )


def years_table(
    ledger: Sequence[Mapping[str, Any]], earlier: Sequence[Mapping[str, Any]], *, year: int, query: str
) -> Table:
    """The entries of all editions, those of an input together, the newest first."""
    entries = [*({**one, "year": year} for one in ledger), *reversed(earlier)]
    places = {name: place for place, name in enumerate(dict.fromkeys(one["input"] for one in entries))}
    entries.sort(key=lambda one: (places[one["input"]], -one["year"]))
    return Table(
        id="inputs-by-year",
        title="Inputs and answers, year by year",
        columns=(Column(id="year", title="edition", kind="text"), *LEDGER_COLUMNS),
        rows=tuple({"year": str(one["year"]), **ledger_row(one)} for one in entries),
        source="the ledgers of this report and of earlier editions",
        query=query,
        notes=("Each edition adds its lines. The rows of earlier editions are as those published them.",),
    )


def ledger_row(entry: Mapping[str, Any]) -> Row:
    """An entry of the ledger as a row; an end that was not replayed says so."""
    unit = f", {entry['unit']}" if entry["unit"] else ""
    ends = {name: entry[name] or "not replayed" for name in ("low", "answer_low", "high", "answer_high")}
    return {
        "title": f"{entry['title']}{unit}",
        "turns": "yes" if entry["turns"] else "no",
        "default": entry["default"],
        "source": entry["source"],
        **ends,
    }
