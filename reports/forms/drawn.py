"""What a figure draws, apart from how: curves over a quantity, or estimates with their intervals by name,
and an axis."""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from releases.formatting import grouped, size, stated
from reports.forms.printed import Figure

MARGIN = 0.05
"""Room beside the outermost values, as a share of a linear axis."""

TICKS = 6
"""Labels that an axis has at most, about."""


@dataclasses.dataclass(frozen=True, slots=True)
class Curve:
    """A curve with its name, by growing x."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate with its name; the ends are None without an interval."""

    name: str
    value: float
    lower: float | None
    upper: float | None
    group: str = ""
    """Name of the category that stands above its series in a forest plot;
    empty where the estimate's name has it."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A linear or logarithmic axis from 0 to 1."""

    low: float
    high: float
    is_logarithmic: bool
    unit: str

    def place(self, value: float) -> float:
        """Place of a value, 0 at the low end and 1 at the high end; values beyond are drawn at the ends.

        >>> Axis(low=10, high=1000, is_logarithmic=True, unit="").place(100)
        0.5
        """
        low, high = self._scaled(self.low), self._scaled(self.high)
        return min(1.0, max(0.0, (self._scaled(value) - low) / (high - low)))

    def _scaled(self, value: float) -> float:
        return math.log10(max(value, self.low)) if self.is_logarithmic else value

    @property
    def ticks(self) -> list[float]:
        """Values with a label: powers of ten, or multiples of 1, 2 or 5 times one.

        >>> Axis(low=0, high=1, is_logarithmic=False, unit="").ticks
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        """
        if self.is_logarithmic:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            return [10.0**power for power in range(first, last + 1)]
        rough = (self.high - self.low) / (TICKS - 1)
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(at * step, 12) + 0.0 for at in range(first, last + 1)]

    def label(self, value: float) -> str:
        """The text of a tick; bytes have their SI prefix.

        >>> Axis(low=0, high=4000, is_logarithmic=False, unit="ms").label(3500)
        '3\\u202f500'
        """
        if self.unit == "B" and value >= 1:
            return size(round(value))
        return stated(value)


def curves(figure: Figure) -> list[Curve]:
    """The curves of a figure of kind `lines`, unknown points left out."""
    return _curves(figure, figure.facts["rows"], "estimate")


def band_edges(figure: Figure) -> list[Curve]:
    """The lower and the upper edges of the intervals along curves, where a figure has them."""
    bands = figure.facts.get("bands", ())
    return [edge for end in ("lower", "upper") for edge in _curves(figure, bands, end)]


def _curves(figure: Figure, rows: Sequence[Mapping[str, Any]], end: str) -> list[Curve]:
    """Curves through the estimates, or through one end of the intervals."""
    facts = figure.facts
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        x, y = _value(row.get(facts["x"])), _value(row.get(facts["y"]), end)
        if x is not None and y is not None:
            found.setdefault(str(row.get(facts["series"], "")) if facts["series"] else "", []).append((x, y))
    return [Curve(name, tuple(sorted(points))) for name, points in found.items()]


def estimates(figure: Figure) -> list[Estimate]:
    """The estimates of a figure of any other kind, by the name of their category and series."""
    facts = figure.facts
    is_forest = facts["drawing"] == "forest"
    measured, category = (facts["x"], facts["y"]) if is_forest else (facts["y"], facts["x"])
    series = next((one for one in facts["columns"] if one["id"] == facts["series"]), None)
    is_grouped = is_forest and series is not None
    return [
        Estimate(
            _category(row[facts["series"]]) if is_grouped else _name(row, category, series),
            value,
            *_ends(row[measured]),
            group=_category(row[category]) if is_grouped else "",
        )
        for row in facts["rows"]
        if (value := _value(row.get(measured))) is not None
    ]


def grouped_estimates(figure: Figure) -> Iterator[tuple[str, list[Estimate]]]:
    """The estimates by the category above them, which is empty where their names have it."""
    return (
        (group, list(some)) for group, some in itertools.groupby(estimates(figure), lambda one: one.group)
    )


