"""Figures of distributions of sizes: CDFs, histograms and quantiles."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from figures.axes import (
    BYTES,
    LEFT,
    NUMBER,
    TICKS,
    in_lines,
    measured_axis,
    names_width,
    pixels,
    pointer,
    strokes,
)
from figures.frame import (
    DESK,
    PHONE,
    TEXT,
    AltairChart,
    Frame,
    Room,
    Upright,
    compose,
    draw_uprights,
    looks_of,
    needs_names,
    of_rows,
    place_along,
    plot_width,
    text_at,
)
from figures.line_names import place_names
from figures.text import LEADING
from figures.theme import LIGHT, LOOKS
from releases.formatting import measured, quantity

HEIGHTS = {DESK: 330, PHONE: 230}

UPRIGHTS_ABOVE = 28

BOLD, THIN = 3.2, 2.2

SIZE_LABEL = 54

QUANTILES_ROW = 36.0

POINTER_STEPS = 160
"""Places along the axis with values in words."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CdfSeries:
    """A series of a figure of sizes."""

    name: str
    """A measure's own label has its own look in every figure."""
    steps: Sequence[tuple[float, float]]
    """Ascending values with the share up to each, in percent."""
    band: Sequence[tuple[float, float, float]] = ()
    """Sizes with both ends of the share's interval, in percent."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class HistogramSeries:
    """A series of a histogram of sizes."""

    name: str
    bins: Sequence[tuple[int, int, float]]
    """Lower and upper end, and the share between, in percent."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class QuantileRow:
    """A row of a figure of quantiles."""

    name: str
    quantiles: Mapping[int, float]
    """By percent, 50 among them, ascending."""


def cdf(
    frame: Frame,
    distributions: Sequence[CdfSeries],
    windows: Sequence[Upright] = (),
    *,
    domain: tuple[float, float] | None = None,
    axis: str = "",
    unit: str = "bytes",
    height: float | None = None,
) -> AltairChart:
    """Draw CDFs over a logarithmic axis of bytes, or of `unit`, with upright lines at `windows`.

    Without a `domain`, the axis holds all steps and windows. A single curve is bold and needs no name;
    several are named on their lines, or in a legend if they have no room there.
    """
    sizes = [at for each in distributions for at, _ in each.steps] + [line.value for line in windows]
    ends = domain or (max(1.0, min(sizes)), max(sizes))
    plot = _Plot.of(frame, ends, windows, unit, height, title=axis)
    y: dict[str, Any] = {"scale": alt.Scale(domain=[0, 100], nice=False), "axis": measured_axis("%")}
    names = [each.name for each in distributions]
    looks = looks_of(names)
    layers: list[alt.Chart] = []
    for each in distributions:
        if each.band:
            band = [{"size": at, "lower": lower, "upper": upper} for at, lower, upper in each.band]
            area = of_rows(band).mark_area(color=looks[each.name].colour, opacity=0.2)
            layers.append(area.encode(x=plot.x("size"), y=alt.Y("lower:Q", **y), y2=alt.Y2("upper:Q")))
    rows = [
        {"size": at, "share": share, "series": each.name}
        for each in distributions
        for at, share in each.steps
    ]
    lines = of_rows(rows).mark_line(strokeWidth=THIN if needs_names(names) else BOLD)
    places = plot.places_of_names(distributions) if needs_names(names) else None
    encodings = strokes(names, looks, plot.width, has_legend=places is None)
    layers.append(lines.encode(x=plot.x("size"), y=alt.Y("share:Q", title=None, **y), **encodings))
    for name, at in (places or {}).items():
        layers.append(text_at(name, *at, align="center", color=looks[name].colour, fontWeight="bold"))
    if frame.is_interactive:
        layers += pointer(_pointer_rows(distributions, ends, unit), plot.x("at"))
    return compose(frame, [*plot.uprights(), *layers], height=plot.height, room=plot.room)


