"""The plane of gain and cost: what each policy saves of page time and what it sends again, per load and in
sum, beside the price that 2010 paid."""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from figures.theme import LIGHT
from releases.formatting import NARROW, number, stated
from releases.interval import Interval
from replay.runs.policy import AT_ONCE, Policy
from reports.content import Report
from reports.document.charts import (
    LETTER,
    STANDS_OUT,
    Box,
    Name,
    Place,
    combine_layers,
    draw_names,
    height_of,
    lines_of,
    of_rows,
    stack_lines,
    text_at,
)
from reports.forms.brief import Brief
from reports.sections.verdict import COSTS, GAINS, beside, is_known, policy_name
from verdict.rule import PER_LOAD, UNITS, Rule, Unit
from verdict.verdict import Candidate, Verdict

FOR_ALL, BEYOND = LIGHT.palette["responses"], LIGHT.palette["first_flights"]
"""Colours of policies for all connections, and of those beyond a handshake."""

SMALL = 0.9
"""Size of the letters of notes, as a part of the others'."""

LONG = 90
"""Letters from which on a headline stands smaller on the slide."""

CLEAR = 3.5
"""Half of the room that names leave for a line, in pixels."""

ROOM = 1.12
"""Length of an axis, as a multiple of the largest estimate on it."""


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

    @property
    def is_narrow(self) -> bool:
        """True on a phone, where one panel stands below the other."""
        return self.width < 500


WIDE_SHEET = Sheet(width=720, height=540, letters=12.5, title=17)
NARROW_SHEET = Sheet(width=352, height=860, letters=12.5, title=15.5)
SLIDE = Sheet(width=960, height=540, letters=14, title=28, background=LIGHT.background)
"""A slide of 16:9."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A policy whose gain and cost are known in a unit."""

    policy: Policy
    gain: Interval
    cost: Interval

    @property
    def colour(self) -> str:
        """The colour of those whom the policy is for."""
        return FOR_ALL if self.policy.beyond_ms is None else BEYOND

    @property
    def shape(self) -> str:
        """The shape of those whom the policy is for."""
        return "circle" if self.policy.beyond_ms is None else "diamond"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The plane in one unit: a part of the drawing, in pixels, and the ends of its linear axes."""

    unit: Unit
    price: float
    """2010's own, in percentage points for 1 %."""
    marks: tuple[Mark, ...]
    left: float
    top: float
    width: float
    height: float
    most_gain: float
    costs: tuple[float, float]

    @property
    def box(self) -> Box:
        """Its left, top, right and bottom."""
        return self.left, self.top, self.left + self.width, self.top + self.height

    def place(self, gain: float, cost: float) -> Place:
        """Return the pixels of a gain and a cost; what is beyond the axes lies at their ends."""
        low, high = self.costs
        along = min(1.0, max(0.0, gain / self.most_gain))
        up = min(1.0, max(0.0, (cost - low) / (high - low)))
        return self.left + self.width * along, self.top + self.height * (1 - up)


def list_marks(verdict: Verdict | None, unit: Unit) -> list[Mark]:
    """Return the policies that are known to have a gain and a cost in a unit."""
    at = UNITS.index(unit)
    marks = []
    for candidate in verdict.candidates if verdict else ():
        gain, cost = (_known(candidate, names[at]) for names in (GAINS, COSTS))
        if gain is not None and cost is not None:
            marks.append(Mark(policy=candidate.policy, gain=gain, cost=cost))
    return marks


def _known(candidate: Candidate, name: str) -> Interval | None:
    value = beside(candidate, name)
    return value if is_known(value) else None


def draw_plane(report: Report, brief: Brief, sheet: Sheet) -> alt.TopLevelMixin:
    """Draw the plane from the verdict of a report, a panel for each unit.

    A slide has the headline as its title and the finding below; other drawings have the finding as title.
    """
    verdict, size = report.verdict, sheet.letters
    titles = [(brief.finding, sheet.title, "bold")]
    if sheet is SLIDE:
        large = sheet.title if len(brief.headline) < LONG else 0.75 * sheet.title
        titles = [(brief.headline, large, "bold"), (f"{brief.finding} {brief.how_sure}", 16, "normal")]
    inner = sheet.width - 2 * size
    top = [
        line for text, letters, weight in titles for line in lines_of(text, letters, inner, fontWeight=weight)
    ]
    bottom = [*lines_of(_left_out(verdict) + brief.source, SMALL * size, inner)]
    above, below = height_of(top) + 3.2 * size, height_of(bottom) + size
    panels = [*_panels(verdict, sheet, top=above, height=sheet.height - above - below)]
    recommended = verdict.policy if verdict else None
    layers = [
        *stack_lines(top, x=size, y=size),
        *_key(panels, sheet, y=above - size),
        *(layer for panel in panels for layer in _draw_panel(panel, sheet, recommended)),
        *stack_lines(bottom, x=size, y=sheet.height - below + 0.5 * size),
    ]
    if brief.marks:
        at = (sheet.width - 1.2 * size, panels[0].top - _head(sheet) + 1.1 * size)
        layers.append(text_at(brief.marks, *at, size, align="right", color=STANDS_OUT))
    return combine_layers(
        layers,
        width=sheet.width,
        height=sheet.height,
        padding=dict.fromkeys(("left", "right", "top", "bottom"), 0.0),
        letters=size,
        background=sheet.background,
    )


