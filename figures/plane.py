"""The plane of gain and cost: what each policy saves of page time and what it sends again, beside the price
that 2010 paid, in two units."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from figures.axes import LEFT, legend, measured_axis
from figures.frame import (
    PADDING,
    SMALL,
    STANDS_OUT,
    TEXT,
    AltairChart,
    Frame,
    compose_panels,
    needs_names,
    of_rows,
    text_at,
)
from figures.text import LEADING, spread, text_width, wrap
from figures.theme import LIGHT, Look
from releases.formatting import number
from releases.interval import Interval

GROUPS = (Look(LIGHT.palette["responses"]), Look(LIGHT.palette["first_flights"], shape="diamond"))

ROOM = 1.12

FAR = 1e6
"""End of an interval without bound, beyond every axis."""

NAMES_APART = 16
"""Room between plots and names, which leaders cross."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PlanePoint:
    """A policy whose gain in percent and cost in percentage points are known."""

    name: str
    group: str
    gain: Interval
    cost: Interval
    is_bold: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PlanePanel:
    """The plane in one unit."""

    title: str
    price: float
    """2010's, in percentage points for 1 %."""
    price_text: str
    points: Sequence[PlanePoint]


def draw_planes(frame: Frame, panels: Sequence[PlanePanel], *, height: float) -> AltairChart:
    """Draw a panel for each unit, on a phone below each other.

    Policies are named beside the plot, so that no name lies on an interval. One far dearer stands at the
    upper end with its cost in its name, and an interval beyond an end has an arrow.
    """
    columns = 1 if frame.is_narrow else len(panels)
    inner = (frame.width - 2 * PADDING - 24 * (columns - 1)) / columns
    groups = [*dict.fromkeys(point.group for panel in panels for point in panel.points)]
    looks = dict(zip(sorted(groups, key=lambda group: (group != "for all", group)), GROUPS, strict=False))
    drawn = [_Panel.of(panel, width=inner, height=height).draw(looks) for panel in panels]
    return compose_panels(frame, drawn, columns=columns, left=LEFT)


def cost_ends(costs: Sequence[float], ray: float) -> tuple[float, float]:
    """Return the ends of the axis of costs, which hold the end of the ray and all policies but one that is
    far dearer than all others.

    >>> cost_ends([0.1, 0.2, 0.5, 0.6], 0.5) == (-0.03, 0.6 * ROOM)
    True
    >>> round(cost_ends([0.1, 0.2, 0.3, 3.0], 0.5)[1], 2)
    0.56
    """
    ordered = sorted(costs)
    high = max([*ordered[-2:-1], ray])
    if ordered and ordered[-1] <= 2 * high:
        high = max(high, ordered[-1])
    low = min([0.0, *ordered])
    return low - 0.05 * high, ROOM * high


