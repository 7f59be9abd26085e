"""Retransmission at each window beside Table 7 of 2010, and harm to others by condition."""

from __future__ import annotations

from collections.abc import Iterator

from replay.backcast.published import RESPONSES, RETRANSMITTED, SERVICES
from reports.answer.of_stages import limit_of, shown
from reports.decision.measuring import measure
from reports.decision.statements import statements_of
from reports.sections.evidence import Evidence, level_percent
from reports.sections.shape import Column, Row, Section, Table, interval, not_measured

LEVELS = {
    "bytes": ("bytes_retransmitted", "payload_bytes", "payload sent again"),
    "responses": ("responses_retransmitted", "responses", "responses with any"),
    "connections": ("connections_initial_loss", "connections", "connections with loss inside the window"),
}
"""Shares of a load by id: part, whole, and title."""

OTHERS = ("competing_short_flows", "competing_bulk_flow", "probe_delay")
"""Margins that bound harm to others."""


def retransmission_section(evidence: Evidence) -> Section:
    """What is sent again at each window, and what the 2010 paper saw."""
    windows = sorted({*evidence.windows, evidence.incumbent})
    return Section(
        id="retransmission",
        title="Retransmission",
        lead="What a larger burst costs: payload that servers send again because a queue dropped it. Shares are means over pages.",
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
                rows=tuple(
                    {
                        "window": f"IW {window}",
                        **{
                            f"{name}_{role}": interval(level_percent(evidence, part, whole, window, weights))
                            for name, (part, whole, _) in LEVELS.items()
                            for role, weights in evidence.weights.items()
                        },
                    }
                    for window in windows
                ),
                source=evidence.source,
                query=evidence.query,
            ),
            table_7(),
        ),
    )


def table_7() -> Table:
    """What the experiment of 2010 saw at IW 3 and 10."""
    return Table(
        id="table-7",
        title="Beside it: Google's services in 2010, IW 3 and 10",
        columns=(
            Column(id="where", title="data centre, service", kind="text"),
            Column(id="segments_3", title="segments sent again, IW 3", unit="%", digits=2),
            Column(id="segments_10", title="segments sent again, IW 10", unit="%", digits=2),
            Column(id="responses_3", title="responses with any, IW 3", unit="%", digits=2),
            Column(id="responses_10", title="responses with any, IW 10", unit="%", digits=2),
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


def others_section(evidence: Evidence) -> Section:
    """Harm to others in each replayed condition."""
    title = "Harm to others"
    lead = "Short flows, a bulk flow and a probe of others share the bottleneck with the page, at today's window or, where everyone changes, at the candidate's."
    rows = tuple(others_rows(evidence))
    if not rows:
        why = "no candidate came so far that its harm conditions were replayed, or `firstflight replay run --harm core` was not asked for."
        return not_measured("others", title, lead, why)
    return Section(
        id="others",
        title=title,
        lead=lead,
        tables=(
            Table(
                id="others-harm",
                title=f"Worse than at IW {evidence.incumbent}, by condition",
                columns=(
                    Column(id="harm", title="harm", kind="text"),
                    Column(id="condition", title="condition", kind="text"),
                    Column(id="window", title="window", kind="text"),
                    Column(id="worse", title="worse by", kind="interval"),
                    Column(id="unit", title="unit", kind="text"),
                    Column(id="limit", title="bound"),
                ),
                rows=rows,
                source=evidence.source,
                query=evidence.query,
            ),
        ),
    )


def others_rows(evidence: Evidence) -> Iterator[Row]:
    """A row for each harm to others, condition and window that was measured."""
    windows = (*evidence.windows, evidence.incumbent)
    asked = [
        one
        for one in statements_of(evidence.rule, windows, incumbent=evidence.incumbent)
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
            }
