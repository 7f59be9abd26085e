"""What windows save and cost, and who would decide otherwise: the verdict's data as figures and tables."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from releases.formatting import NARROW, RANGE, quantity, range_text, stated
from replay.backcast.published import BASE, DATA_CENTERS, EXPERIMENT, LATENCY, RETRANSMITTED
from replay.runs.policy import PACED, Policy
from reports.sections.shape import Column, Figure, Line, Row, Section, Table, is_less, is_told
from verdict.arms import ALONE, EVERYONE
from verdict.effects import BY_ID
from verdict.ledger import PUBLISHED_MBPS, PUBLISHED_PACKETS_PERCENT, PUBLISHED_RESPONSES_PERCENT
from verdict.rule import RULE
from verdict.stored import (
    CandidateFacts,
    EntryFacts,
    GuardFacts,
    IntervalFacts,
    LevelFacts,
    SharedFacts,
    VerdictFacts,
    Window,
    rival_of,
)

PACING = (
    "sends the first ten segments of a connection at once, and the rest at twice the window in a round trip"
)
"""What Linux does with a window that is paced, in words; measured on Linux 6.12."""

DECIDING = ("page", "resent", "milliseconds", "short flows")
"""Quantities that stand in the table of gains, or among the guards."""

CENTERS = {"AvgDC": "average", "SlowDC": "slow"}
"""Data centres of the experiment of 2010, by their names in the back-cast."""

WINDOW = Column(id="window", title="initial window", kind="text")
SENT = Column(id="sent", title="sent", kind="text")
GAIN = Column(id="gain", title="page time saved", unit="%", kind="interval")
RESENT = Column(id="resent", title="payload sent again", unit="pp", kind="interval")


def gains_section(verdict: VerdictFacts) -> Section:
    """State what each candidate saves, over all lines and by the lines' distance and rate."""
    rule, candidates = verdict["rule"], verdict["candidates"]
    worthwhile = rule["worthwhile_percent"]
    lines = (
        Line(value=0.0, label=""),
        Line(value=worthwhile, label=f"worthwhile, {stated(worthwhile, '%')}"),
    )
    gains = [entry["gain_percent"] for entry in (*candidates, *verdict["groups"])]
    domain = share_axis(gains, [0.0, worthwhile])
    rival = rival_of(verdict)
    title = f"Page time saved by each window against IW {rule['incumbent']}"
    if rival is not None and is_told(rival["gain_percent"]):
        title = f"IW {rival['window']} {gain_text(rival['gain_percent'])}"
    figures = [
        Figure(
            id="fig-gains",
            title=title,
            caption=f"Page time saved by each window against IW {rule['incumbent']}, over all lines. "
            "Intervals hold together with 95 %.",
            drawing="dots",
            x="gain",
            y="window",
            series="sent",
            columns=(WINDOW, SENT, GAIN),
            rows=tuple(
                {**name_columns(candidate), "gain": candidate["gain_percent"]} for candidate in candidates
            ),
            lines=lines,
            domain=domain,
        )
    ]
    known = [group for group in verdict["groups"] if estimate_of(group["gain_percent"]) is not None]
    if known:
        most = max(known, key=lambda group: estimate_of(group["gain_percent"]) or 0)
        title = "Page time saved by the lines\u2019 round trip and rate"
        if is_told(most["gain_percent"]):
            title = f"Over {most['title']} IW {most['window']} {gain_text(most['gain_percent'])}"
        figures.append(
            Figure(
                id="fig-groups",
                title=title,
                caption="Page time saved by the window nearest to worth it, by the lines\u2019 round trip "
                "and rate, with 95 % interval.",
                drawing="dots",
                x="gain",
                y="title",
                columns=(Column(id="title", title="lines", kind="text"), GAIN),
                rows=tuple({"title": group_name(group), "gain": group["gain_percent"]} for group in known),
                lines=lines,
                domain=domain,
            )
        )
    return Section(
        id="gains",
        title="What larger windows save",
        lead="A larger window saves round trips while a connection starts. Page time counts from a "
        "page\u2019s first packet to its last, without the time that browsers compute."
        f"{describe_growth({group['id']: group['gain_percent'] for group in known})}",
        figures=tuple(figures),
        tables=(verdicts_table(verdict), *beside_table(candidates)),
    )


