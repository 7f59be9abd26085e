"""What the verdict rests on: gains and costs of each candidate, guards, the ledger, and the back-cast."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from releases.formatting import stated
from replay.runs.level import (
    PUBLISHED_MBPS,
    PUBLISHED_PACKETS_PERCENT,
    PUBLISHED_RESPONSES_PERCENT,
)
from reports.sections.shape import Column, Figure, Line, Row, Section, Table, not_measured
from verdict.arms import ALONE, EVERYONE
from verdict.calibration import Standing
from verdict.effects import BY_ID

SOURCE = "the replay's loads"

DECIDING = ("page", "resent", "milliseconds", "short flows")
"""Quantities that stand in the table of gains, or among the guards."""

Data = Mapping[str, Any]


def gains_section(verdict: Data, *, query: str) -> Section:
    """What each candidate saves and sends again, with its verdict."""
    rule = verdict["rule"]
    worthwhile, price = rule["worthwhile_percent"], rule["price_pp"]
    columns = (
        Column(id="window", title="initial window", kind="text"),
        Column(id="gain", title="page time saved", unit="%", kind="interval", near=(worthwhile,)),
        Column(id="milliseconds", title="page time saved", unit="ms", kind="interval"),
        Column(id="resent", title="payload sent again", unit="pp", kind="interval"),
        Column(id="benefit", title="net benefit", unit="pp", kind="interval", near=(0.0,)),
        Column(id="verdict", title="verdict", kind="text"),
        Column(id="pairs", title="pairs of loads", kind="count"),
    )
    rows = tuple(
        {
            "window": f"IW {one['window']}",
            "gain": one["gain_percent"],
            "milliseconds": one["milliseconds"],
            "resent": one["resent_pp"],
            "benefit": one["net_benefit_pp"],
            "verdict": one["verdict"],
            "pairs": one["pairs"],
        }
        for one in verdict["candidates"]
    )
    own = [column for column in columns if column.id in ("window", "gain")]
    return Section(
        id="gains",
        title=f"What each window saves against IW {rule['incumbent']}, and what it costs",
        lead=f"A window is worth it if it saves at least {stated(worthwhile, '%')} of page time, and sends "
        f"no more of the payload again than {stated(price, 'pp')} for each per cent: the dearest that the "
        "experiment of 2010 paid. The net benefit is that price times what is saved, less what is sent "
        "again.",
        figures=(
            Figure(
                id="fig-gains",
                title=f"Page time saved against IW {rule['incumbent']}.",
                caption="Intervals hold together over all windows and looks.",
                drawing="forest",
                x="gain",
                y="window",
                columns=tuple(own),
                rows=tuple({"window": row["window"], "gain": row["gain"]} for row in rows),
                source=SOURCE,
                query=query,
                lines=(
                    Line(value=0.0, label="no difference"),
                    Line(value=worthwhile, label=f"worthwhile, {stated(worthwhile, '%')}"),
                ),
            ),
        ),
        tables=tuple(
            one
            for one in (
                Table(
                    id="verdicts",
                    title="Gains, costs and verdicts",
                    columns=columns,
                    rows=rows,
                    source=SOURCE,
                    query=query,
                    notes=(
                        "Intervals of gain, payload and net benefit hold together with 95 % over all windows "
                        "and looks, and count both pages and networks as drawn at random; that of "
                        "milliseconds is by itself.",
                    ),
                ),
                guards_table(verdict["guards"], query),
                beside_table(verdict["candidates"], query),
            )
            if one is not None
        ),
    )


def guards_table(guards: Sequence[Data], query: str) -> Table | None:
    """The guards that were asked of windows that are worth it; None if none was."""
    if not guards:
        return None
    said = {True: "holds", False: "violated", None: "too few loads to tell"}
    return Table(
        id="guards",
        title="Guards, asked of windows that are worth it",
        columns=(
            Column(id="window", title="initial window", kind="text"),
            Column(id="what", title="what", kind="text"),
            Column(id="longer", title="longer", unit="%", kind="interval"),
            Column(id="limit", title="limit", unit="%", kind="stated"),
            Column(id="verdict", title="verdict", kind="text"),
        ),
        rows=tuple(
            {
                "window": f"IW {one['window']}",
                "what": one["what"],
                "longer": one["longer_percent"],
                "limit": one["limit_percent"],
                "verdict": said[one["holds"]],
            }
            for one in guards
        ),
        source=SOURCE,
        query=query,
    )


def beside_table(candidates: Sequence[Data], query: str) -> Table | None:
    """Every other quantity by the same estimator, which decides nothing."""
    rows = tuple(
        {
            "window": f"IW {one['window']}",
            "what": f"{BY_ID[name].what}{' saved' if BY_ID[name].is_log else ''}",
            "change": _interval(found),
            "unit": BY_ID[name].unit,
        }
        for one in candidates
        for name, found in one["beside"].items()
        if name not in DECIDING
    )
    if not rows:
        return None
    return Table(
        id="beside",
        title="What else changes, and decides nothing",
        columns=(
            Column(id="window", title="initial window", kind="text"),
            Column(id="what", title="what", kind="text"),
            Column(id="change", title="change", kind="interval"),
            Column(id="unit", title="unit", kind="text"),
        ),
        rows=rows,
        source=SOURCE,
        query=query,
        notes=("Intervals of 95 %, each number by itself.",),
    )


def _interval(found: Data | None) -> Data | None:
    if found is None or found["estimate"] is None:
        return None
    return {name: found[name] for name in ("estimate", "lower", "upper")}


def ledger_section(verdict: Data, *, query: str) -> Section:
    """Who would decide otherwise, for whom the answer differs, and what everyone's window does to a line."""
    entries, groups = verdict["ledger"], verdict["groups"]
    turning = [one["title"] for one in entries if one["turns"]]
    tables = [_answers("ledger", "The answer by other rules and inputs", entries, query)]
    if groups:
        tables.append(_answers("groups", "The answer for groups of lines, without guards", groups, query))
    if verdict["levels"]:
        tables.append(_levels(verdict["levels"], incumbent=verdict["rule"]["incumbent"], query=query))
    if verdict["half_loaded"]:
        tables.append(_half_loaded(verdict["half_loaded"], query))
    return Section(
        id="otherwise",
        title="Who would decide otherwise",
        lead="The same loads by other prices and other quantities, and loads under other inputs by the same "
        + (f"rule. The answer turns by {'; '.join(turning)}." if turning else "rule. None turns the answer."),
        tables=tuple(tables),
    )