def histogram(
    frame: Frame,
    series: Sequence[HistogramSeries],
    windows: Sequence[Upright] = (),
    *,
    unit: str = "bytes",
) -> AltairChart:
    """Draw histograms over the axis of `cdf`: bars, or outlines of several."""
    low = min(lower for each in series for lower, _, _ in each.bins)
    high = max(upper for each in series for _, upper, _ in each.bins)
    top = 1.08 * max(share for each in series for _, _, share in each.bins)
    plot = _Plot.of(frame, (low, high), windows, unit)
    y = alt.Y("share:Q", title=None, scale=alt.Scale(domain=[0, top], nice=False), axis=measured_axis("%"))
    names = [each.name for each in series]
    looks = looks_of(names)
    if needs_names(names):
        rows = [
            {"size": at, "share": share, "series": each.name}
            for each in series
            for at, share in _outline(each.bins)
        ]
        lines = of_rows(rows).mark_line(strokeWidth=THIN, interpolate="step-after")
        marks = [lines.encode(x=plot.x("size"), y=y, **strokes(names, looks, plot.width))]
        if frame.is_interactive:
            marks += pointer(_bin_rows(series, unit), plot.x("at"))
    else:
        rows = [
            {"low": lower, "high": upper, "share": share, "size": _between(lower, upper, unit)}
            for lower, upper, share in series[0].bins
        ]
        bars = of_rows(rows).mark_rect(color=looks[names[0]].colour, stroke=LIGHT.background)
        told = ["size:N", alt.Tooltip("share:Q", format=".3~r")]
        marks = [bars.encode(x=plot.x("low"), x2=alt.X2("high:Q"), y=y, y2=alt.Y2(datum=0), tooltip=told)]
    return compose(frame, [*marks, *plot.uprights()], height=plot.height, room=plot.room)