GROWING = {
    "with the line\u2019s round trip": ("rtt-20", "rtt-50", "rtt-beyond"),
    "with rate, since a slow line takes its time for the packets themselves": ("slow", "middle", "quick"),
}
"""Groups of lines along which gains may grow, in words."""


def estimate_of(effect: IntervalFacts | None) -> float | None:
    """Take the estimate of an effect; None if it is unknown."""
    return effect["estimate"] if effect else None


def gain_text(gain: IntervalFacts | None) -> str:
    """Return what a window saves of page time, or how much longer pages take, of a gain that is told."""
    value = estimate_of(gain) or 0.0
    amount = quantity(abs(value), "%")
    return f"saves {amount} of page time" if value > 0 else f"takes {amount} more page time"


def describe_growth(gains: Mapping[str, IntervalFacts | None]) -> str:
    """Say in a sentence along what the saved time grows, by group; empty if intervals do not tell it."""
    directions = [
        words
        for words, names in GROWING.items()
        if all(is_less(gains.get(less), gains.get(more)) for less, more in itertools.pairwise(names))
    ]
    return f" Saved time grows {' and '.join(directions)}." if directions else ""


def name_columns(candidate: CandidateFacts) -> dict[str, str]:
    """Return the name of a candidate, and how it is sent."""
    return {"window": f"IW {candidate['window']}", "sent": Policy.parse(candidate["window"]).sending}


def group_name(group: EntryFacts) -> str:
    """Return the name of a group of lines with its share and its window."""
    share = "" if group["share"] is None else f" ({quantity(100 * group['share'], '%', 2)})"
    return f"{group['title']}{share}, IW {group['window']}"


def share_axis(effects: Iterable[IntervalFacts | None], lines: Sequence[float]) -> tuple[float, float]:
    """Choose the ends of an axis that holds all estimates, and their intervals up to half as much again."""
    known = [effect for effect in effects if effect and effect["estimate"] is not None]
    values = [*(effect["estimate"] for effect in known if effect["estimate"] is not None), *lines]
    reach = 0.5 * (max(values) - min(values))
    ends = [end for effect in known for end in (effect["lower"], effect["upper"]) if end is not None]
    low = max(min([*values, *ends]), min(values) - reach)
    high = min(max([*values, *ends]), max(values) + reach)
    room = 0.04 * (high - low) or 1.0
    return round(low - room, 3), round(high + room, 3)


def verdicts_table(verdict: VerdictFacts) -> Table:
    """State what each candidate saves and sends again, with its verdict."""
    worthwhile = verdict["rule"]["worthwhile_percent"]
    return Table(
        id="verdicts",
        title="Gains, costs and verdicts",
        columns=(
            WINDOW,
            Column(id="gain", title="page time saved", unit="%", kind="interval", near=(worthwhile,)),
            Column(id="milliseconds", title="page time saved", unit="ms", kind="interval"),
            RESENT,
            Column(id="benefit", title="net benefit", unit="pp", kind="interval", near=(0.0,)),
            Column(id="verdict", title="verdict", kind="text"),
            Column(id="pairs", title="pairs of loads", kind="count"),
        ),
        rows=tuple(
            {
                "window": f"IW {candidate['window']}",
                "gain": candidate["gain_percent"],
                "milliseconds": candidate["milliseconds"],
                "resent": candidate["resent_pp"],
                "benefit": candidate["net_benefit_pp"],
                "verdict": candidate["verdict"],
                "pairs": candidate["pairs"],
            }
            for candidate in verdict["candidates"]
        ),
        notes=(
            "Page time saved in per cent is the mean of ratios, in which all loads count alike; in "
            "milliseconds it is the mean of differences, in which long pages count more. So both can differ "
            "in sign.",
            "Intervals hold together with 95 % over all windows, and count both pages and "
            "networks as drawn at random; that of milliseconds is by itself.",
        ),
    )


def beside_table(candidates: Sequence[CandidateFacts]) -> Iterator[Table]:
    """Yield the table of every other quantity by the same estimator, which decides nothing."""
    rows = tuple(
        {
            "window": f"IW {candidate['window']}",
            "what": f"{'saved of ' if BY_ID[name].is_log else ''}{BY_ID[name].what}",
            "change": {
                end: effect[end] if effect["lower"] is not None else None for end in ("lower", "upper")
            }
            | {"estimate": effect["estimate"]},
            "unit": BY_ID[name].unit,
        }
        for candidate in candidates
        for name, effect in candidate["beside"].items()
        if name not in DECIDING and effect["estimate"] is not None
    )
    if rows:
        yield Table(
            id="beside",
            title="What else changes, and decides nothing",
            columns=(
                WINDOW,
                Column(id="what", title="what", kind="text"),
                Column(id="change", title="change", kind="interval"),
                Column(id="unit", title="unit", kind="text"),
            ),
            rows=rows,
            notes=("Intervals of 95 %, each number by itself.",),
        )


