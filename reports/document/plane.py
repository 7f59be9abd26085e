"""The plane of gain and cost: what each window saves of page time and what it sends again, beside the step
of 2010."""

import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import Any

import altair as alt

from releases.chart_theme import LIGHT
from releases.formatting import NARROW, stated
from replay.backcast.published import BASE, EXPERIMENT
from replay.runs.policy import AT_ONCE, Policy
from reports.content import Report
from reports.document.charts import (
    LETTER,
    LOOKS,
    STANDS_OUT,
    Box,
    Name,
    Place,
    arrow,
    combine_layers,
    draw_names,
    ends_beyond,
    height_of,
    lines_of,
    of_rows,
    stack_lines,
    text_at,
)
from reports.forms.brief import RATES, Brief
from reports.sections.verdict import steps_of_2010
from verdict.rule import RULE
from verdict.stored import CandidateFacts, EntryFacts, VerdictFacts, rule_facts

MOST_GAIN, MOST_COST = 14.0, 3.0
"""Ends of the axes, in per cent and in percentage points; what is beyond is drawn at the end."""

WORTH_IT = LIGHT.palette["first_flights"]
"""Colour of the region in which a window is worth it."""

SMALL = 0.9
"""Size of the letters of notes and of the names of groups, as a part of the others'."""

LEAST_DRAWN = 0.5
"""Page time saved in per cent below which a window has no place in the picture."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Size of a drawing of the plane, in pixels."""

    width: int
    height: int
    letters: float
    """Size of its letters."""
    title: float
    """Size of the letters of its title."""
    background: str = "transparent"


WIDE_SHEET = Sheet(width=720, height=600, letters=12.5, title=17)
NARROW_SHEET = Sheet(width=352, height=520, letters=12.5, title=15.5)
SLIDE = Sheet(width=960, height=540, letters=14, title=28, background=LIGHT.background)
"""A slide of 16:9."""

SLIDE_SCALE = 2
"""Pixels of the slide's PNG to each of its own: 1,920 across."""


@dataclasses.dataclass(frozen=True, slots=True)
class Plot:
    """The part of a drawing between its axes."""

    width: float
    height: float

    @property
    def is_narrow(self) -> bool:
        """True on a phone, where names are short."""
        return self.width < 400

    def place(self, gain: float, cost: float) -> Place:
        """Return pixels from the top left of the plot.

        >>> Plot(140, 100).place(7, 0.75), Plot(140, 100).place(20, -1)
        ((70.0, 50.0), (140.0, 100.0))
        """
        gain, cost = min(MOST_GAIN, max(0.0, gain)), min(MOST_COST, max(0.0, cost))
        return self.width * gain / MOST_GAIN, self.height * (1 - math.sqrt(cost / MOST_COST))


def draw_plane(report: Report, brief: Brief, sheet: Sheet) -> alt.TopLevelMixin:
    """Draw the plane from the verdict of a report.

    A slide has the headline as its title and the finding below; other drawings have the finding as title.
    """
    titles = [(brief.finding, sheet.title, "bold")]
    if sheet is SLIDE:
        titles = [(brief.headline, sheet.title, "bold"), (f"{brief.finding} {brief.how_sure}", 17, "normal")]
    size, inner = sheet.letters, sheet.width - 2 * sheet.letters
    top = [
        line for text, letters, weight in titles for line in lines_of(text, letters, inner, fontWeight=weight)
    ]
    left_out = [mark.policy for mark in _list_marks(report.verdict) if not mark.is_drawn]
    note = (
        f"Not drawn, for they save little or no time: {', '.join(f'IW {policy}' for policy in left_out)}. "
        if left_out
        else ""
    )
    bottom = [*lines_of(note + brief.source, SMALL * size, inner)]
    above, below = 4 * size + height_of(top), 3.9 * size + height_of(bottom)
    plot = Plot(sheet.width - 5 * size, round(sheet.height - above - below))
    above = sheet.height - plot.height - below
    marks = text_at(brief.marks, plot.width, -1.1 * size, size, align="right", color=STANDS_OUT)
    return combine_layers(
        [
            *_region(_rule(report.verdict), plot, size),
            *_marks(report.verdict, plot, size),
            *_key(plot, size),
            marks,
            *stack_lines(top, x=-3 * size, y=size - above),
            *stack_lines(bottom, x=-3 * size, y=plot.height + 3.9 * size),
        ],
        width=plot.width,
        height=plot.height,
        padding={"left": 4 * size, "right": size, "top": above, "bottom": below},
        letters=size,
        background=sheet.background,
    )


