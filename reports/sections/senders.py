"""Candidates by how the servers send: congestion control, with and without pacing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reports.sections.evidence import Evidence, saved_percent
from reports.sections.shape import Column, Figure, Line, Row, Section, Table, interval, not_measured

Sender = tuple[str, bool]
"""Congestion control, and whether packets are paced."""


def sender_name(sender: Sender) -> str:
    """A sender in words.

    >>> sender_name(("bbr", True)), sender_name(("cubic", False))
    ('BBR, paced', 'CUBIC')
    """
    control, is_paced = sender
    return control.upper() + (", paced" if is_paced else "")


def senders_section(arms: Mapping[Sender, Evidence], *, decides: Sender) -> Section:
    """Gains side by side by sender; `arms` has those that were replayed, the deciding one among them."""
    title = "CUBIC, BBR and pacing"
    lead = f"The rule decides on {sender_name(decides)} without pacing, as most servers send. A window and its pacing belong together: a paced first flight is no burst."
    if len(arms) < 2:
        why = "other senders were not replayed; `firstflight replay run --congestion-control cubic,bbr --pacing off,on` does."
        return not_measured("senders", title, lead, why)
    windows = sorted(set.intersection(*(set(one.windows) for one in arms.values())))
    rows = _rows(arms, windows)
    some = next(iter(arms.values()))
    return Section(
        id="senders",
        title=title,
        lead=lead,
        figures=(senders_figure(rows, windows, some),),
        tables=(
            Table(
                id="by-sender",
                title="Page time saved against the window in force, with the same sender",
                columns=(
                    Column(id="sender", title="sender", kind="text"),
                    *(Column(id=f"iw{one}", title=f"IW {one}", unit="%", kind="interval") for one in windows),
                ),
                rows=rows,
                source=some.source,
                query=some.query,
            ),
        ),
    )


def senders_figure(rows: Sequence[Row], windows: Sequence[int], some: Evidence) -> Figure:
    """Page time saved at each window, a series for each sender; `rows` are the table's, `some` the evidence of any sender."""
    return Figure(
        id="fig-senders",
        title="Page time saved by how servers send.",
        caption=f"Against IW {some.incumbent} of the same sender, with 95 % intervals.",
        drawing="intervals",
        x="window",
        y="saved",
        series="sender",
        columns=(
            Column(id="window", title="initial window", kind="text"),
            Column(id="sender", title="sender", kind="text"),
            Column(id="saved", title="page time saved", unit="%", kind="interval"),
        ),
        rows=tuple(
            {"window": f"IW {window}", "sender": row["sender"], "saved": row[f"iw{window}"]}
            for window in windows
            for row in rows
        ),
        source=some.source,
        query=some.query,
        lines=(Line(value=0.0, label="no change"),),
    )


def _rows(arms: Mapping[Sender, Evidence], windows: Sequence[int]) -> tuple[Row, ...]:
    return tuple(
        {
            "sender": sender_name(sender),
            **{
                f"iw{window}": interval(saved_percent(one, window, one.weights["average"]))
                for window in windows
            },
        }
        for sender, one in arms.items()
    )