def costs_section(verdict: VerdictFacts) -> Section:
    """State what each candidate sends again, and what others lose if everyone has it."""
    rule, candidates = verdict["rule"], verdict["candidates"]
    half = {name: rows for name, rows in verdict["half_loaded"].items() if rows}
    own = Figure(
        id="fig-resent",
        title=resent_title(candidates),
        caption=f"Payload sent again beyond that of IW {rule['incumbent']}, in percentage points. Intervals "
        "hold together with 95 %.",
        drawing="dots",
        x="resent",
        y="window",
        series="sent",
        columns=(WINDOW, SENT, RESENT),
        rows=tuple({**name_columns(candidate), "resent": candidate["resent_pp"]} for candidate in candidates),
        lines=(Line(value=0.0, label=""),),
        domain=share_axis([candidate["resent_pp"] for candidate in candidates], [0.0]),
    )
    lead = (
        "Packets of a large first flight can overflow the queue before a slow line, and are sent again. "
        f"Linux, if it paces, {PACING}: the queue has time to drain."
    )
    if half:
        lead += (
            " Others who share the line may pay, too: the second figure shows their short flows on a line "
            "that other traffic loads by half."
        )
    return Section(
        id="costs",
        title="What they cost",
        lead=lead,
        figures=(own, *((everyone_figure(half),) if half else ())),
        tables=(
            *((half_loaded_table(half),) if half else ()),
            *((levels_table(verdict["levels"], incumbent=rule["incumbent"]),) if verdict["levels"] else ()),
        ),
    )


def resent_title(candidates: Sequence[CandidateFacts]) -> str:
    """Return the cost of one size at once and paced, where both are told."""
    costs = {
        Policy.parse(candidate["window"]): estimate_of(candidate["resent_pp"])
        for candidate in candidates
        if is_told(candidate["resent_pp"])
    }
    for size in sorted(policy.window for policy in costs if policy.window > RULE.incumbent.window):
        both = costs.get(Policy(size)), costs.get(Policy(size, PACED))
        if None not in both:
            once, paced = (quantity(cost, "pp", 2) for cost in both)
            return f"IW {size} at once sends {once} more of the payload again; paced, {paced} more"
    return "Payload sent again by each window"


WHO = {ALONE: "this page alone", EVERYONE: "everyone"}


def everyone_figure(half: Mapping[str, Sequence[SharedFacts]]) -> Figure:
    """Build the time that others' short flows save, if one page or everyone has a window."""
    rows = tuple(
        {"window": f"IW {row['window']}", "who": WHO[name], "others": row["short_flows_percent"]}
        for name, some in half.items()
        for row in some
    )
    slowdowns = [
        (saved, row["window"])
        for row in half.get(EVERYONE, ())
        if is_told(row["short_flows_percent"])
        and (saved := row["short_flows_percent"]["estimate"]) is not None
    ]
    title = "What others on the line pay at each window"
    if slowdowns:
        value, window = min(slowdowns, key=lambda slowdown: slowdown[0])
        time = f"{quantity(abs(value), '%', 2)} {'longer' if value < 0 else 'less'}"
        title = f"If everyone has IW {window}, others\u2019 short flows take {time}"
    order = {row["window"]: None for row in rows}
    return Figure(
        id="fig-everyone",
        title=title,
        caption="Time that others\u2019 short flows save on a half-loaded line, with 95 % interval; left "
        "of zero they take longer.",
        drawing="dots",
        x="others",
        y="window",
        series="who",
        columns=(
            WINDOW,
            Column(id="who", title="who has the window", kind="text"),
            Column(id="others", title="time saved by others", unit="%", kind="interval"),
        ),
        rows=tuple(row for window in order for row in rows if row["window"] == window),
        lines=(Line(value=0.0, label=""),),
    )


