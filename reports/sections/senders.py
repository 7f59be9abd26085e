"""Candidates by how the servers send: congestion control, with and without pacing."""

from collections.abc import Iterator, Mapping, Sequence

from releases.formatting import stated
from releases.interval import Interval
from reports.sections.evidence import TOO_FEW, Evidence, more_saved, saved_percent
from reports.sections.shape import (
    COMPARED,
    Column,
    Figure,
    Line,
    Row,
    Section,
    Table,
    interval,
    not_measured,
)

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
    lead = (
        f"The rule's candidates send with {sender_name(decides)}, at once, as most servers do, or paced: a "
        "paced first flight is no burst. Here each sender's windows stand against its own window in force, "
        "so that a row says what the window adds, and not what the pacing does."
    )
    if len(arms) < 2:
        why = (
            "other senders were not replayed; `firstflight replay run --congestion-control "
            "cubic,bbr --pacing off,on` does."
        )
        return not_measured("senders", title, lead, why)
    rows = tuple(sender_rows(arms, decides=decides))
    some = arms[decides]
    return Section(
        id="senders",
        title=title,
        lead=lead,
        figures=(senders_figure(rows, some),),
        tables=(
            Table(
                id="by-sender",
                title="Page time saved against the window in force, with the same sender",
                columns=(
                    Column(id="window", title="window", kind="text"),
                    Column(id="sender", title="sender", kind="text"),
                    Column(id="saved", title="page time saved", unit="%", kind="interval"),
                    Column(
                        id="more", title=f"more than by {sender_name(decides)}", unit="pp", kind="interval"
                    ),
                    Column(id="reading", title="reading", kind="text"),
                ),
                rows=rows,
                source=some.source,
                query=some.query,
                notes=(
                    f"These are {some.source}, the same for every sender: what tells senders apart is the "
                    "difference, for which each load is compared with the like one. The page time saved "
                    "need not be that of all loads, on which the answer rests.",
                    f"“{TOO_FEW}”: the interval of the page time saved holds both less than 0 and more than "
                    f"the {stated(some.rule.worthwhile_percent, '%')} that is worthwhile.",
                ),
            ),
        ),
    )


def senders_figure(rows: Sequence[Row], some: Evidence) -> Figure:
    """Page time saved at each window, a series for each sender.

    `rows` are the table's, `some` the evidence of any sender.
    """
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
        rows=tuple({name: row[name] for name in ("window", "sender", "saved")} for row in rows),
        source=some.source,
        query=some.query,
        lines=(Line(value=0.0, label="no change"),),
    )


def sender_rows(arms: Mapping[Sender, Evidence], *, decides: Sender) -> Iterator[Row]:
    """A row for each window and sender that was replayed at it."""
    for window in sorted({window for one in arms.values() for window in one.windows}):
        for sender, one in arms.items():
            if window in one.windows:
                saved = saved_percent(one, window, one.weights["average"])
                yield {
                    "window": f"IW {window}",
                    "sender": sender_name(sender),
                    "saved": interval(saved),
                    "more": COMPARED
                    if sender == decides
                    else interval(more_saved(one, arms[decides], window)),
                    "reading": reading(saved, one.rule.worthwhile_percent),
                }


def reading(saved: Interval | None, worthwhile: float) -> str:
    """What an interval says of a gain beside the least that is worthwhile.

    >>> reading(Interval(2.0, 1.5, 2.5), 1.0), reading(Interval(0.2, -0.1, 0.5), 1.0), reading(Interval(0.2, -1.0, 1.4), 1.0)
    ('worthwhile', 'less than worthwhile', 'too few loads to tell')
    >>> reading(Interval(1.0, 0.5, 1.5), 1.0)
    'saves; whether enough is open'
    """  # noqa: E501
    if saved is None or (saved.lower < 0 and saved.upper > worthwhile):
        return TOO_FEW
    if saved.upper < worthwhile:
        return "less than worthwhile"
    return "worthwhile" if saved.lower >= worthwhile else "saves; whether enough is open"
