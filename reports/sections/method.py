"""What holds the method to account: the back-cast on 2010, the ledger of inputs, and RFC 9040's step."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reports.answer.shape import Findings
from reports.backcast.stored import Standing
from reports.sections.shape import Column, Row, Section, Table, not_measured

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


def backcast_section(instrument: Standing) -> Section:
    """The published figures of 2010 beside ours."""
    title = "The method on 2010's experiment"
    lead = "The same replay and rule are asked about the experiment that made IW 10 the standard. A method that misses what production saw then is not believed on larger windows."
    if instrument.content is None:
        return not_measured("backcast", title, lead, instrument.sentence)
    content = instrument.content
    return Section(
        id="backcast",
        title=title,
        lead=lead,
        tables=(
            Table(
                id="backcast-figures",
                title=f"Published figures that judge, which must be met within a factor of {content['factor']:g}",
                columns=(
                    Column(id="what", title="figure", kind="text"),
                    Column(id="published", title="published", digits=2),
                    Column(id="ours", title="ours", digits=2),
                    Column(id="unit", title="unit", kind="text"),
                    Column(id="verdict", title="verdict", kind="text"),
                ),
                rows=tuple(
                    {
                        **{name: one[name] for name in ("what", "published", "ours", "unit")},
                        "verdict": ("met" if one["is_met"] else "missed")
                        + (", decides" if one["decides"] else ""),
                    }
                    for one in content["figures"]
                    if one["half"] == "judgement"
                ),
                source="Dukkipati et al. 2010, Tables 3 and 7",
                query="firstflight replay backcast",
                notes=(instrument.sentence, content["admission"]["sentence"]),
            ),
        ),
    )


def ledger_section(
    ledger: Sequence[Mapping[str, Any]] | None,
    earlier: Sequence[Mapping[str, Any]],
    *,
    year: int,
    query: str,
) -> Section:
    """What would change the answer: each input with the answers at the ends of its range, this year and in `earlier` editions."""
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
        tables=(
            Table(
                id="inputs",
                title="Inputs and answers",
                columns=LEDGER_COLUMNS,
                rows=tuple(map(ledger_row, ledger)),
                source="the replay that decides, and a few pages at the ends of its inputs",
                query=query,
                notes=tuple(dict.fromkeys(map(basis_note, ledger))),
            ),
            *([kept] if kept else []),
        ),
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


def rfc9040_section(findings: Findings, *, step: int, year: int) -> Section:
    """The windows that RFC 9040's automatic adjustment would pass on the way to the rule's window."""
    title = "RFC 9040's automatic window"
    lead = f"RFC 9040 (Appendix C) lets a host raise its initial window by itself, by at most {step} segments a year. "
    if findings.iw is None or findings.iw <= findings.incumbent:
        lead += f"The rule chooses no larger window, so that it stays at IW {findings.incumbent}."
        return Section(id="rfc9040", title=title, lead=lead)
    return Section(
        id="rfc9040",
        title=title,
        lead=lead + f"On the way to the window that the rule chooses, IW {findings.iw}, it would allow:",
        tables=(
            Table(
                id="rfc9040-steps",
                title="Largest window by year",
                columns=(
                    Column(id="year", title="year", kind="text"),
                    Column(id="window", title="window", unit="segments", kind="count"),
                ),
                rows=tuple(steps(findings.incumbent, findings.iw, step=step, year=year)),
                source="RFC 9040, Appendix C",
                query="arithmetic",
            ),
        ),
    )


def steps(incumbent: int, target: int, *, step: int, year: int) -> Iterator[Row]:
    """The largest window of each year until the target.

    >>> [row["window"] for row in steps(10, 15, step=2, year=2026)]
    [12, 14, 15]
    """
    for at in itertools.count():
        window = min(target, incumbent + step * (at + 1))
        yield {"year": str(year + at), "window": window}
        if window == target:
            return
