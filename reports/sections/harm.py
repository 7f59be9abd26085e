"""Retransmission at each window beside Table 7 of 2010, and harm to others by condition."""

from collections.abc import Iterator, Sequence

import numpy as np

from releases.interval import Interval
from replay.backcast.published import RESPONSES, RETRANSMITTED, SERVICES
from reports.decision.measuring import measure
from reports.decision.record import limit_of, shown
from reports.decision.statements import statements_of
from reports.recommendation.mixture import ORDINARY
from reports.sections.evidence import POPULATIONS, TOO_FEW, Evidence, level_percent
from reports.sections.shape import Column, Figure, Line, Row, Section, Table, interval, not_measured

LEVELS = {
    "bytes": ("bytes_retransmitted", "payload_bytes", "payload sent again"),
    "responses": ("responses_own_retransmitted", "responses", "responses with any"),
    "connections": ("connections_initial_loss", "connections", "connections with loss inside the window"),
}
"""Shares of a load by id: part, whole, and title."""

DRAWN = {
    "bytes": ("Payload sent again", "share of the payload"),
    "responses": ("Responses of which any payload was sent again", "share of the responses"),
    "connections": ("Connections that lost packets of the initial window", "share of the connections"),
}
"""Titles of the figures of these shares, and of their axes."""

OTHERS = ("competing_short_flows", "competing_bulk_flow", "probe_delay")
"""Margins that bound harm to others."""


def retransmission_section(evidence: Evidence) -> Section:
    """What is sent again at each window, and what the 2010 paper saw."""
    windows = sorted({*evidence.windows, evidence.incumbent})
    rows = tuple(sent_again_rows(evidence, windows))
    return Section(
        id="retransmission",
        title="Retransmission",
        lead="What a larger burst costs: payload that servers send again because a queue dropped it. "
        "Shares are means over pages.",
        figures=tuple(sent_again_figure(evidence, name, rows) for name in LEVELS),
        tables=(
            Table(
                id="sent-again",
                title="Sent again at each window",
                columns=(
                    Column(id="window", title="window", kind="text"),
                    *(
                        Column(id=f"{name}_{role}", title=f"{title}, {role}", unit="%", kind="interval")
                        for name, (_, _, title) in LEVELS.items()
                        for role in ("average", "slow")
                    ),
                ),
                rows=rows,
                source=evidence.source,
                query=evidence.query,
            ),
            table_7(),
        ),
    )


def sent_again_rows(evidence: Evidence, windows: Sequence[int]) -> Iterator[Row]:
    """A row for each window with every share, over all networks and over the slowest tenth."""
    for window in windows:
        yield {
            "window": f"IW {window}",
            **{
                f"{name}_{role}": interval(level_percent(evidence, part, whole, window, weights))
                for name, (part, whole, _) in LEVELS.items()
                for role, weights in evidence.weights.items()
            },
        }


def sent_again_figure(evidence: Evidence, name: str, rows: Sequence[Row]) -> Figure:
    """One of LEVELS at each window, a series for each population of networks; `rows` are the table's."""
    title, axis = DRAWN[name]
    return Figure(
        id=f"fig-{name}-again",
        title=f"{title}, by initial window.",
        caption="Means over pages, with 95 % intervals.",
        drawing="intervals",
        x="window",
        y="share",
        series="networks",
        columns=(
            Column(id="window", title="initial window", kind="text"),
            Column(id="networks", title="networks", kind="text"),
            Column(id="share", title=axis, unit="%", kind="interval"),
        ),
        rows=tuple(
            {"window": row["window"], "networks": POPULATIONS[role], "share": row[f"{name}_{role}"]}
            for row in rows
            for role in evidence.weights
        ),
        source=evidence.source,
        query=evidence.query,
    )


def table_7() -> Table:
    """What the experiment of 2010 saw at IW 3 and 10."""
    return Table(
        id="table-7",
        title="Beside it: Google's services in 2010, IW 3 and 10",
        columns=(
            Column(id="where", title="data centre, service", kind="text"),
            Column(id="segments_3", title="segments sent again, IW 3", unit="%", kind="stated"),
            Column(id="segments_10", title="segments sent again, IW 10", unit="%", kind="stated"),
            Column(id="responses_3", title="responses with any, IW 3", unit="%", kind="stated"),
            Column(id="responses_10", title="responses with any, IW 10", unit="%", kind="stated"),
        ),
        rows=tuple(
            {
                "where": f"{center}, {service}",
                "segments_3": RETRANSMITTED[center, service][3],
                "segments_10": RETRANSMITTED[center, service][10],
                "responses_3": RESPONSES[center, service][3],
                "responses_10": RESPONSES[center, service][10],
            }
            for center, service in RESPONSES
            if service in SERVICES
        ),
        source="Dukkipati et al. 2010, Table 7",
        query="replay/backcast/published.py",
        is_published=True,
    )


