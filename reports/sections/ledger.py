"""What would change the answer: the ledger of inputs with the answer and the gain at their ends,
kept year by year."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from releases.formatting import stated
from reports.sections.evidence import TOO_FEW
from reports.sections.shape import COMPARED, Column, Figure, Line, Row, Section, Table, not_measured

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

BY_RULE = "the loads that decide"

BY_INPUTS = "a few pages at the ends of every input, which decide nothing"
"""Sources of the choices of the rule, and of the inputs of a replay."""


def ledger_section(
    ledger: Sequence[Mapping[str, Any]] | None,
    earlier: Sequence[Mapping[str, Any]],
    *,
    year: int,
    incumbent: int,
    worthwhile: float,
    query: str,
) -> Section:
    """What would change the answer: each input with the answers at the ends of its range,
    this year and in `earlier` editions.

    Choices of the rule, by the loads that decide, stand apart from inputs of the replay, by a few pages.
    Gains are over the `incumbent`, in percent; the least that is `worthwhile` is the rule's.
    """
    title = "What would change this answer"
    lead = "Each input that could turn the answer, its range, and the answer at each end."
    kept = years_table(ledger or (), earlier, year=year, query=query) if earlier else None
    if not ledger:
        section = not_measured("ledger", title, lead, "the inputs were not varied.")
        return dataclasses.replace(section, tables=(kept,) if kept else ())
    choices = [one for one in ledger if not is_replayed(one)]
    inputs = [one for one in ledger if is_replayed(one)]
    asked: dict[str, Any] = {"incumbent": incumbent, "worthwhile": worthwhile, "query": query}
    return Section(
        id="ledger",
        title=title,
        lead=lead,
        figures=(
            *([choices_figure(choices, **asked)] if choices else []),
            *([inputs_figure(inputs, incumbent=incumbent, query=query)] if inputs else []),
        ),
        tables=(
            *([choices_table(choices, query=query)] if choices else []),
            *([inputs_table(inputs, **asked)] if inputs else []),
            *([kept] if kept else []),
        ),
    )


def is_replayed(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry is of an input that was replayed at its ends on a few pages,
    and not of a choice of the rule."""
    return str(entry["basis"]).startswith("a few pages")


def choices_table(choices: Sequence[Mapping[str, Any]], *, query: str) -> Table:
    """Choices of the rule with the answers at their ends."""
    return Table(
        id="choices",
        title="Choices of the rule, and the answer at each end",
        columns=LEDGER_COLUMNS,
        rows=tuple(map(ledger_row, choices)),
        source=BY_RULE,
        query=query,
        notes=tuple(dict.fromkeys(map(basis_note, choices))),
    )


def inputs_table(
    inputs: Sequence[Mapping[str, Any]], *, incumbent: int, worthwhile: float, query: str
) -> Table:
    """Inputs of the replay: a row with nothing changed, then a row for each end."""
    first = inputs[0]
    unchanged = {
        "input": "nothing changed",
        "end": "",
        "saved": first["gain_default"],
        "more": COMPARED,
        "answer": said(first["answer_default"], first["gain_default"], worthwhile),
    }
    return Table(
        id="inputs",
        title=f"Inputs of the replay: what IW {first['window']} saves against IW {incumbent} at each end",
        columns=(
            Column(id="input", title="input", kind="text"),
            Column(id="end", title="value in place of the usual", kind="text"),
            Column(id="saved", title="page time saved", unit="%", kind="interval"),
            Column(id="more", title="more than with nothing changed", unit="pp", kind="interval"),
            Column(id="answer", title="answer there", kind="text"),
        ),
        rows=(unchanged, *end_rows(inputs, worthwhile=worthwhile)),
        source=BY_INPUTS,
        query=query,
        notes=inputs_notes(inputs, worthwhile=worthwhile),
    )


def inputs_notes(inputs: Sequence[Mapping[str, Any]], *, worthwhile: float) -> tuple[str, ...]:
    """What the rows of inputs rest on, and where their ranges come from."""
    first = inputs[0]
    return (
        f"These rows rest on {first['basis']}, of {first['pages']} pages, and stand beside the decision: "
        "with nothing changed they need not give the gain of all loads. What an input does is the "
        "difference, for which each page is compared with itself.",
        f"“{TOO_FEW}”: the interval of the page time saved holds both less than 0 and more than the "
        f"{stated(worthwhile, '%')} that is worthwhile.",
        "Sources of the ranges: " + "; ".join(f"{one['title']}: {one['source']}" for one in inputs) + ".",
    )