def _axes(step: int = 2) -> dict[str, Any]:
    """Return both axes."""
    percent, points = f"datum.value + '{NARROW}%'", f"datum.value + '{NARROW}pp'"
    return {
        "x": alt.X(
            "gain:Q",
            title=None,
            scale=alt.Scale(domain=[0, MOST_GAIN], nice=False, clamp=True),
            axis=alt.Axis(
                values=[*range(0, 15, step)], labelExpr=percent, grid=False, ticks=False, labelPadding=5
            ),
        ),
        "y": alt.Y(
            "cost:Q",
            title=None,
            scale=alt.Scale(domain=[0, MOST_COST], type="sqrt", nice=False, clamp=True),
            axis=alt.Axis(
                values=[0.1, 0.3, 1, 2, 3], labelExpr=points, domain=False, ticks=False, labelPadding=5
            ),
        ),
    }


def _rule(verdict: VerdictFacts | None) -> tuple[float, float]:
    """Return the price in percentage points for 1 %, and the least that is worthwhile in per cent."""
    rule = verdict["rule"] if verdict else rule_facts(RULE)
    return rule["price_pp"], rule["worthwhile_percent"]


def _ray(price: float) -> list[dict[str, float]]:
    """Return points along the price, more of them near 0, where the root of the cost is steep."""
    return [
        {"gain": MOST_GAIN * (at / 50) ** 2, "cost": price * MOST_GAIN * (at / 50) ** 2} for at in range(51)
    ]


def _region(rule: tuple[float, float], plot: Plot, size: float) -> Iterator[alt.Chart]:
    """Yield the ray of the price, the region below it, and the names of the axes."""
    price, least = rule
    start = {"gain": least, "cost": price * least}
    inside = [{**point, "floor": 0.0} for point in (start, *_ray(price)) if point["gain"] >= least]
    axes = _axes(4 if plot.is_narrow else 2)
    yield of_rows(inside).mark_area(color=WORTH_IT, fillOpacity=0.14).encode(**axes, y2=alt.Y2("floor:Q"))
    yield of_rows(_ray(price)).mark_line(color=WORTH_IT, strokeWidth=1.5).encode(**axes)
    _, base = plot.place(0, 0.04)
    worth = f"worth it: saves {stated(least, '%')} or more, for at most {stated(price, 'pp')} each"
    worth = "worth it" if plot.is_narrow else worth
    yield text_at(worth, plot.width - 6, base, size, align="right", color=WORTH_IT, fontWeight="bold")
    yield text_at("page time saved →", plot.width, plot.height + 2.7 * size, size, align="right")
    again = "↑ more sent again" if plot.is_narrow else "↑ more of the payload sent again, percentage points"
    yield text_at(again, -3 * size, -1.1 * size, size)