def half_loaded_table(half: Mapping[str, Sequence[SharedFacts]]) -> Table:
    """Build the page and others on a half-loaded line."""
    return Table(
        id="half-loaded",
        is_folded=True,
        title="On a line that other traffic loads by half",
        columns=(
            Column(id="who", title="who has the window", kind="text"),
            WINDOW,
            Column(id="page", title="page time saved", unit="%", kind="interval"),
            Column(id="others", title="others\u2019 short flows, time saved", unit="%", kind="interval"),
            Column(id="pairs", title="pairs of loads", kind="count"),
        ),
        rows=tuple(
            {
                "who": WHO[name],
                "window": f"IW {row['window']}",
                "page": row["page_percent"],
                "others": row["short_flows_percent"],
                "pairs": row["pairs"],
            }
            for name, rows in half.items()
            for row in rows
        ),
        notes=("Intervals of 95 %, each number by itself.",),
    )


def levels_table(rows: Sequence[LevelFacts], *, incumbent: Window) -> Table:
    """State what the window in force sends again, by rate."""
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
                "title": row["title"],
                "share": 100 * row["share"],
                "resent": row["resent_percent"],
                "responses": row["responses_percent"],
            }
            for row in rows
        ),
        notes=(
            f"Published: {PUBLISHED_PACKETS_PERCENT} % of packets and {PUBLISHED_RESPONSES_PERCENT} % of "
            f"responses of Google\u2019s web in 2011, to clients with a mean rate of {PUBLISHED_MBPS} Mbps "
            "(Dukkipati et al., Proportional Rate Reduction for TCP, IMC 2011).",
        ),
    )


def otherwise_section(verdict: VerdictFacts, plane: Figure) -> Section:
    """Build the verdict in its plane, and who would decide otherwise."""
    rule, entries = verdict["rule"], verdict["ledger"]
    price = stated(rule["price_pp"], "pp")
    return Section(
        id="otherwise",
        title="The verdict, and who would decide otherwise",
        lead=f"A window is worth it if it saves at least {stated(rule['worthwhile_percent'], '%')} of page "
        f"time for at most {price} of payload sent again for each per cent: the dearest price in the "
        "experiment by which IW 10 became the standard. Net benefit is that price times what is saved, "
        f"less what is sent again. {describe_turns(entries)}",
        figures=(plane, *price_figure(verdict)),
        tables=(
            *guards_table(verdict["guards"]),
            *(
                [_answers("groups", "The answer for groups of lines", verdict["groups"])]
                if verdict["groups"]
                else []
            ),
            _answers("ledger", "The answer by other rules and inputs", entries),
        ),
    )


def describe_turns(entries: Sequence[EntryFacts]) -> str:
    """State which other rules and inputs give another answer, and by which the loads cannot tell."""
    turning = [entry["title"] for entry in entries if entry["turns"]]
    told = f"Another answer follows with {'; '.join(turning)}." if turning else ""
    if unknown := sum(entry["turns"] is None for entry in entries):
        others = f"{unknown} of {len(entries) - 1} other rules and inputs"
        told = f"{told} With {others} the loads cannot tell whether it changes.".lstrip()
    return told or "No other rule or input gives another answer."


def price_figure(verdict: VerdictFacts) -> Iterator[Figure]:
    """Yield the figure of what 1 % of page time costs by each input, beside the prices of 2010."""
    entries = verdict["ledger"]
    shown = [
        (price, f"{entry['title']}, IW {entry['window']}")
        for entry in entries
        if (price := entry["price_pp"] or 0) > 0 and not entry["id"].startswith(("price", "time alone"))
    ]
    if len(shown) < 2:
        return
    limit = verdict["rule"]["price_pp"]
    yield Figure(
        id="fig-prices",
        title="What 1 % of page time costs under each input",
        caption="Payload sent again for 1 % of page time saved, at the window nearest to worth it; "
        "estimates without intervals, on a logarithmic axis. The line is the dearest price of 2010.",
        drawing="dots",
        x="price",
        y="title",
        columns=(
            Column(id="title", title="input", kind="text"),
            Column(id="price", title="price of 1 % of page time", unit="pp"),
        ),
        rows=tuple(
            {"title": title, "price": price} for price, title in sorted(shown, key=lambda entry: entry[0])
        ),
        lines=(Line(value=limit, label=f"2010, {stated(limit)}"),),
        is_logarithmic=True,
    )


