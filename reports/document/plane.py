"""The plane of gain and cost: what each window saves of page time and what it sends again, beside the step
of 2010."""

import dataclasses
import itertools
import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from releases.formatting import NARROW, stated
from replay.backcast.published import BASE, EXPERIMENT
from reports.document.figure_style import STANDS_OUT
from reports.document.theme import FONT, LIGHT, LOCALE
from reports.forms.brief import RATES, Brief, steps_of_2010
from verdict.rule import RULE
from verdict.stored import rule_facts

Data = Mapping[str, Any]
Place = tuple[float, float]
Box = tuple[float, float, float, float]

MOST_GAIN, MOST_COST = 14.0, 3.0
"""Ends of the axes, in per cent and in percentage points; what is beyond is drawn at the end."""

TODAY, WORTH_IT = LIGHT.palette["responses"], LIGHT.palette["first_flights"]
"""Colours of today's windows and of the region in which a window is worth it."""

LETTER, BOLD = 0.5, 0.56
"""Mean width of a letter and of a bold one, as parts of the size of the letters."""

SMALL = 0.9
"""Size of the letters of notes and of the names of groups, as a part of the others'."""

LEAST_DRAWN = 0.5
"""Page time saved in per cent below which a window has no place in the picture."""

ROUNDS = 3
"""Times that the names are placed."""

WAYS = [(1, 0), (-1, 0), (1, -1), (1, 1), (-1, -1), (-1, 1), (0, -1), (0, 1)]
"""Where the name of a point may stand: right or left of it, above or below, the best first."""


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
NARROW_SHEET = Sheet(width=350, height=520, letters=12.5, title=15.5)
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
        """Pixels from the top left of the plot.

        >>> Plot(140, 100).place(7, 0.75), Plot(140, 100).place(20, -1)
        ((70.0, 50.0), (140.0, 100.0))
        """
        gain, cost = min(MOST_GAIN, max(0.0, gain)), min(MOST_COST, max(0.0, cost))
        return self.width * gain / MOST_GAIN, self.height * (1 - math.sqrt(cost / MOST_COST))


def draw_plane(content: Data, brief: Brief, sheet: Sheet) -> alt.TopLevelMixin:
    """Draw the plane from the content of report.json.

    A slide has the headline as its title and the finding below; other drawings have the finding as title.
    """
    titles = [(brief.finding, sheet.title, "bold")]
    if sheet is SLIDE:
        titles = [(brief.headline, sheet.title, "bold"), (f"{brief.finding} {brief.how_sure}", 17, "normal")]
    size = sheet.letters
    top = [line for title in titles for line in _lines(title, sheet.width - 2 * size)]
    left_out = [one["window"] for one in _measured(content) if not _saves(one)]
    said = (
        f"Not drawn, for they save little or no time: {', '.join(f'IW {one}' for one in left_out)}. "
        if left_out
        else ""
    )
    bottom = list(_lines((said + brief.source, SMALL * size, "normal"), sheet.width - 2 * size))
    above, below = (
        4 * size + sum(1.3 * one[1] for one in top),
        3.9 * size + sum(1.25 * one[1] for one in bottom),
    )
    plot = Plot(sheet.width - 5 * size, round(sheet.height - above - below))
    above = sheet.height - plot.height - below
    texts = [_text(brief.marks, plot.width, -1.1 * size, size, align="right", color=STANDS_OUT)]
    texts += [*_stacked(top, 1.3, x=-3 * size, y=size - above)]
    texts += _stacked(bottom, 1.25, x=-3 * size, y=plot.height + 3.9 * size)
    drawn: alt.TopLevelMixin = (
        alt.layer(
            *_region(_rule(content), plot, size), *_marks(content, plot, size), *_key(plot, size), *texts
        )
        .properties(
            width=plot.width,
            height=plot.height,
            background=sheet.background,
            autosize="none",
            padding={"left": 4 * size, "right": size, "top": above, "bottom": below},
        )
        .configure(font=FONT, locale=LOCALE)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=LIGHT.ink, labelFontSize=size, domainColor=LIGHT.ink, gridColor=LIGHT.faint
        )
    )
    return drawn


def _axes(step: int = 2) -> dict[str, Any]:
    """Both axes."""
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


def _of(rows: Sequence[Data]) -> alt.Chart:
    made: alt.Chart = alt.Chart(alt.InlineData(values=list(rows)))
    return made


def _text(text: str, x: float, y: float, size: float, **style: Any) -> alt.Chart:  # noqa: ANN401
    """A text at a place of the plot, in pixels."""
    look: dict[str, Any] = {
        "align": "left",
        "baseline": "middle",
        "color": LIGHT.ink,
        "fontSize": size,
    } | style
    drawn: alt.Chart = _of([{"text": text}]).mark_text(**look)
    return drawn.encode(x=alt.XValue(x), y=alt.YValue(y), text="text:N")


