"""Candidates by how the servers send: congestion control, with and without pacing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reports.sections.evidence import Evidence, saved_percent
from reports.sections.shape import Column, Row, Section, Table, interval, not_measured

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
    return Section(
        id="senders",
        title=title,
        lead=lead,
        tables=(
            Table(
                id="by-sender",
                title="Page time saved against the window in force, with the same sender",
                columns=(
                    Column(id="sender", title="sender", kind="text"),
                    *(Column(id=f"iw{one}", title=f"IW {one}", unit="%", kind="interval") for one in windows),
                ),
                rows=tuple(_rows(arms, windows)),
                source=next(iter(arms.values())).source,
                query=next(iter(arms.values())).query,
            ),
        ),
    )


def _rows(arms: Mapping[Sender, Evidence], windows: Sequence[int]) -> list[Row]:
    return [
        {
            "sender": sender_name(sender),
            **{
                f"iw{window}": interval(saved_percent(one, window, one.weights["average"]))
                for window in windows
            },
        }
        for sender, one in arms.items()
    ]