def others_section(evidence: Evidence, *, beside: Evidence | None = None) -> Section:
    """Harm to others in each replayed condition, by the loads that decide,
    and else by those of a full replay `beside` them."""
    title = "Harm to others"
    lead = (
        "Short flows, a bulk flow and a probe of others share the bottleneck with the page, at today's "
        "window or, where everyone changes, at the candidate's."
    )
    measured, rows = evidence, tuple(others_rows(evidence))
    if not rows and beside is not None:
        measured, rows = beside, tuple(others_rows(beside))
    if not rows:
        why = (
            "no candidate came so far that its harm conditions were replayed, or `firstflight replay run "
            "--harm core` was not asked for."
        )
        return not_measured("others", title, lead, why)
    return Section(
        id="others",
        title=title,
        lead=lead,
        figures=(others_figure(measured, rows),),
        tables=(others_table(measured, rows),),
        notes=(beside_note(measured),) if measured is not evidence else (),
    )


def beside_note(beside: Evidence) -> str:
    """What harm is measured in, where the replay that decides has no harm conditions."""
    pages, networks = (
        max(
            len(np.unique(getattr(draws, name))) for where, draws in beside.draws.items() if where != ORDINARY
        )
        for name in ("pages", "networks")
    )
    return (
        "The loads that decide have no harm conditions, for no other window came so far that they were "
        f"replayed. These are measured beside the decision, on {pages} pages over {networks} networks, and "
        "decide nothing: where an interval holds both 0 and the bound, there are too few loads to tell."
    )


def others_table(evidence: Evidence, rows: tuple[Row, ...]) -> Table:
    """Every harm beside its bound, with what its interval says of the bound."""
    return Table(
        id="others-harm",
        title=f"Worse than at IW {evidence.incumbent}, by condition",
        columns=(
            Column(id="harm", title="harm", kind="text"),
            Column(id="condition", title="condition", kind="text"),
            Column(id="window", title="window", kind="text"),
            Column(id="worse", title="worse by", kind="interval"),
            Column(id="unit", title="unit", kind="text"),
            Column(id="limit", title="bound", kind="stated"),
            Column(id="reading", title="reading", kind="text"),
        ),
        rows=rows,
        source=evidence.source,
        query=evidence.query,
    )


def others_figure(evidence: Evidence, rows: Sequence[Row]) -> Figure:
    """Every harm as a multiple of its bound, in the condition where it is worst, a series for each window.

    `rows` are the table's.
    """
    in_multiples = [
        {
            "harm": row["harm"],
            "condition": row["condition"],
            "window": row["window"],
            "times": {end: value / row["limit"] for end, value in row["worse"].items()},
        }
        for row in rows
        if row["limit"] > 0
    ]
    worst: dict[tuple[str, str], Row] = {}
    for row in in_multiples:
        key = row["harm"], row["window"]
        if key not in worst or row["times"]["estimate"] > worst[key]["times"]["estimate"]:
            worst[key] = row
    return Figure(
        id="fig-others",
        title=f"Harm to others beside IW {evidence.incumbent}, in multiples of its bound.",
        caption="Each in the condition where its estimate is worst; points with 95 % intervals. A bound "
        "holds where the whole interval lies left of 1.",
        drawing="forest",
        x="times",
        y="harm",
        series="window",
        columns=(
            Column(id="harm", title="harm", kind="text"),
            Column(id="condition", title="condition", kind="text"),
            Column(id="window", title="window", kind="text"),
            Column(id="times", title="worse by, in multiples of the bound", kind="interval", near=(1.0,)),
        ),
        rows=tuple(worst.values()),
        source=evidence.source,
        query=evidence.query,
        lines=(Line(value=0.0, label="no change"), Line(value=1.0, label="bound")),
    )


def others_rows(evidence: Evidence) -> Iterator[Row]:
    """A row for each harm to others, condition and window that was measured."""
    harmed = (draws.windows for where, draws in evidence.draws.items() if where != ORDINARY)
    windows = {*evidence.windows, evidence.incumbent}.union(*harmed)
    asked = [
        one
        for one in statements_of(evidence.rule, sorted(windows), incumbent=evidence.incumbent)
        if one.margin is not None
        and one.margin.id in OTHERS
        and one.other == evidence.incumbent
        and one.sign > 0
    ]
    found = measure(asked, evidence.draws, evidence.weights, evidence.rule)
    for one in asked:
        effect = found.get(one.id)
        if effect is not None and one.margin is not None:
            yield {
                "harm": one.margin.title,
                "condition": one.condition,
                "window": f"IW {one.candidate}",
                "worse": interval(shown(one, effect)),
                "unit": one.margin.unit,
                "limit": limit_of(one, effect),
                "reading": reading(shown(one, effect), limit_of(one, effect)),
            }


def reading(worse: Interval, limit: float) -> str:
    """What an interval says of a bound.

    >>> reading(Interval(1.0, 0.5, 1.5), 2.0), reading(Interval(3.0, 2.5, 3.5), 2.0), reading(Interval(1.0, -1.0, 3.0), 2.0)
    ('within the bound', 'beyond the bound', 'too few loads to tell')
    """  # noqa: E501
    if worse.upper < limit:
        return "within the bound"
    return "beyond the bound" if worse.lower >= limit else TOO_FEW