def _answers(table_id: str, title: str, entries: Sequence[Data], query: str) -> Table:
    return Table(
        id=table_id,
        title=title,
        columns=(
            Column(id="title", title="by", kind="text"),
            Column(id="window", title="nearest window", kind="text"),
            Column(id="gain", title="time saved", unit="%", kind="interval"),
            Column(id="resent", title="payload sent again", unit="pp", kind="interval"),
            Column(id="price", title="price of 1 %", unit="pp"),
            Column(id="answer", title="answer", kind="text"),
        ),
        rows=tuple(
            {
                "title": one["title"]
                if one["share"] is None
                else f"{one['title']}, {stated(round(100 * one['share']), '%')} of all",
                "window": None if one["window"] is None else f"IW {one['window']}",
                "gain": one["gain_percent"],
                "resent": one["resent_pp"],
                "price": one["price_pp"],
                "answer": one["answer"],
            }
            for one in entries
        ),
        source=SOURCE,
        query=query,
    )


def _levels(rows: Sequence[Data], *, incumbent: int, query: str) -> Table:
    return Table(
        id="levels",
        title=f"What IW {incumbent} sends again",
        columns=(
            Column(id="title", title="over", kind="text"),
            Column(id="share", title="of all lines", unit="%"),
            Column(id="resent", title="payload sent again", unit="%", kind="interval"),
            Column(id="responses", title="responses sent again in part", unit="%", kind="interval"),
        ),
        rows=tuple(
            {
                "title": one["title"],
                "share": 100 * one["share"],
                "resent": one["resent_percent"],
                "responses": one["responses_percent"],
            }
            for one in rows
        ),
        source=SOURCE,
        query=query,
        notes=(
            f"Published: {PUBLISHED_PACKETS_PERCENT} % of packets and {PUBLISHED_RESPONSES_PERCENT} % of "
            f"responses of Google's web in 2011, to clients with a mean rate of {PUBLISHED_MBPS} Mbps "
            "(Dukkipati et al., Proportional Rate Reduction for TCP, IMC 2011).",
        ),
    )