def _finite(end: float, estimate: float) -> float:
    """Return an end of an interval for JSON: far off if it has no bound, the estimate if it is unknown.

    >>> _finite(-math.inf, 2.0), _finite(math.nan, 2.0)
    (-1000000.0, 2.0)
    """
    return estimate if math.isnan(end) else max(-FAR, min(FAR, end))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Panel:
    """A panel with its axes and the room for its names."""

    panel: PlanePanel
    width: float
    height: float
    gains: tuple[float, float]
    costs: tuple[float, float]
    names: dict[str, str]
    whole: float

    @classmethod
    def of(cls, panel: PlanePanel, *, width: float, height: float) -> "_Panel":
        most = ROOM * max([*(point.gain.estimate for point in panel.points), 1.0])
        costs = cost_ends([point.cost.estimate for point in panel.points], panel.price * most)
        names = {
            point.name: point.name
            + (f" \u2191\u00a0{number(point.cost.estimate, 2)}" if point.cost.estimate > costs[1] else "")
            for point in panel.points
        }
        widths = [text_width(name, SMALL, is_bold=True) for name in names.values()]
        return cls(
            panel=panel,
            width=width - LEFT - NAMES_APART - max(widths, default=0),
            height=height,
            gains=(0.0, most),
            costs=costs,
            names=names,
            whole=width,
        )

    def x(self, field: str) -> alt.X:
        axis = alt.Axis(
            tickCount=4,
            labelExpr="format(datum.value, '~r') + '\u202f%'",
            grid=False,
            labelFlush=False,
            labelSeparation=6,
        )
        scale = alt.Scale(domain=[*self.gains], nice=False, clamp=True)
        return alt.X(f"{field}:Q", title="page time saved", axis=axis, scale=scale)

    def y(self, field: str) -> alt.Y:
        axis = measured_axis(
            "pp", titleAnchor="start", titleAngle=0, titleAlign="left", titleX=-LEFT, titleY=-12
        )
        scale = alt.Scale(domain=[*self.costs], nice=False, clamp=True)
        return alt.Y(f"{field}:Q", title="sent again, pp", axis=axis, scale=scale)

    def draw(self, looks: dict[str, Look]) -> AltairChart:
        drawn: AltairChart = alt.layer(
            *self._price(),
            *self._policies(looks),
            *self._names(looks),
            width=self.width,
            height=self.height,
            title=self._title(),
        )
        return drawn

    def _title(self) -> alt.TitleParams:
        return alt.TitleParams(
            text=self.panel.title,
            subtitle=wrap(f"\u2014 {self.panel.price_text}", self.whole, SMALL),
            subtitleColor=STANDS_OUT,
            subtitleFontSize=SMALL,
            fontSize=TEXT,
            anchor="start",
            frame="bounds",
            offset=6,
        )

    def _price(self) -> list[alt.Chart]:
        most, price = self.gains[1], self.panel.price
        end = min(most, self.costs[1] / price)
        rows: list[dict[str, Any]] = [{"gain": 0, "cost": 0}, {"gain": end, "cost": price * end}]
        corner: list[dict[str, Any]] = [{"gain": most, "cost": self.costs[1]}] if end < most else []
        area = of_rows([*rows, *corner]).mark_area(color=STANDS_OUT, opacity=0.1)
        ray = of_rows(rows).mark_line(color=STANDS_OUT, strokeWidth=2.5)
        zero = of_rows([{"cost": 0}]).mark_rule(color=LIGHT.ink, strokeWidth=1)
        return [
            area.encode(x=self.x("gain"), y=self.y("cost"), y2=alt.Y2(datum=0)),
            zero.encode(y=self.y("cost")),
            ray.encode(x=self.x("gain"), y=self.y("cost")),
        ]

    def _policies(self, looks: dict[str, Look]) -> list[alt.Chart]:
        rows: list[dict[str, Any]] = [
            {
                "name": self.names[point.name],
                "group": point.group,
                "gain": point.gain.estimate,
                "gain_lower": _finite(point.gain.lower, point.gain.estimate),
                "gain_upper": _finite(point.gain.upper, point.gain.estimate),
                "cost": point.cost.estimate,
                "cost_lower": _finite(point.cost.lower, point.cost.estimate),
                "cost_upper": _finite(point.cost.upper, point.cost.estimate),
            }
            for point in self.panel.points
        ]
        names = [*looks]
        shown = legend(names, 2 * self.width, symbol=18) if needs_names(names) else None
        colours, shapes = ([getattr(look, part) for look in looks.values()] for part in ("colour", "shape"))
        colour = alt.Color("group:N", legend=shown, scale=alt.Scale(domain=names, range=colours))
        shape = alt.Shape("group:N", legend=shown, scale=alt.Scale(domain=names, range=shapes))
        base = of_rows(rows)
        whisker = base.mark_rule(strokeWidth=1.2, opacity=0.45)
        drawn = [
            whisker.encode(x=self.x("gain_lower"), x2=alt.X2("gain_upper:Q"), y=self.y("cost"), color=colour),
            whisker.encode(x=self.x("gain"), y=self.y("cost_lower"), y2=alt.Y2("cost_upper:Q"), color=colour),
        ]
        gain, cost = self.x("gain"), self.y("cost")
        (most_left, most_right), (least, most) = self.gains, self.costs
        for side, x, y, beyond in (
            ("left", alt.value(0), cost, [row for row in rows if row["gain_lower"] < most_left]),
            ("right", alt.value(self.width), cost, [row for row in rows if row["gain_upper"] > most_right]),
            ("up", gain, alt.value(0), [row for row in rows if row["cost_upper"] > most]),
            ("down", gain, alt.value(self.height), [row for row in rows if row["cost_lower"] < least]),
        ):
            if beyond:
                arrow = of_rows(beyond).mark_point(shape=f"triangle-{side}", filled=True, size=40, opacity=1)
                drawn.append(arrow.encode(x=x, y=y, color=colour))
        told = [alt.Tooltip(f"{name}:N") for name in ("name", "gain", "cost")]
        marks = base.mark_point(filled=True, size=80, opacity=1)
        drawn.append(marks.encode(x=gain, y=cost, color=colour, shape=shape, tooltip=told))
        return drawn

    def _names(self, looks: dict[str, Look]) -> list[alt.Chart]:
        """Return names beside the plot in the order of costs, none over another, each with a line."""
        low, high = self.costs
        places = {
            point.name: self.height * (1 - (min(point.cost.estimate, high) - low) / (high - low))
            for point in self.panel.points
        }
        ordered = sorted(self.panel.points, key=lambda point: places[point.name])
        sizes = [LEADING * SMALL] * len(ordered)
        middles = spread([places[point.name] for point in ordered], sizes, within=self.height)
        drawn: list[alt.Chart] = []
        for point, middle in zip(ordered, middles, strict=True):
            rows = [
                {"gain": point.gain.estimate, "cost": min(point.cost.estimate, high)},
                {"gain": self.gains[1], "cost": high - (high - low) * middle / self.height},
            ]
            leader = of_rows(rows).mark_line(color=LIGHT.ink, strokeWidth=0.7, strokeDash=[1, 2])
            drawn.append(leader.encode(x=self.x("gain"), y=self.y("cost")))
            style: dict[str, Any] = {
                "color": looks[point.group].colour,
                "fontWeight": "bold" if point.is_bold else "normal",
            }
            drawn.append(text_at(self.names[point.name], self.width + 6, middle, SMALL, **style))
        return drawn