def measured_axis(figure: Figure) -> Axis:
    """The axis of the estimates, wide enough for their intervals and the figure's lines."""
    found = estimates(figure)
    ends = [end for one in found for end in (one.value, one.lower, one.upper)]
    is_bars = figure.facts["drawing"] == "bars"
    return axis([*ends, *_lines(figure), *([0.0] if is_bars else [])], unit=_unit(figure))


def axis(values: Sequence[float | None], *, is_logarithmic: bool = False, unit: str = "") -> Axis:
    """An axis for values; a linear one has some room beside them."""
    known = [value for value in values if value is not None and math.isfinite(value)] or [0.0, 1.0]
    low, high = min(known), max(known)
    if is_logarithmic:
        positive = [value for value in known if value > 0] or [1.0]
        low, high = (
            10.0 ** math.floor(math.log10(min(positive))),
            10.0 ** math.ceil(math.log10(max(positive))),
        )
        return Axis(low=low, high=high if high > low else 10 * low, is_logarithmic=True, unit=unit)
    room = MARGIN * (high - low) or abs(high) or 1.0
    return Axis(low=low - room, high=high + room, is_logarithmic=False, unit=unit)


def curve_axes(figure: Figure) -> tuple[Axis, Axis]:
    """Horizontal and vertical axis of curves."""
    facts, found = figure.facts, curves(figure)
    xs = [x for one in found for x, _ in one.points] + _lines(figure)
    ys = [y for one in found for _, y in one.points]
    units = {column["id"]: column["unit"] for column in facts["columns"]}
    return (
        axis(xs, is_logarithmic=facts["is_logarithmic"], unit=units.get(facts["x"], "")),
        _to_a_tick(min([*ys, 0.0]), max([*ys, 0.0]) or 1.0, unit=units.get(facts["y"], "")),
    )


def _to_a_tick(low: float, high: float, *, unit: str) -> Axis:
    """A linear axis that ends at a tick."""
    made = Axis(low=low, high=high, is_logarithmic=False, unit=unit)
    ticks = made.ticks
    step = ticks[1] - ticks[0] if len(ticks) > 1 else high - low
    return dataclasses.replace(made, high=step * math.ceil(high / step - 1e-9))


def title_of(figure: Figure, role: str) -> str:
    """Title of the column with a role (`x` or `y`), with its unit."""
    column = next(one for one in figure.facts["columns"] if one["id"] == figure.facts[role])
    return f"{column['title']}, {column['unit']}" if column["unit"] else str(column["title"])


def measured_role(figure: Figure) -> str:
    """Role of the measured column: `x` in a forest, else `y`."""
    return "x" if figure.facts["drawing"] == "forest" else "y"


def lines_of(figure: Figure) -> Iterator[tuple[float, str]]:
    """Values with a line across the figure, and their labels."""
    return ((float(one["value"]), str(one["label"])) for one in figure.facts["lines"])


def _lines(figure: Figure) -> list[float]:
    return [value for value, _ in lines_of(figure)]


def _unit(figure: Figure) -> str:
    measured = figure.facts[measured_role(figure)]
    return str(next(one["unit"] for one in figure.facts["columns"] if one["id"] == measured))


def _name(row: Mapping[str, Any], category: str, series: Mapping[str, Any] | None) -> str:
    """The category, and the series with its title where it is a number."""
    name, value = _category(row.get(category, "")), row.get(series["id"]) if series else None
    if series is None or value is None:
        return name
    return f"{name}, {value}" if series["kind"] == "text" else f"{name}, {series['title']} {value}"


def _category(value: Any) -> str:  # noqa: ANN401  # text or a number
    return grouped(value) if isinstance(value, int) else str(value)


def _value(value: Any, end: str = "estimate") -> float | None:  # noqa: ANN401  # a number, an interval, or nothing
    found = value.get(end) if isinstance(value, Mapping) else value
    return float(found) if isinstance(found, int | float) and math.isfinite(found) else None


def _ends(value: Any) -> tuple[float | None, float | None]:  # noqa: ANN401  # a number or an interval
    return (value["lower"], value["upper"]) if isinstance(value, Mapping) else (None, None)