def _key(plot: Plot, size: float) -> Iterator[alt.Chart]:
    """State what the shapes mean, at the top right of the plot."""
    shapes = (("circle", True, "paced"), ("circle", False, "at once"), ("diamond", True, "group of lines"))
    x = plot.width - LETTER * size * sum(len(name) + 5 for _, _, name in shapes) + size
    for shape, is_filled, name in shapes:
        point = of_rows([{"name": name}]).mark_point(
            shape=shape,
            filled=is_filled,
            color=LIGHT.ink if shape == "diamond" else _colour(is_paced=is_filled),
            size=5 * size,
            opacity=1,
        )
        yield point.encode(x=alt.XValue(x), y=alt.YValue(size))
        yield text_at(name, x + 0.8 * size, size, size)
        x += LETTER * size * (len(name) + 5)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A window, or a group of lines with its window, whose gain and cost are known."""

    group: str
    """Title of the group; empty for a window over all lines."""
    policy: Policy
    gain: float
    cost: float
    gain_ends: tuple[float | None, float | None]
    cost_ends: tuple[float | None, float | None]

    @property
    def is_drawn(self) -> bool:
        """False if it saves too little to have a place in the picture."""
        return self.gain > LEAST_DRAWN

    @property
    def is_paced(self) -> bool:
        """True unless the window is sent at once."""
        return self.policy.sending != AT_ONCE


def _list_marks(verdict: VerdictFacts | None) -> Iterator[Mark]:
    """Yield the candidates, and the groups of lines by rate, whose gain and cost are known."""
    if verdict is None:
        return
    entries: list[tuple[str, CandidateFacts | EntryFacts]] = [("", entry) for entry in verdict["candidates"]]
    entries += [(group["title"], group) for group in verdict["groups"] if group["id"] in RATES]
    for title, entry in entries:
        gain, cost = entry["gain_percent"], entry["resent_pp"]
        if gain and cost and gain["estimate"] is not None and cost["estimate"] is not None:
            yield Mark(
                group=title,
                policy=Policy.parse(entry["window"] or RULE.incumbent.window),
                gain=gain["estimate"],
                cost=cost["estimate"],
                gain_ends=(gain["lower"], gain["upper"]),
                cost_ends=(cost["lower"], cost["upper"]),
            )


def _colour(*, is_paced: bool) -> str:
    """Return the colour of a window, as in the other figures."""
    return LOOKS[0 if is_paced else 1][0]


def _marks(verdict: VerdictFacts | None, plot: Plot, size: float) -> Iterator[alt.Chart]:
    """Yield 2010's arrows, today's windows with their intervals, and the groups of lines, with their
    names."""
    names: list[Name] = []
    lines: list[tuple[Place, Place, float]] = []
    axes = _axes(4 if plot.is_narrow else 2)
    ray = [plot.place(**point) for point in _ray(_rule(verdict)[0])]
    lines += [(start, end, 1.5) for start, end in itertools.pairwise(ray)]
    for name, gain, cost in reversed([*steps_of_2010()]):
        x, y = plot.place(gain, cost)
        lines.append((plot.place(0, 0), (x, y), 3.0))
        step = [{"gain": 0.0, "cost": 0.0}, {"gain": gain, "cost": cost}]
        yield of_rows(step).mark_line(color=STANDS_OUT, strokeWidth=3).encode(**axes)
        turn = math.degrees(math.atan2(x, plot.height - y))
        head = of_rows(step[1:]).mark_point(
            shape="triangle", filled=True, color=STANDS_OUT, size=12 * size, opacity=1
        )
        yield head.encode(**axes, angle=alt.AngleValue(turn))
        style: dict[str, Any] = {"color": STANDS_OUT, "fontWeight": "bold"}
        label = f"2010, {name}" if plot.is_narrow else f"2010, {BASE} to {EXPERIMENT}: {name} data centre"
        names.append(Name(label, [(x, y)], style))
    for mark in _list_marks(verdict):
        if not mark.is_drawn:
            continue
        row = {"gain": mark.gain, "cost": mark.cost}
        for axis, (lower, upper) in (("gain", mark.gain_ends), ("cost", mark.cost_ends)):
            if not mark.group and lower is not None and upper is not None:
                first, last = row | {axis: lower}, row | {axis: upper}
                lines.append((plot.place(**first), plot.place(**last), 2.0))
                rule = of_rows([first | {"end": upper}]).mark_rule(
                    color=_colour(is_paced=mark.is_paced), opacity=0.5
                )
                other = {"x2": alt.X2("end:Q")} if axis == "gain" else {"y2": alt.Y2("end:Q")}
                yield rule.encode(**axes, **other)
                most, sides = (
                    (MOST_GAIN, ("left", "right")) if axis == "gain" else (MOST_COST, ("down", "up"))
                )
                for side, end in ends_beyond((lower, upper), (0.0, most), sides):
                    yield arrow(side, _colour(is_paced=mark.is_paced), row | {axis: end}).encode(**axes)
        colour = LIGHT.ink if mark.group else _colour(is_paced=mark.is_paced)
        point = of_rows([row]).mark_point(
            shape="diamond" if mark.group else "circle",
            filled=bool(mark.group) or mark.is_paced,
            color=colour,
            strokeWidth=2.5,
            size=4 * size if mark.group else 8 * size,
            opacity=1,
        )
        yield point.encode(**axes)
        name = f"{mark.group}: {mark.policy}" if mark.group else f"IW {mark.policy}"
        if plot.is_narrow:
            name = mark.group.removeprefix("lines ") if mark.group else str(mark.policy)
        style = {"color": colour, **({"fontSize": SMALL * size} if mark.group else {"fontWeight": "bold"})}
        names.append(Name(name, [plot.place(mark.gain, mark.cost)], style))
    key: Box = (plot.width / 2, 0.0, plot.width, 2 * size)
    yield from draw_names(names, lines, width=plot.width, height=plot.height, letters=size, keep=[key])