def quantiles(
    frame: Frame, rows: Sequence[QuantileRow], windows: Sequence[Upright] = (), *, unit: str = "bytes"
) -> AltairChart:
    """Draw each row from least to largest quantile, thick between the second and last but one, marked at
    the median.
    """
    ends = [at for row in rows for at in row.quantiles.values()] + [line.value for line in windows]
    left = names_width([row.name for row in rows], frame)
    plot = _Plot.of(
        frame, (max(1.0, min(ends)), max(ends)), windows, unit, QUANTILES_ROW * len(rows), left=left
    )
    data = [
        {
            "y": QUANTILES_ROW * (at + 0.5),
            "name": in_lines(row.name, left - 12),
            **{f"p{percent}": value for percent, value in row.quantiles.items()},
            **{f"in words p{percent}": measured(value, unit) for percent, value in row.quantiles.items()},
        }
        for at, row in enumerate(rows)
    ]
    percents = sorted(rows[0].quantiles)
    told = [alt.Tooltip(f"in words p{percent}:N", title=f"p{percent}") for percent in percents]
    base, y = of_rows(data), pixels(plot.height)
    layers: list[alt.Chart] = []
    for depth, thick in enumerate((2.0, 7.0)):
        if len(percents) > 2 * depth + 1:
            rule = base.mark_rule(strokeWidth=thick, color=LOOKS[0].colour, opacity=0.5)
            ends_of = plot.x(f"p{percents[depth]}"), alt.X2(f"p{percents[-1 - depth]}:Q")
            layers.append(rule.encode(x=ends_of[0], x2=ends_of[1], y=y, tooltip=told))
    median = base.mark_point(filled=True, size=70, color=LOOKS[0].colour, opacity=1)
    layers.append(median.encode(x=plot.x("p50"), y=y, tooltip=told))
    words = base.mark_text(
        align="left",
        fontSize=TEXT,
        color=LIGHT.ink,
        lineBreak="\n",
        lineHeight=LEADING * TEXT,
        baseline="middle",
    )
    layers.append(words.encode(x=alt.value(-left), y=y, text="name:N"))
    return compose(frame, [*plot.uprights(), *layers], height=plot.height, room=plot.room)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Plot:
    """A plot over a logarithmic axis, with windows upright in it."""

    room: Room
    width: float
    height: float
    domain: tuple[float, float]
    windows: Sequence[Upright]
    unit: str
    title: str

    @classmethod
    def of(
        cls,
        frame: Frame,
        domain: tuple[float, float],
        windows: Sequence[Upright],
        unit: str,
        height: float | None = None,
        *,
        left: float = LEFT,
        title: str = "",
    ) -> "_Plot":
        low, high = domain
        inside = [line for line in windows if low <= line.value <= high]
        room = Room(left=left, above=UPRIGHTS_ABOVE if inside else 6)
        return cls(
            room=room,
            width=plot_width(frame, room),
            height=height or HEIGHTS[PHONE if frame.is_narrow else DESK],
            domain=domain,
            windows=inside,
            unit=unit,
            title=title or ("size" if unit == "bytes" else unit),
        )

    def x(self, field: str) -> alt.X:
        """Return the axis, with labels at powers of ten or, with room, 1, 2 and 5 times each."""
        low, high = self.domain
        decade = self.width / math.log10(high / low)
        powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
        factors = (1, 2, 5) if 0.3 * decade > 1.5 * SIZE_LABEL else (1,)
        values = [factor * 10**power for power in powers for factor in factors]
        every = math.ceil(SIZE_LABEL / decade)
        return alt.X(
            f"{field}:Q",
            title=self.title,
            scale=alt.Scale(domain=[low, high], type="log", nice=False, clamp=True),
            axis=alt.Axis(
                values=[value for value in values if low <= value <= high][::every],
                labelExpr=BYTES if self.unit == "bytes" else NUMBER,
                grid=False,
                labelOverlap=False,
            ),
        )

    def places_of_names(self, distributions: Sequence[CdfSeries]) -> dict[str, tuple[float, float]] | None:
        """Return places of names on their lines, in pixels; None if they have no room."""

        def across(value: float) -> float:
            return self.width * place_along(value, self.domain, is_log=True)

        return place_names(
            {
                each.name: [(across(at), self.height * (1 - share / 100)) for at, share in each.steps]
                for each in distributions
            },
            width=self.width,
            height=self.height,
            uprights=[across(line.value) for line in self.windows],
            horizontals=[self.height * step / TICKS for step in range(TICKS + 1)],
        )

    def uprights(self) -> list[alt.Chart]:
        return draw_uprights(
            self.windows, self.x, domain=self.domain, width=self.width, height=self.height, is_log=True
        )


def _outline(bins: Sequence[tuple[int, int, float]]) -> list[tuple[float, float]]:
    steps = [(lower, share) for lower, _, share in bins]
    return [(bins[0][0], 0.0), *steps, (bins[-1][1], steps[-1][1]), (bins[-1][1], 0.0)]


def _between(low: float, high: float, unit: str) -> str:
    return f"{measured(low, unit)} to {measured(high, unit)}"


def _bin_rows(series: Sequence[HistogramSeries], unit: str) -> list[dict[str, Any]]:
    rows: dict[tuple[int, int], dict[str, Any]] = {}
    for each in series:
        for low, high, share in each.bins:
            row = rows.setdefault((low, high), {"at": math.sqrt(low * high), "up to": measured(high, unit)})
            row[each.name] = quantity(share, "%")
    return [*rows.values()]


def _pointer_rows(
    distributions: Sequence[CdfSeries], domain: tuple[float, float], unit: str
) -> list[dict[str, Any]]:
    places = np.geomspace(*domain, POINTER_STEPS)
    shares = {}
    for each in distributions:
        sizes, values = zip(*each.steps, strict=True)
        at = np.searchsorted(sizes, places, side="right")
        shares[each.name] = np.concatenate([[0.0], values])[at]
    return [
        {"at": float(place), "up to": measured(place, unit)}
        | {name or "share": quantity(float(values[row]), "%") for name, values in shares.items()}
        for row, place in enumerate(places)
    ]
