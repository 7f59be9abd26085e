"""What surrounds the marks of every figure: title, subtitle, mark and source inside the picture, axes, and
the room for labels beside the plot."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt

from figures.text import LEADING, spread, text_width, wrap
from figures.theme import CURVES, FONT, LIGHT, LOCALE, LOOKS, Look
from schema.computed_tables import LABELS

DESK, PHONE = 720, 352

TITLE, TEXT, SMALL = 16.0, 12.5, 11.5

PADDING = 6

AXIS_LABELS = 20

AXIS_TITLE = 26

WINDOWS = 30

GREY = LIGHT.palette["pages"]
STANDS_OUT = LIGHT.palette["responses_iw_limited"]

Rows = Sequence[Mapping[str, Any]]

AltairChart = alt.LayerChart | alt.FacetChart | alt.VConcatChart
"""A whole figure; Altair makes no facets of ours, but its types say that it could."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """The words and the width of a figure."""

    title: str
    """The finding, which never states what an interval leaves open; empty below a heading that states it."""
    subtitle: str = ""
    source: str = ""
    note: str = ""
    """Mark that every copy bears, as "illustrative"."""
    width: int = DESK
    """Of the whole picture, in CSS pixels."""
    is_interactive: bool = False
    """With a cross-hair and tooltips, for browsers."""

    @property
    def is_narrow(self) -> bool:
        return self.width < 500


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Upright:
    """An upright line at a value of the horizontal axis, named above the plot."""

    value: float
    label: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """Room in pixels around a plot, which its labels need."""

    left: float
    right: float = 10
    above: float = 6
    below: float = AXIS_LABELS + AXIS_TITLE


def plot_width(frame: Frame, room: Room) -> float:
    """Return the width that a frame and its room leave, in pixels."""
    return frame.width - 2 * PADDING - room.left - room.right


def of_rows(rows: Rows) -> alt.Chart:
    chart: alt.Chart = alt.Chart(alt.InlineData(values=[dict(row) for row in rows]))
    return chart


def text_at(text: str, x: float | str, y: float, size: float = TEXT, **style: Any) -> alt.Chart:  # noqa: ANN401
    """Return lines of text at a place in pixels; x may be "width"."""
    look: dict[str, Any] = {"align": "left", "baseline": "middle", "color": LIGHT.ink, "fontSize": size}
    lines: dict[str, Any] = {"lineBreak": "\n", "lineHeight": LEADING * size}
    drawn: alt.Chart = of_rows([{"text": text}]).mark_text(**(look | lines | style))
    return drawn.encode(x=alt.value(x), y=alt.value(y), text="text:N")


def compose(
    frame: Frame, layers: Sequence[alt.Chart | alt.LayerChart], *, height: float, room: Room
) -> AltairChart:
    """Return layers over one plot of `height` pixels, with all that surrounds it.

    The whole is as wide as the frame: Vega-Lite gives the plot what axes leave.
    """
    inner = frame.width - 2 * PADDING
    note, source = _note(frame, inner), _source(frame, inner)
    above = room.above + LEADING * TEXT * len(note)
    style: dict[str, Any] = {"baseline": "top"}
    words = []
    if note:
        words.append(text_at("\n".join(note), -room.left, -above, TEXT, color=STANDS_OUT, **style))
    if source:
        below = height + room.below
        words.append(text_at("\n".join(source), -room.left, below, SMALL, color=GREY, **style))
    # Given at once: each call of `properties` and `configure` would copy all layers.
    drawn: AltairChart = alt.layer(
        *layers,
        *words,
        title=_title(frame, inner) if frame.title else alt.Undefined,
        width=inner,
        height=height,
        autosize=alt.AutoSizeParams(type="fit-x"),
        background="transparent",
        padding=PADDING,
        config=_config(above),
    )
    return drawn


def compose_panels(frame: Frame, panels: Sequence[AltairChart], *, columns: int, left: float) -> AltairChart:
    """Return several plots, each with `left` pixels for its upright axis."""
    inner = frame.width - 2 * PADDING
    note, source = _note(frame, inner), _source(frame, inner)
    rows: list[alt.Chart | alt.ConcatChart] = []
    if note:
        rows.append(_row_of_words(note, TEXT, STANDS_OUT, inner, left))
    rows.append(alt.concat(*panels, columns=columns, spacing=24))
    if source:
        rows.append(_row_of_words(source, SMALL, GREY, inner, left))
    drawn: AltairChart = alt.vconcat(
        *rows,
        title=_title(frame, inner),
        spacing=10,
        background="transparent",
        padding=PADDING,
        config=_config(6),
    )
    return drawn


def _row_of_words(lines: Sequence[str], size: float, colour: str, width: float, left: float) -> alt.Chart:
    words = text_at("\n".join(lines), -left, 0, size, color=colour, baseline="top")
    row: alt.Chart = words.properties(width=width - left, height=LEADING * size * len(lines))
    return row


def _note(frame: Frame, width: float) -> list[str]:
    return wrap(frame.note, width, TEXT)


def _source(frame: Frame, width: float) -> list[str]:
    return wrap(f"Source: {frame.source.rstrip('.')}.", width, SMALL) if frame.source else []


def _title(frame: Frame, inner: float) -> alt.TitleParams:
    return alt.TitleParams(
        text=wrap(frame.title, inner, TITLE, is_bold=True),
        subtitle=wrap(frame.subtitle, inner, TEXT),
        anchor="start",
        frame="bounds",
    )


def _config(above: float) -> alt.Config:
    ink, faint = LIGHT.ink, LIGHT.faint
    return alt.Config(
        font=FONT,
        locale=LOCALE,
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            labelColor=ink,
            titleColor=ink,
            labelFontSize=TEXT,
            titleFontSize=TEXT,
            titleFontWeight="normal",
            titlePadding=6,
            labelPadding=5,
            domainColor=faint,
            tickColor=faint,
            gridColor=faint,
        ),
        legend=alt.LegendConfig(
            orient="top",
            title=None,
            labelColor=ink,
            labelFontSize=TEXT,
            labelLimit=0,
            symbolSize=90,
            symbolOpacity=1,
            symbolStrokeWidth=2.4,
            offset=above + 4,
            rowPadding=3,
            columnPadding=14,
        ),
        title=alt.TitleConfig(
            color=ink,
            subtitleColor=GREY,
            fontSize=TITLE,
            fontWeight="bold",
            lineHeight=LEADING * TITLE,
            subtitleFontSize=TEXT,
            subtitleLineHeight=LEADING * TEXT,
            subtitlePadding=4,
            offset=10,
        ),
    )


def draw_uprights(
    lines: Sequence[Upright],
    x: Callable[[str], alt.X],
    *,
    domain: tuple[float, float],
    width: float,
    height: float,
    is_log: bool = False,
    parts: Sequence[tuple[float, float]] = (),
) -> list[alt.Chart]:
    """Return upright lines with names above, none over another; windows after the first by number, as "IW
    3 10 16".

    `x` encodes a field along the axis of `domain`. Lines are whole, or over `parts` of the height.
    """
    if not lines:
        return []
    ordered = sorted(lines, key=lambda line: line.value)
    rows = [{"at": line.value} for line in ordered]
    upright = of_rows(rows).mark_rule(color=LIGHT.ink, strokeWidth=1, strokeDash=[4, 3])
    drawn = [
        upright.encode(x=x("at"), y=alt.value(top), y2=alt.value(bottom))
        for top, bottom in parts or [(-4, height)]
    ]
    named = [line for line in ordered if line.label]
    if not named:
        return drawn
    texts = [line.label if not at else line.label.removeprefix("IW ") for at, line in enumerate(named)]
    sizes = [text_width(text, TEXT) + 8 for text in texts]
    places = [width * place_along(line.value, domain, is_log=is_log) for line in named]
    middles = [
        value_at(middle / width, domain, is_log=is_log) for middle in spread(places, sizes, within=width)
    ]
    places_of_names = [
        {"at": middle, "to": line.value, "text": text}
        for middle, line, text in zip(middles, named, texts, strict=True)
    ]
    leaders = of_rows(places_of_names)
    leader = leaders.mark_rule(color=LIGHT.ink, strokeWidth=1)
    words = leaders.mark_text(color=LIGHT.ink, fontSize=TEXT, align="center", baseline="middle")
    return [
        *drawn,
        leader.encode(x=x("at"), x2=alt.X2("to:Q"), y=alt.value(-10), y2=alt.value(-4)),
        words.encode(x=x("at"), y=alt.value(-18), text="text:N"),
    ]


def place_along(value: float, domain: tuple[float, float], *, is_log: bool) -> float:
    """Return the place of a value along an axis, from 0 to 1.

    >>> place_along(100, (10, 1000), is_log=True), place_along(12, (0, 10), is_log=False)
    (0.5, 1.0)
    """
    low, high = map(math.log, domain) if is_log else domain
    at = math.log(value) if is_log else value
    return round(min(1.0, max(0.0, (at - low) / (high - low))), 6)


def value_at(place: float, domain: tuple[float, float], *, is_log: bool) -> float:
    """Return the value at a place along an axis.

    >>> round(value_at(0.5, (10, 1000), is_log=True), 6), value_at(0.1, (0, 10), is_log=False)
    (100.0, 1.0)
    """
    low, high = map(math.log, domain) if is_log else domain
    at = low + place * (high - low)
    return math.exp(at) if is_log else at


def needs_names(series: Sequence[object]) -> bool:
    return len(series) > 1


def looks_of(names: Sequence[str], *, by_measure: bool = True) -> dict[str, Look]:
    """Return the look of each series; a measure's is its own in every figure."""
    curves = CURVES if by_measure else {}
    measures = {LABELS[measure]: Look(curve.light, curve.dash) for measure, curve in curves.items()}
    return {name: measures.get(name, LOOKS[at % len(LOOKS)]) for at, name in enumerate(names)}
