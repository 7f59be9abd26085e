"""Figures of estimates by category: marks with their intervals, and bars."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from figures.axes import NUMBER, PERCENT, TICKS, legend, name_axis, names_width, pixels, span
from figures.frame import (
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
    plot_width,
)
from figures.text import LEADING, text_width, wrap
from figures.theme import LIGHT, LOOKS, Look
from releases.formatting import quantity

LOG_TICKS = [digit * 10.0**power for power in range(-4, 5) for digit in (1, 2, 5)]

SERIES_ROW, ROW = 17, 26

BAR = 56

APART = 7


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class EstimateRow:
    """An estimate with its interval, if it has one."""

    name: str
    value: float
    lower: float | None = None
    upper: float | None = None
    series: str = ""
    """Tells estimates of one category apart."""


def dots(
    frame: Frame,
    estimates: Sequence[EstimateRow],
    *,
    unit: str,
    axis: str,
    lines: Sequence[Upright] = (),
    domain: tuple[float, float] | None = None,
    is_logarithmic: bool = False,
) -> AltairChart:
    """Draw estimates with intervals, categories below each other, values at the right.

    An interval beyond an end of the `domain` has an arrow there. Series have marks, named in a legend.
    """
    series = [*dict.fromkeys(each.series for each in estimates)]
    looks = looks_of(series) if needs_names(series) else {series[0]: LOOKS[-1]}
    ends = domain or _ends(estimates, lines, is_logarithmic=is_logarithmic)
    layout = _Layout.of(frame, estimates, unit, has_lines=any(line.label for line in lines))
    # Lines of the axis would cross names that stand above their rows.
    scale = _scale(ends, unit, is_logarithmic=is_logarithmic, has_grid=not layout.parts)
    told = [alt.Tooltip(f"{field}:N") for field in ("name", "series", "text")]

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=name_axis(axis, "" if unit == "%" else unit), **scale)

    y, by = pixels(layout.height), _by_series(looks, plot_width(frame, layout.room))
    known = [row for row in layout.rows if row["lower"] is not None]
    layers = [
        of_rows(known)
        .mark_rule(strokeWidth=2)
        .encode(x=x("lower"), x2=alt.X2("upper:Q"), y=y, color=by["color"])
    ]
    for side, end, beyond in _beyond(known, ends):
        arrows = of_rows(beyond).mark_point(shape=f"triangle-{side}", filled=True, size=56, opacity=1)
        layers.append(arrows.encode(x=alt.value(end), y=y, color=by["color"]))
    marks = of_rows(layout.rows).mark_point(filled=True, size=70, opacity=1)
    layers.append(marks.encode(x=x("value"), y=y, tooltip=told, **by))
    uprights = draw_uprights(
        lines,
        x,
        domain=ends,
        width=plot_width(frame, layout.room),
        height=layout.height,
        is_log=is_logarithmic,
        parts=layout.parts,
    )
    return compose(frame, [*uprights, *layers, *layout.words()], height=layout.height, room=layout.room)


def bars(
    frame: Frame,
    estimates: Sequence[EstimateRow],
    *,
    unit: str,
    axis: str,
    domain: tuple[float, float] | None = None,
) -> AltairChart:
    """Draw bars from zero, with intervals as lines and values at the right; one whose interval holds zero
    is pale.
    """
    ends = domain or _ends(estimates, [Upright(value=0)], is_logarithmic=False)
    layout = _Layout.of(frame, estimates, unit, row=BAR)
    y = pixels(layout.height)
    scale = _scale(ends, unit, has_grid=not layout.parts)
    told = [alt.Tooltip(f"{field}:N") for field in ("name", "text")]

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=name_axis(axis, "" if unit == "%" else unit), **scale)

    rows = [row | {"zero": 0, "opacity": 1 if _is_clear(row) else 0.4} for row in layout.rows]
    drawn = of_rows(rows).mark_bar(height=0.6 * BAR, color=LOOKS[0].colour)
    layers = [
        drawn.encode(
            x=x("zero"), x2=alt.X2("value:Q"), y=y, opacity=alt.Opacity("opacity:Q", scale=None), tooltip=told
        ),
        of_rows([row for row in rows if row["lower"] is not None])
        .mark_rule(strokeWidth=2, color=LIGHT.ink)
        .encode(x=x("lower"), x2=alt.X2("upper:Q"), y=y),
    ]
    zero = draw_uprights(
        [Upright(value=0)],
        x,
        domain=ends,
        width=plot_width(frame, layout.room),
        height=layout.height,
        parts=layout.parts,
    )
    return compose(
        frame, [*layers, *zero, *layout.words(is_bold=True)], height=layout.height, room=layout.room
    )


def _is_clear(row: Mapping[str, Any]) -> bool:
    return row["lower"] is None or row["lower"] > 0 or row["upper"] < 0


def _ends(
    estimates: Sequence[EstimateRow], lines: Sequence[Upright], *, is_logarithmic: bool
) -> tuple[float, float]:
    ends = [end for each in estimates for end in (each.value, each.lower, each.upper) if end is not None]
    return span([*ends, *(line.value for line in lines)], is_log=is_logarithmic)


def _scale(
    ends: tuple[float, float], unit: str, *, is_logarithmic: bool = False, has_grid: bool = True
) -> dict[str, Any]:
    low, high = ends
    if is_logarithmic:
        ticks = [tick for tick in LOG_TICKS if low <= tick <= high]
        return {
            "scale": alt.Scale(domain=[low, high], type="log", nice=False, clamp=True),
            "axis": alt.Axis(values=ticks, format="~g", grid=has_grid),
        }
    return {
        "scale": alt.Scale(domain=[low, high], nice=False, zero=False, clamp=True),
        "axis": alt.Axis(
            tickCount=TICKS, labelExpr=PERCENT if unit == "%" else NUMBER, labelFlush=True, grid=has_grid
        ),
    }


def _by_series(looks: Mapping[str, Look], width: float) -> dict[str, Any]:
    names = [*looks]
    shown = legend(names, width, symbol=18) if needs_names(names) else None
    colours, shapes = [look.colour for look in looks.values()], [look.shape for look in looks.values()]
    return {
        "color": alt.Color("series:N", legend=shown, scale=alt.Scale(domain=names, range=colours)),
        "shape": alt.Shape("series:N", legend=shown, scale=alt.Scale(domain=names, range=shapes)),
    }


def _beyond(
    rows: Sequence[dict[str, Any]], ends: tuple[float, float]
) -> Iterator[tuple[str, float | str, list[dict[str, Any]]]]:
    """Yield side, place and rows of intervals beyond an end of the axis."""
    low, high = ends
    for side, end, beyond in (
        ("left", 0, [row for row in rows if row["lower"] < low]),
        ("right", "width", [row for row in rows if row["upper"] > high]),
    ):
        if beyond:
            yield side, end, beyond


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Layout:
    """Places of categories and estimates, in pixels from the top."""

    rows: list[dict[str, Any]]
    names: list[dict[str, Any]]
    values: list[dict[str, Any]]
    parts: list[tuple[float, float]]
    """Heights between names above their rows; empty if they stand beside."""
    height: float
    room: Room

    @classmethod
    def of(
        cls,
        frame: Frame,
        estimates: Sequence[EstimateRow],
        unit: str,
        *,
        row: float = ROW,
        has_lines: bool = False,
    ) -> "_Layout":
        categories: dict[str, list[EstimateRow]] = {}
        for each in estimates:
            categories.setdefault(each.name, []).append(each)
        has_intervals = any(each.lower is not None for each in estimates)
        beside = names_width([*categories], frame)
        is_above = frame.is_narrow and max(text_width(name, TEXT) for name in categories) > beside
        # Estimates without intervals stand on one line, others below each other.
        on_line = {
            name: [[each] for each in some] if has_intervals else [some] for name, some in categories.items()
        }
        texts = {
            name: [
                ", ".join(quantity(each.value, unit if unit == "%" else "") for each in line) for line in some
            ]
            for name, some in on_line.items()
        }
        right = 14 + max(
            text_width(text, TEXT, is_bold=row == BAR) for some in texts.values() for text in some
        )
        left = 0.0 if is_above else beside
        rows, names, values, parts = [], [], [], []
        top = 2.0
        for name, some in on_line.items():
            words = wrap(name, frame.width - 20 if is_above else left - 12, TEXT)
            tall = LEADING * TEXT * len(words)
            step = row if len(some) == 1 and not is_above else SERIES_ROW if row == ROW else row
            high = step * len(some) if is_above else max(step * len(some), tall + 4)
            begin = top + (tall if is_above else (high - step * len(some)) / 2)
            names.append({"y": top if is_above else top + (high - tall) / 2, "name": "\n".join(words)})
            for at, line in enumerate(some):
                y = begin + step * (at + 0.5)
                values.append({"y": y, "text": texts[name][at]})
                rows += [dataclasses.asdict(each) | {"y": y, "text": texts[name][at]} for each in line]
            parts.append((begin, begin + high))
            top += high + (tall if is_above else 0) + (APART if is_above or len(some) > 1 else 0)
        return cls(
            rows=rows,
            names=names,
            values=values,
            parts=parts if is_above else [],
            height=top,
            room=Room(left=left, right=right, above=28 if has_lines else 6),
        )

    def words(self, *, is_bold: bool = False) -> list[alt.Chart]:
        y = pixels(self.height)
        style: dict[str, Any] = {"fontSize": TEXT, "color": LIGHT.ink}
        names = of_rows(self.names).mark_text(
            align="left", baseline="top", dy=2, lineBreak="\n", lineHeight=LEADING * TEXT, **style
        )
        values = of_rows(self.values).mark_text(
            align="right",
            baseline="middle",
            dx=self.room.right,
            fontWeight="bold" if is_bold else "normal",
            **style,
        )
        return [
            names.encode(x=alt.value(-self.room.left), y=y, text="name:N"),
            values.encode(x=alt.value("width"), y=y, text="text:N"),
        ]
