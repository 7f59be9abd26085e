"""The figures of sections as charts: their rows become those of `figures`, which draws them."""

from collections.abc import Mapping
from typing import Any

from figures.distributions import CdfSeries, cdf
from figures.estimates import EstimateRow, dots
from figures.frame import AltairChart, Frame, Upright
from reports.sections.shape import Column, Figure, Row


def draw_figure(figure: Figure, *, width: int, note: str = "") -> AltairChart | None:
    """Draw a figure of dots or curves; None without a known value.

    `note` is part of the picture, so that copies have it.
    """
    frame = Frame(title=figure.title, subtitle=figure.caption, source=figure.source, note=note, width=width)
    lines = [Upright(value=line.value, label=line.label) for line in figure.lines]
    if figure.drawing == "curves":
        series = _distributions(figure)
        return cdf(frame, series, lines, domain=figure.domain) if series else None
    estimates = _estimates(figure)
    if not estimates:
        return None
    measured = column_of(figure, figure.x)
    return dots(
        frame,
        estimates,
        unit=measured.unit,
        axis=measured.title,
        lines=lines,
        domain=figure.domain,
        is_logarithmic=figure.is_logarithmic,
    )


def _distributions(figure: Figure) -> list[CdfSeries]:
    names = dict.fromkeys(_series(figure, row) for row in figure.rows)
    drawn = (
        CdfSeries(
            name=name,
            steps=[
                (row[figure.x], row[figure.y])
                for row in figure.rows
                if _series(figure, row) == name and row[figure.y] is not None
            ],
            band=[
                (row[figure.x], ends["lower"], ends["upper"])
                for row in figure.bands
                if _series(figure, row) == name and None not in (ends := row[figure.y]).values()
            ],
        )
        for name in names
    )
    return [each for each in drawn if each.steps]


def _estimates(figure: Figure) -> list[EstimateRow]:
    """Return the known estimates; an interval without an end is left out."""
    estimates = []
    for row in figure.rows:
        value = row.get(figure.x)
        known = value if isinstance(value, Mapping) else {"estimate": value}
        if known["estimate"] is not None:
            ends = {} if None in known.values() else {end: known.get(end) for end in ("lower", "upper")}
            name = str(row[figure.y])
            estimates.append(
                EstimateRow(name=name, value=known["estimate"], series=_series(figure, row), **ends)
            )
    return estimates


def _series(figure: Figure, row: Row) -> Any:  # noqa: ANN401  # a cell has any type
    return row[figure.series] if figure.series else ""


def column_of(figure: Figure, name: str) -> Column:
    return next(column for column in figure.columns if column.id == name)