def _lines(title: tuple[str, float, str], width: float) -> Iterator[tuple[str, float, str]]:
    """The lines of a text, each with its size and weight."""
    text, size, weight = title
    letters = int(width / size / (BOLD if weight == "bold" else LETTER))
    return ((line, size, weight) for line in textwrap.wrap(text.replace("IW ", "IW\u00a0"), letters))


def _stacked(
    lines: Iterable[tuple[str, float, str]], leading: float, *, x: float, y: float
) -> Iterator[alt.Chart]:
    """Lines of text below each other."""
    for text, size, weight in lines:
        yield _text(text, x, y + size / 2, size, fontWeight=weight)
        y += leading * size


def _rule(content: Data) -> tuple[float, float]:
    """The price in percentage points for 1 %, and the least that is worthwhile in per cent."""
    rule = (content["verdict"] or {"rule": rule_facts(RULE)})["rule"]
    return rule["price_pp"], rule["worthwhile_percent"]


def _ray(price: float) -> list[dict[str, float]]:
    """Points along the price, more of them near 0, where the root of the cost is steep."""
    return [
        {"gain": MOST_GAIN * (at / 50) ** 2, "cost": price * MOST_GAIN * (at / 50) ** 2} for at in range(51)
    ]


def _region(rule: tuple[float, float], plot: Plot, size: float) -> Iterator[alt.Chart]:
    """The ray of the price, the region below it, and the names of the axes."""
    price, least = rule
    start = {"gain": least, "cost": price * least}
    inside = [{**one, "floor": 0.0} for one in (start, *_ray(price)) if one["gain"] >= least]
    axes = _axes(4 if plot.is_narrow else 2)
    yield _of(inside).mark_area(color=WORTH_IT, fillOpacity=0.14).encode(**axes, y2=alt.Y2("floor:Q"))
    yield _of(_ray(price)).mark_line(color=WORTH_IT, strokeWidth=1.5).encode(**axes)
    _, base = plot.place(0, 0.008)
    worth = f"worth it: saves {stated(least, '%')} or more, for at most {stated(price, 'pp')} each"
    worth = "worth it" if plot.is_narrow else worth
    yield _text(worth, plot.width - 6, base, size, align="right", color=WORTH_IT, fontWeight="bold")
    yield _text("page time saved →", plot.width, plot.height + 2.7 * size, size, align="right")
    again = "↑ more sent again" if plot.is_narrow else "↑ more of the payload sent again, percentage points"
    yield _text(again, -3 * size, -1.1 * size, size)


def _key(plot: Plot, size: float) -> Iterator[alt.Chart]:
    """What the shapes mean, at the top right of the plot."""
    shapes = (("circle", True, "paced"), ("circle", False, "at once"), ("diamond", True, "group of lines"))
    x = plot.width - LETTER * size * sum(len(name) + 5 for _, _, name in shapes) + size
    for shape, is_filled, name in shapes:
        point = _of([{"name": name}]).mark_point(
            shape=shape,
            filled=is_filled,
            color=LIGHT.ink if shape == "diamond" else TODAY,
            size=5 * size,
            opacity=1,
        )
        yield point.encode(x=alt.XValue(x), y=alt.YValue(size))
        yield _text(name, x + 0.8 * size, size, size)
        x += LETTER * size * (len(name) + 5)


def _measured(content: Data) -> Sequence[Data]:
    """Candidates and groups of lines by rate whose gain and cost are known."""
    verdict = content["verdict"] or {"candidates": (), "groups": ()}
    groups = [one for one in verdict["groups"] if one["id"] in RATES and one["gain_percent"] is not None]
    every = [*verdict["candidates"], *groups]
    return [
        one for one in every if None not in (one["gain_percent"]["estimate"], one["resent_pp"]["estimate"])
    ]


def _saves(one: Data) -> bool:
    return bool(one["gain_percent"]["estimate"] > LEAST_DRAWN)