def guards_table(guards: Sequence[GuardFacts]) -> Iterator[Table]:
    """Yield the guards that were asked of windows that are worth it."""
    standings = {True: "holds", False: "violated", None: "too few loads to tell"}
    if guards:
        yield Table(
            id="guards",
            title="Guards, asked of windows that are worth it",
            columns=(
                WINDOW,
                Column(id="what", title="what", kind="text"),
                Column(id="longer", title="longer", unit="%", kind="interval"),
                Column(id="limit", title="limit", unit="%", kind="stated"),
                Column(id="verdict", title="verdict", kind="text"),
            ),
            rows=tuple(
                {
                    "window": f"IW {guard['window']}",
                    "what": guard["what"],
                    "longer": guard["longer_percent"],
                    "limit": guard["limit_percent"],
                    "verdict": standings[guard["holds"]],
                }
                for guard in guards
            ),
        )


def _answers(table_id: str, title: str, entries: Sequence[EntryFacts]) -> Table:
    return Table(
        id=table_id,
        is_folded=True,
        title=title,
        columns=(
            Column(id="title", title="by", kind="text"),
            Column(id="window", title="nearest window", kind="text"),
            GAIN,
            RESENT,
            Column(id="price", title="price of 1 %", unit="pp"),
            Column(id="answer", title="answer", kind="text"),
        ),
        rows=tuple(
            {
                "title": entry["title"]
                if entry["share"] is None
                else f"{entry['title']}, {stated(round(100 * entry['share']), '%')} of all",
                "window": None if entry["window"] is None else f"IW {entry['window']}",
                "gain": entry["gain_percent"],
                "resent": entry["resent_pp"],
                "price": entry["price_pp"],
                "answer": entry["answer"],
            }
            for entry in entries
        ),
    )


def steps_of_2010() -> Iterator[tuple[str, float, float]]:
    """Yield the step of 2010 in each data centre: its name, what it saved in per cent, what it cost in pp.

    >>> [(name, round(gain, 2), round(cost, 2)) for name, gain, cost in steps_of_2010()]
    [('average', 11.68, 0.31), ('slow', 8.75, 0.67)]
    """
    for center in DATA_CENTERS:
        before, after = (LATENCY[center, window].mean for window in (BASE, EXPERIMENT))
        resent = RETRANSMITTED[center, "all"]
        yield CENTERS[center], 100 * (1 - after / before), resent[EXPERIMENT] - resent[BASE]


def describe_plane(verdict: VerdictFacts | None) -> str:
    """State what the plane shows, in a sentence."""
    gains, costs = zip(*((gain, cost) for _, gain, cost in steps_of_2010()), strict=True)
    then = (
        f"In 2010 the step from {BASE} to {EXPERIMENT} saved {range_text(min(gains), max(gains), '%')} of "
        f"time for {min(costs):.2f}{RANGE}{max(costs):.2f}{NARROW}pp of payload sent again"
    )
    rival = rival_of(verdict)
    if rival is None or rival["gain_percent"]["estimate"] is None:
        return f"{then}. No window of today was measured."
    if not is_told(rival["gain_percent"]):
        return f"{then}. Of IW {rival['window']} now, the loads do not tell."
    cost = "for no more, as far as the loads tell"
    if is_told(rival["resent_pp"]):
        cost = f"for {quantity(rival['resent_pp']['estimate'], 'pp')}"
    return f"{then}. Now IW {rival['window']} {gain_text(rival['gain_percent'])} {cost}."


def plane_figure(verdict: VerdictFacts, *, source: str) -> Figure:
    """Build the plane of gain and cost as data, with the steps of 2010."""
    named = [(f"IW {candidate['window']}", candidate) for candidate in verdict["candidates"]]
    groups = [(group_name(group), group) for group in verdict["groups"]]
    rows: list[Row] = [
        {"name": name, "gain": entry["gain_percent"], "resent": entry["resent_pp"]}
        for name, entry in (*named, *groups)
    ]
    rows += [
        {"name": f"2010, {name} data centre", "gain": _point(gain), "resent": _point(cost)}
        for name, gain, cost in steps_of_2010()
    ]
    return Figure(
        id="fig-plane",
        title=describe_plane(verdict),
        caption="Page time saved against payload sent again, on a square-root scale; in the shaded region "
        "a window is worth it.",
        drawing="plane",
        x="gain",
        y="resent",
        columns=(Column(id="name", title="window or lines", kind="text"), GAIN, RESENT),
        rows=tuple(rows),
        source=source,
    )


def _point(value: float) -> dict[str, float | None]:
    return {"estimate": value, "lower": None, "upper": None}
