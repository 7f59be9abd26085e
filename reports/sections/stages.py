"""The stages of a replay that ends when its answer is known: what each added and decided,
and why another followed."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from releases.formatting import RANGE, grouped
from reports.sections.shape import Column, Figure, Row, Section, Table

COLUMNS = (
    Column(id="stage", title="stage", kind="count"),
    Column(id="ended", title="ended, UTC", kind="text"),
    Column(id="starts", title="starts", kind="text"),
    Column(id="seeds", title="seeds", kind="text"),
    Column(id="loads", title="loads", kind="count"),
    Column(id="core_minutes", title="CPU time", unit="min"),
    Column(id="part", title="budget used", unit="%"),
    Column(id="answers", title="answers left", kind="text"),
    Column(id="reason", title="why it ended or went on", kind="text"),
)


def stages_table_section(ledger: Sequence[Mapping[str, Any]], *, source: str, query: str) -> Section:
    """The ledger of stages (reports.decision.history)."""
    commits = sorted({str(one["commit"]) for one in ledger})
    rows = tuple(map(_row, ledger))
    return Section(
        id="stages",
        title="Stages of the replay",
        lead="The replay adds loads in stages, and ends when one answer is left or its budget is used.",
        figures=(
            Figure(
                id="fig-stages",
                title="Loads of each stage.",
                caption="Each stage adds loads to those before it.",
                drawing="bars",
                x="stage",
                y="loads",
                columns=COLUMNS,
                rows=rows,
                source=source,
                query=query,
            ),
        ),
        tables=(
            Table(
                id="stages-ledger",
                title="What each stage added and decided",
                columns=COLUMNS,
                rows=rows,
                source=source,
                query=query,
                notes=(
                    f"Made by commit {', '.join(commits)}. A stage with several starts was stopped in "
                    "between, and went on from its stored loads.",
                ),
            ),
        ),
    )


def _row(entry: Mapping[str, Any]) -> Row:
    return {
        "stage": entry["stage"],
        "ended": minute(entry["ended"]) if entry["ended"] else "not kept",
        "starts": str(len(entry["starts"])) if entry["starts"] else "not kept",
        "seeds": _ranges(entry["seeds"]),
        "loads": entry["loads"],
        "core_minutes": entry["core_minutes"],
        "part": 100 * entry["part_of_budget"],
        "answers": " or ".join(entry["possible_answers"]),
        "reason": entry["reason"],
    }


def minute(ended: str) -> str:
    """A time of ISO 8601 in UTC, to the minute.

    >>> minute("2026-11-23T22:43:44+00:00")
    '2026-11-23 22:43'
    """
    return datetime.datetime.fromisoformat(ended).astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M")


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers as ranges.

    >>> _ranges([1, 2, 3, 7])
    '1\\u20133, 7'
    """
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(
        grouped(first) if first == last else f"{grouped(first)}{RANGE}{grouped(last)}"
        for first, last in found
    )