def _marks(content: Data, plot: Plot, size: float) -> Iterator[alt.Chart]:
    """2010's arrows, today's windows with their intervals, and the groups of lines, with their names."""
    names: list[tuple[str, Place, dict[str, Any]]] = []
    lines: list[tuple[Place, Place, float]] = []
    axes = _axes(4 if plot.is_narrow else 2)
    ray = [plot.place(**one) for one in _ray(_rule(content)[0])]
    lines += [(one, other, 1.5) for one, other in itertools.pairwise(ray)]
    for name, gain, cost in reversed([*steps_of_2010()]):
        x, y = plot.place(gain, cost)
        lines.append((plot.place(0, 0), (x, y), 3.0))
        arrow = [{"gain": 0.0, "cost": 0.0}, {"gain": gain, "cost": cost}]
        yield _of(arrow).mark_line(color=STANDS_OUT, strokeWidth=3).encode(**axes)
        turn = math.degrees(math.atan2(x, plot.height - y))
        head = _of(arrow[1:]).mark_point(
            shape="triangle", filled=True, color=STANDS_OUT, size=12 * size, opacity=1
        )
        yield head.encode(**axes, angle=alt.AngleValue(turn))
        style: dict[str, Any] = {"color": STANDS_OUT, "fontWeight": "bold"}
        told = f"2010, {name}" if plot.is_narrow else f"2010, {BASE} to {EXPERIMENT}: {name} data centre"
        names.append((told, (x, y), style))
    for one in filter(_saves, _measured(content)):
        gain, cost = one["gain_percent"], one["resent_pp"]
        is_group, is_paced = "share" in one, str(one["window"]).endswith("paced")
        row = {"gain": gain["estimate"], "cost": cost["estimate"]}
        if not is_group:
            for name, ends in (("gain", gain), ("cost", cost)):
                if None not in ends.values():
                    first, last = row | {name: ends["lower"]}, row | {name: ends["upper"]}
                    lines.append((plot.place(**first), plot.place(**last), 2.0))
                    rule = _of([first | {"end": ends["upper"]}]).mark_rule(color=TODAY, opacity=0.5)
                    other = {"x2": alt.X2("end:Q")} if name == "gain" else {"y2": alt.Y2("end:Q")}
                    yield rule.encode(**axes, **other)
        colour = LIGHT.ink if is_group else TODAY
        point = _of([row]).mark_point(
            shape="diamond" if is_group else "circle",
            filled=is_group or is_paced,
            color=colour,
            strokeWidth=2.5,
            size=4 * size if is_group else 8 * size,
            opacity=1,
        )
        yield point.encode(**axes)
        name = f"{one['title']}: {one['window']}" if is_group else f"IW {one['window']}"
        if plot.is_narrow:
            name = one["title"].removeprefix("lines ") if is_group else name.removeprefix("IW ")
        style = {"color": colour, **({"fontSize": SMALL * size} if is_group else {"fontWeight": "bold"})}
        names.append((name, plot.place(row["gain"], row["cost"]), style))
    yield from _named(names, lines, plot, size)


def _named(
    names: Sequence[tuple[str, Place, dict[str, Any]]],
    lines: Sequence[tuple[Place, Place, float]],
    plot: Plot,
    size: float,
) -> Iterator[alt.Chart]:
    """Names beside their points, each where it hides least of points, lines and other names."""
    near = 1.3 * size
    points = [(x - near, y - near, x + near, y + near) for _, (x, y), _ in names]
    taken = [(plot.width / 2, 0.0, plot.width, 2 * size)]  # the key
    for (left, top), (right, bottom), thick in lines:
        parts = max(1, round((abs(right - left) + abs(bottom - top)) / 8))
        for part in range(parts + 1):
            x, y = left + (right - left) * part / parts, top + (bottom - top) * part / parts
            taken.append((x - thick, y - thick, x + thick, y + thick))
    boxes: dict[int, Box] = {}
    sides: dict[int, int] = {}
    for at in [*range(len(names))] * ROUNDS:  # each again when the others have their places
        others = [*taken, *points[:at], *points[at + 1 :], *(boxes[one] for one in boxes if one != at)]
        name, (x, y), _ = names[at]
        wide, high = LETTER * size * len(name) * 1.08, 1.1 * size
        costs = []
        for late, (across, up) in enumerate(WAYS):
            left = x + across * 0.9 * size - (0, wide, wide / 2)[(across == -1) + 2 * (across == 0)]
            middle = y + up * (1.0 if across else 1.3) * size
            box = (left, middle - high / 2, left + wide, middle + high / 2)
            beyond = max(0, -left) + max(0, left + wide - plot.width) + max(0, box[3] - plot.height)
            costs.append(
                (sum(_overlap(box, other) for other in others) + (beyond + late) * size, box, across)
            )
        _, boxes[at], sides[at] = min(costs)
    for at, (name, _, style) in enumerate(names):
        left, top, right, bottom = boxes[at]
        x, align = {1: (left, "left"), -1: (right, "right")}.get(sides[at], ((left + right) / 2, "center"))
        yield _text(name, x, (top + bottom) / 2, style.pop("fontSize", size), align=align, **style)


def _overlap(one: Box, other: Box) -> float:
    """Area that two boxes share.

    >>> _overlap((0, 0, 2, 2), (1, 1, 3, 3)), _overlap((0, 0, 1, 1), (2, 0, 3, 1))
    (1, 0)
    """
    return max(0, min(one[2], other[2]) - max(one[0], other[0])) * max(
        0, min(one[3], other[3]) - max(one[1], other[1])
    )