def end_rows(inputs: Sequence[Mapping[str, Any]], *, worthwhile: float) -> Iterator[Row]:
    """A row for each end that was replayed."""
    for one in inputs:
        for end in ("low", "high"):
            if one[end] is not None:
                yield {
                    "input": named(one),
                    "end": f"{one[end]}, not {one['default']}",
                    "saved": one[f"gain_{end}"],
                    "more": one.get(f"more_{end}"),
                    "answer": said(one[f"answer_{end}"], one[f"gain_{end}"], worthwhile),
                }


def named(entry: Mapping[str, Any]) -> str:
    """An input with its unit."""
    return f"{entry['title']}, {entry['unit']}" if entry["unit"] else str(entry["title"])


def said(answer: str, gain: Mapping[str, float] | None, worthwhile: float) -> str:
    """The answer at an end, or that there are too few loads to tell.

    >>> said("no change", {"estimate": -1.2, "lower": -6.2, "upper": 1.8}, 1.0)
    'too few loads to tell'
    >>> said("no change", {"estimate": 0.2, "lower": -0.4, "upper": 0.8}, 1.0)
    'no change'
    """
    if gain is not None and gain["lower"] < 0 and gain["upper"] > worthwhile:
        return TOO_FEW
    return answer


def choices_figure(
    choices: Sequence[Mapping[str, Any]], *, incumbent: int, worthwhile: float, query: str
) -> Figure:
    """The gain of the window that the answer rests on,
    at either end of each choice of the rule and as decided."""
    window = choices[0]["window"]
    return Figure(
        id="fig-ledger",
        title=f"Page time saved by IW {window} against IW {incumbent}, "
        "at the ends of every choice of the rule.",
        caption=f"Points with 95 % intervals, or those of the confidence that is varied. IW {window} is the "
        "recommended window or else its nearest rival; a change is worthwhile where the whole interval "
        f"lies right of {stated(worthwhile, '%')}. The table has the values of the "
        "ends and the answer at each.",
        drawing="forest",
        x="saved",
        y="input",
        series="end",
        columns=(
            Column(id="input", title="choice of the rule", kind="text"),
            Column(id="end", title="end", kind="text"),
            Column(id="value", title="value", kind="text"),
            Column(id="answer", title="answer", kind="text"),
            Column(id="saved", title="page time saved", unit="%", kind="interval"),
        ),
        rows=tuple(
            {
                "input": named(one),
                "end": name,
                "value": one[end],
                "answer": one[f"answer_{end}"],
                "saved": one[f"gain_{end}"],
            }
            for one in choices
            for end, name in ENDS.items()
            if one[f"gain_{end}"] is not None
        ),
        source=BY_RULE,
        query=query,
        lines=(Line(value=0.0, label="no change"), Line(value=worthwhile, label="worthwhile")),
    )


def inputs_figure(inputs: Sequence[Mapping[str, Any]], *, incumbent: int, query: str) -> Figure:
    """What each end of an input of the replay adds to the gain of the window that the answer rests on."""
    window = inputs[0]["window"]
    return Figure(
        id="fig-inputs",
        title=f"What each end of an input adds to the page time that IW {window} "
        f"saves against IW {incumbent}.",
        caption=f"Differences of {inputs[0]['pages']} pages, each compared with itself, with 95 % intervals. "
        "An input matters where the whole interval lies on one side of 0. "
        "These loads stand beside the decision.",
        drawing="forest",
        x="more",
        y="input",
        series="end",
        columns=(
            Column(id="input", title="input", kind="text"),
            Column(id="end", title="end", kind="text"),
            Column(id="value", title="value", kind="text"),
            Column(id="more", title="more saved than with nothing changed", unit="pp", kind="interval"),
        ),
        rows=tuple(
            {"input": named(one), "end": ENDS[end], "value": one[end], "more": one[f"more_{end}"]}
            for one in inputs
            for end in ("low", "high")
            if one.get(f"more_{end}") is not None
        ),
        source=BY_INPUTS,
        query=query,
        lines=(Line(value=0.0, label="no difference"),),
    )


def basis_note(entry: Mapping[str, Any]) -> str:
    """What an entry's answers rest on, and the answer that ends are compared with.

    >>> basis = {"basis": "all loads in stages, by intervals", "pages": 591, "answer_default": "no change"}
    >>> print(basis_note(basis))  # doctest: +NORMALIZE_WHITESPACE
    Answers rest on all loads in stages, by intervals, of 591 pages:
    with nothing changed the answer is “no change”.
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
    ends = {name: entry[name] or "not replayed" for name in ("low", "answer_low", "high", "answer_high")}
    return {
        "title": named(entry),
        "turns": "yes" if entry["turns"] else "no",
        "default": entry["default"],
        "source": entry["source"],
        **ends,
    }