def _half_loaded(by_arm: Mapping[str, Sequence[Data]], query: str) -> Table:
    return Table(
        id="half-loaded",
        title="On a line of which other traffic asks for the half",
        columns=(
            Column(id="who", title="who has the window", kind="text"),
            Column(id="window", title="initial window", kind="text"),
            Column(id="page", title="page time saved", unit="%", kind="interval"),
            Column(id="others", title="others' short flows, time saved", unit="%", kind="interval"),
            Column(id="pairs", title="pairs of loads", kind="count"),
        ),
        rows=tuple(
            {
                "who": {ALONE: "the page alone", EVERYONE: "everyone"}[name],
                "window": f"IW {one['window']}",
                "page": one["page_percent"],
                "others": one["short_flows_percent"],
                "pairs": one["pairs"],
            }
            for name, rows in by_arm.items()
            for one in rows
        ),
        source=SOURCE,
        query=query,
        notes=("Intervals of 95 %, each number by itself.",),
    )


def backcast_section(standing: Standing) -> Section:
    """The published figures of 2010 beside ours, and what the rule chooses there."""
    title = "The method on 2010's experiment"
    lead = (
        "The same replay and rule are asked about the experiment that made IW 10 the standard. "
        "What they miss lowers the confidence."
    )
    content = standing.content
    if content is None:
        return not_measured("backcast", title, lead, standing.sentence)
    judging = [one for one in content["figures"] if one["half"] == "judgement"]
    return Section(
        id="backcast",
        title=title,
        lead=f"{lead} {standing.sentence}",
        tables=(
            Table(
                id="backcast-figures",
                title="Published figures and ours",
                columns=(
                    Column(id="what", title="what", kind="text"),
                    Column(id="unit", title="unit", kind="text"),
                    Column(id="published", title="published", kind="stated"),
                    Column(id="ours", title="ours"),
                    Column(id="factor", title="factor"),
                ),
                rows=tuple(
                    {name: one[name] for name in ("what", "unit", "published", "ours", "factor")}
                    for one in judging
                ),
                source="Dukkipati et al. 2010, Tables 3 and 7",
                query="firstflight replay backcast",
            ),
            Table(
                id="backcast-choices",
                title="What the rule finds over the networks of 2010, with IW 3 in force",
                columns=(
                    Column(id="center", title="data centre", kind="text"),
                    Column(id="window", title="initial window", kind="text"),
                    Column(id="gain", title="page time saved", unit="%"),
                    Column(id="resent", title="payload sent again", unit="pp"),
                    Column(id="verdict", title="verdict", kind="text"),
                ),
                rows=tuple(_choices(content)),
                source="the back-cast",
                query="firstflight replay backcast",
            ),
        ),
    )


def _choices(content: Data) -> Iterator[Row]:
    for center, chosen in content["choices"].items():
        for one in chosen["candidates"]:
            said = one["verdict"] + (", chosen" if one["window"] == chosen["window"] else "")
            yield {
                "center": center,
                "window": f"IW {one['window']}",
                "gain": one["gain_percent"],
                "resent": one["resent_pp"],
                "verdict": said,
            }