def _left_out(verdict: Verdict | None) -> str:
    """Return which policies have no place in the picture, and why."""
    left_out = [mark.policy for mark in list_marks(verdict, PER_LOAD) if mark.gain.estimate <= 0]
    return f"Not drawn, for they save no time: {', '.join(map(policy_name, left_out))}. " if left_out else ""


def _head(sheet: Sheet) -> float:
    """Return the room above a panel's plot, in which the ray is named on one line, or on two on a phone."""
    return (4.6 if sheet.is_narrow else 3.4) * sheet.letters


def _panels(verdict: Verdict | None, sheet: Sheet, *, top: float, height: float) -> Iterator[Panel]:
    """Yield the panel of each unit: side by side, or below each other on a phone."""
    size, rule = sheet.letters, verdict.rule if verdict else Rule()
    left, right, head, foot = 3.9 * size, 1.2 * size, _head(sheet), 3.4 * size
    across = 1 if sheet.is_narrow else 2
    wide, high = sheet.width / across, height / (len(UNITS) / across)
    for at, unit in enumerate(UNITS):
        marks = tuple(mark for mark in list_marks(verdict, unit) if mark.gain.estimate > 0)
        gains = [mark.gain.estimate for mark in marks]
        most_gain = ROOM * max([*gains, 1.0])
        yield Panel(
            unit=unit,
            price=rule.price_pp(unit),
            marks=marks,
            left=left + (at % across) * wide,
            top=top + head + (at // across) * high,
            width=wide - left - right,
            height=high - head - foot,
            most_gain=most_gain,
            costs=_cost_ends([mark.cost.estimate for mark in marks], rule.price_pp(unit) * most_gain),
        )


def _cost_ends(costs: Sequence[float], ray: float) -> tuple[float, float]:
    """Return the ends of the axis of costs, which hold the end of the ray and all policies but one that is
    far dearer than all others.

    >>> _cost_ends([0.1, 0.2, 0.5, 0.6], 0.5) == (-0.03, 0.6 * ROOM)
    True
    >>> round(_cost_ends([0.1, 0.2, 0.3, 3.0], 0.5)[1], 2)
    0.56
    """
    ordered = sorted(costs)
    high = max([*ordered[-2:-1], ray])
    if ordered and ordered[-1] <= 2 * high:
        high = max(high, ordered[-1])
    low = min([0.0, *ordered])
    return low - 0.05 * high, ROOM * high


def ticks(most: float, *, count: int = 4) -> list[float]:
    """Return round values from 0 to at most `most`, about as many as asked for.

    >>> ticks(6.2), ticks(0.65)
    ([0.0, 2.0, 4.0, 6.0], [0.0, 0.2, 0.4, 0.6])
    """
    rough = most / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next(times for times in (1, 2, 5, 10) if times * power >= 0.999 * rough)
    return [round(step * at, 10) for at in range(math.floor(most / step + 1e-9) + 1)]


def _line(start: Place, end: Place, colour: str, thick: float, **style: Any) -> alt.Chart:  # noqa: ANN401
    drawn: alt.Chart = of_rows([{}]).mark_rule(color=colour, strokeWidth=thick, **style)
    (x, y), (x2, y2) = start, end
    return drawn.encode(x=alt.XValue(x), y=alt.YValue(y), x2=alt.X2Value(x2), y2=alt.Y2Value(y2))


def _point(mark: Mark, place: Place, size: float) -> alt.Chart:
    drawn: alt.Chart = of_rows([{}]).mark_point(
        shape=mark.shape,
        filled=mark.policy.sending != AT_ONCE,
        color=mark.colour,
        strokeWidth=2.2,
        size=6.5 * size,
        opacity=1,
    )
    return drawn.encode(x=alt.XValue(place[0]), y=alt.YValue(place[1]))


def _key(panels: Sequence[Panel], sheet: Sheet, *, y: float) -> Iterator[alt.Chart]:
    """State whom the shapes are for, above the panels."""
    marks = {mark.policy.beyond_ms: mark for panel in panels for mark in reversed(panel.marks)}
    x, size = 1.6 * sheet.letters, sheet.letters
    for beyond_ms in sorted(marks, key=lambda limit: limit or 0):
        name = "for all" if beyond_ms is None else f"handshake beyond {beyond_ms}{NARROW}ms"
        yield _point(marks[beyond_ms], (x, y), size)
        yield text_at(name, x + 0.9 * size, y, size, color=marks[beyond_ms].colour)
        x += LETTER * size * (len(name) + 4)


def _draw_panel(panel: Panel, sheet: Sheet, recommended: Policy | None) -> Iterator[alt.Chart]:
    """Yield a panel: its title, the price as a ray, the region below it, axes and policies."""
    size = sheet.letters
    left, top, right, _ = panel.box
    head = top - _head(sheet)
    yield text_at(panel.unit.capitalize(), left, head + 1.1 * size, size, fontWeight="bold")
    step = f"2010\u2019s own step: {stated(panel.price, 'pp')} sent again for each 1{NARROW}% saved"
    yield _line((left, head + 2.4 * size), (left + 1.3 * size, head + 2.4 * size), STANDS_OUT, 2.5)
    named = lines_of(step, SMALL * size, right - left - size, color=STANDS_OUT)
    yield from stack_lines(named, x=left + 1.7 * size, y=head + 1.8 * size)
    yield from _region(panel, sheet)
    yield from _axes(panel, size)
    yield from _marks(panel, size, recommended)


def _ray_end(panel: Panel) -> tuple[float, float]:
    """Return the gain and the cost at which the ray leaves the panel."""
    gain = min(panel.most_gain, panel.costs[1] / panel.price)
    return gain, panel.price * gain


def _region(panel: Panel, sheet: Sheet) -> Iterator[alt.Chart]:
    """Yield the region in which a first flight costs less than in 2010, and the ray above it."""
    gain, cost = _ray_end(panel)
    origin, end, corner = (
        panel.place(0, 0), panel.place(gain, cost), panel.place(panel.most_gain, panel.costs[1])
    )  # fmt: skip
    _, base = panel.place(0, 0)
    outline = [origin, end, *([corner] if gain < panel.most_gain else [])]
    rows = [{"x": x, "y": y, "floor": base} for x, y in outline]
    scales = {"x": [0, sheet.width], "y": [sheet.height, 0]}
    x, y = (
        channel(f"{name}:Q", axis=None, scale=alt.Scale(domain=scales[name], nice=False, zero=False))
        for channel, name in ((alt.X, "x"), (alt.Y, "y"))
    )
    area = of_rows(rows).mark_area(color=STANDS_OUT, fillOpacity=0.1)
    yield area.encode(x=x, y=y, y2=alt.Y2("floor:Q"))
    yield _line(origin, end, STANDS_OUT, 2.5)


def _axes(panel: Panel, size: float) -> Iterator[alt.Chart]:
    """Yield both axes with their names; costs are the height."""
    left, top, right, bottom = panel.box
    _, base = panel.place(0, 0)
    yield _line((left, base), (right, base), LIGHT.ink, 1)
    yield _line((left, top), (left, bottom), LIGHT.faint, 1)
    for gain in ticks(panel.most_gain):
        x, _ = panel.place(gain, 0)
        text = f"{gain:g}{NARROW}%"
        yield text_at(text, x, bottom + size, SMALL * size, align="center")
    for cost in ticks(panel.costs[1]):
        _, y = panel.place(0, cost)
        text = f"{number(cost, 0 if cost == round(cost) else 1 if cost * 10 == round(cost * 10) else 2)}"
        yield text_at(text, left - 0.5 * size, y, SMALL * size, align="right")
    yield text_at("page time saved \u2192", right, bottom + 2.3 * size, SMALL * size, align="right")
    yield text_at("\u2191 sent again, pp", left - 2.9 * size, bottom + 2.3 * size, SMALL * size)


def _marks(panel: Panel, size: float, recommended: Policy | None) -> Iterator[alt.Chart]:
    """Yield policies with their intervals and names, which touch nothing; that of the recommended is bold."""
    names: list[Name] = []
    ray = (panel.place(0, 0), panel.place(*_ray_end(panel)))
    axis = (panel.place(0, 0), panel.place(panel.most_gain, 0))
    lines: list[tuple[Place, Place, float]] = [(*ray, CLEAR), (*axis, CLEAR)]
    points = []
    for mark in panel.marks:
        gain, cost = mark.gain.estimate, mark.cost.estimate
        place = panel.place(gain, cost)
        ends = (
            (panel.place(mark.gain.lower, cost), panel.place(mark.gain.upper, cost)),
            (panel.place(gain, mark.cost.lower), panel.place(gain, mark.cost.upper)),
        )
        for start, end in ends:
            yield _line(start, end, mark.colour, 1.2, opacity=0.4)
            lines.append((start, end, CLEAR))
        points.append(_point(mark, place, size))
        beyond = f" \u2191 {number(cost, 2)}" if cost > panel.costs[1] else ""
        name = f"{mark.policy.window} {mark.policy.sending}{beyond}"
        weight = "bold" if mark.policy == recommended else "normal"
        style = {"color": mark.colour, "fontSize": SMALL * size, "fontWeight": weight}
        names.append(Name(name, [place], style))
    yield from points
    left, top, right, bottom = panel.box
    moved = [Name(name.text, [(x - left, y - top) for x, y in name.places], name.style) for name in names]
    shifted = [((a - left, b - top), (c - left, d - top), thick) for (a, b), (c, d), thick in lines]
    yield from draw_names(
        moved, shifted, width=right - left, height=bottom - top, letters=size, origin=(left, top)
    )
