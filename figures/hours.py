"""Figures of counts by the hour."""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence

import altair as alt

from figures.axes import LEFT, NUMBER, legend
from figures.frame import AltairChart, Frame, Room, compose, of_rows, plot_width

HOUR = datetime.timedelta(hours=1)

LEAST_HOURS = 8

LABEL = 130

BY_DAY = 72
"""Hours from which on labels are of days alone."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CountedHour:
    """Counts of an hour."""

    at: datetime.datetime
    counts: Mapping[str, int]


def stacked(frame: Frame, hours: Sequence[CountedHour], colours: Mapping[str, str]) -> AltairChart:
    """Draw a bar for each hour, stacked in the order of `colours`, in UTC."""
    room = Room(left=LEFT, below=20)
    height = 160 if frame.is_narrow else 190
    rows, most = [], 2
    for hour in hours:
        top = 0
        for kind in colours:
            below, top = top, top + hour.counts.get(kind, 0)
            if top > below:
                begin, end = hour.at + 0.1 * HOUR, hour.at + 0.9 * HOUR
                rows.append(
                    {"from": _ms(begin), "to": _ms(end), "below": below, "top": top, "kind": kind}
                    | {"count": top - below, "hour": f"{hour.at:%Y-%m-%d %H:00}"}
                )
        most = max(most, top)
    first = hours[0].at
    last = max(hours[-1].at + HOUR, first + LEAST_HOURS * HOUR)
    x = alt.X(
        "from:T",
        title=None,
        scale=alt.Scale(type="utc", domain=[_ms(first), _ms(last)], nice=False),
        axis=alt.Axis(
            format="%d %b" if (last - first) / HOUR > BY_DAY else "%d %b %H:00",
            tickCount=max(2, int(frame.width / LABEL)),
            grid=False,
            labelFlush=True,
            labelOverlap="greedy",
            labelSeparation=10,
        ),
    )
    y = alt.Y(
        "below:Q",
        title=None,
        scale=alt.Scale(domain=[0, most], nice=True),
        axis=alt.Axis(labelExpr=NUMBER, tickCount=3, tickMinStep=1, minExtent=LEFT, maxExtent=LEFT),
    )
    shown = legend([*colours], plot_width(frame, room), symbol=18)
    colour = alt.Color("kind:N", legend=shown, scale=alt.Scale(domain=[*colours], range=[*colours.values()]))
    bars = (
        of_rows(rows)
        .mark_rect()
        .encode(
            x=x,
            x2=alt.X2("to:T"),
            y=y,
            y2=alt.Y2("top:Q"),
            color=colour,
            tooltip=["hour:N", "kind:N", "count:Q"],
        )
    )
    return compose(frame, [bars], height=height, room=room)


def _ms(at: datetime.datetime) -> float:
    return 1000 * at.timestamp()
