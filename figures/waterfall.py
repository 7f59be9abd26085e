"""Waterfalls of page loads: a row for each response, with a bar for each phase of its time."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from figures.axes import legend, pixels
from figures.frame import TEXT, AltairChart, Frame, Room, compose, of_rows, plot_width
from figures.text import LEADING
from figures.theme import HUES, LIGHT

CONNECTING, WAITING, FIRST_FLIGHT, LATER = "connecting", "waiting", "first flight", "later"
ONE_BURST, SEVERAL_BURSTS = "in one burst", "in several bursts"

PHASES = {
    CONNECTING: LIGHT.palette["tls_flights"],
    WAITING: "#b4bac1",
    FIRST_FLIGHT: LIGHT.palette["responses_iw_limited"],
    LATER: LIGHT.palette["responses"],
    ONE_BURST: LIGHT.palette["responses_iw_limited"],
    SEVERAL_BURSTS: LIGHT.palette["responses"],
}
"""Phases in order, with colours on light ground: of what was received, the first flight and the rest, or
in how many bursts it came.
"""

ROW, LABELLED_ROW = 9, 30


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class WaterfallRow:
    """A row of a waterfall."""

    title: str
    spans: Mapping[str, tuple[float, float]]
    """Start and end of PHASES in ms from the load's start."""
    label: str = ""
    is_sent_again: bool = False
    """True if a segment was sent again, which a mark shows."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class WaterfallLoad:
    """A load of a page."""

    name: str
    """As "IW 10: 2.31 s"; empty for a load alone."""
    responses: Sequence[WaterfallRow]
    events: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Events of the page in ms, upright lines, by name."""


def waterfalls(frame: Frame, loads: Sequence[WaterfallLoad]) -> AltairChart:
    """Draw loads below each other over one axis of time."""
    is_labelled = any(response.label for load in loads for response in load.responses)
    row = LABELLED_ROW if is_labelled else ROW
    head = LEADING * TEXT + 8
    bars: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    uprights: list[dict[str, Any]] = []
    again: list[dict[str, Any]] = []
    top = 0.0
    for load in loads:
        if load.name:
            words.append({"y": top + head / 2, "text": load.name, "weight": "bold"})
            top += head
        bottom = top + row * len(load.responses)
        for at, response in enumerate(load.responses):
            begin = top + row * at
            if response.label:
                words.append({"y": begin + 8, "text": response.label, "weight": "normal"})
            bar = (begin + 17, begin + 27) if is_labelled else (begin + 0.5, begin + row - 1)
            # Between bars with labels, the lines of events would cross the labels.
            part = {"top": bar[0], "bottom": bar[1]} if is_labelled else {"top": begin, "bottom": begin + row}
            uprights += [{"at": time / 1000, "name": name, **part} for name, time in load.events.items()]
            bars += [
                {
                    "from": start / 1000,
                    "to": end / 1000,
                    "y": bar[0],
                    "y2": bar[1],
                    "phase": phase,
                    "title": response.title,
                }
                for phase, (start, end) in response.spans.items()
            ]
            if response.is_sent_again:
                last = max(end for _, end in response.spans.values())
                again.append({"at": last / 1000, "y": sum(bar) / 2, "title": f"{response.title}, sent again"})
        top = bottom + 14
    height = top - 14
    room = Room(left=2, right=12)
    ends = [bar["to"] for bar in bars] + [line["at"] for line in uprights]
    x: dict[str, Any] = {
        "scale": alt.Scale(domain=[0, 1.02 * max(ends)], nice=False),
        "title": "time, s",
        "axis": alt.Axis(tickCount=5 if frame.is_narrow else 8, labelFlush=True, grid=not is_labelled),
    }
    drawn = {bar["phase"] for bar in bars}
    colours = {phase: colour for phase, colour in PHASES.items() if phase in drawn}
    shown = legend([*colours], plot_width(frame, room), symbol=18)
    colour = alt.Color("phase:N", legend=shown, scale=alt.Scale(domain=[*colours], range=[*colours.values()]))
    layers = [
        of_rows(uprights)
        .mark_rule(color=LIGHT.ink, strokeDash=[4, 3])
        .encode(
            x=alt.X("at:Q", **x), y=pixels(height, "top"), y2=alt.Y2("bottom:Q"), tooltip=["name:N", "at:Q"]
        ),
        of_rows(bars)
        .mark_rect()
        .encode(
            x=alt.X("from:Q", **x),
            x2=alt.X2("to:Q"),
            y=pixels(height),
            y2=alt.Y2("y2:Q"),
            color=colour,
            tooltip=[
                "title:N",
                "phase:N",
                alt.Tooltip("from:Q", format=".3f"),
                alt.Tooltip("to:Q", format=".3f"),
            ],
        ),
        of_rows(again)
        .mark_point(filled=True, size=30, color=HUES[1][0], opacity=1)
        .encode(x=alt.X("at:Q", **x), y=pixels(height), tooltip="title:N"),
        of_rows(words)
        .mark_text(align="left", baseline="middle", fontSize=TEXT, color=LIGHT.ink)
        .encode(
            x=alt.value(0),
            y=pixels(height),
            text="text:N",
        ),
    ]
    return compose(frame, layers, height=height, room=room)
