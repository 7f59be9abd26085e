"""Figures of reproduced results."""

import dataclasses

from figures.rendering import svg
from replay.published.cs244 import figure_rows, read_cells
from replay.published.reproduction import ComparedValue, FigurePlace, Reproduction
from reports.document.published_figures import OURS, PUBLISHED, figure, panel, points


def row(x: str, ours: float, published: float | None = None, *, series: str = "a") -> ComparedValue:
    return ComparedValue(
        what=x, unit="ms", published=published, ours=ours, place=FigurePlace("A panel", series, x)
    )


def reproduction(*rows: ComparedValue) -> Reproduction:
    return Reproduction(
        id="one", title="One", source="a source", method="a method", rows=rows, criteria=(), reading=""
    )


def test_a_value_without_a_published_counterpart_is_drawn_alone() -> None:
    assert [(point["x"], point["y"], point["whose"]) for point in points([row("p", 2, 3), row("q", 4)])] == [
        ("p", 3, PUBLISHED),
        ("p", 2, OURS),
        ("q", 4, OURS),
    ]


def test_one_series_is_bars_and_several_are_lines() -> None:
    bars = svg(panel("A panel", [row("p", 2, 3), row("q", 4, 5)]))
    assert bars.count('aria-roledescription="bar"') == 4
    lines = svg(panel("A panel", [row("p", 2, 3), row("p", 4, 5, series="b")]))
    assert lines.count('aria-roledescription="line mark"') == 4
    assert 'aria-roledescription="bar"' not in lines


def test_many_values_at_one_place_are_each_a_mark() -> None:
    dots = svg(panel("A panel", [row("p", height) for height in (1, 2, 3)]))
    assert dots.count('aria-roledescription="circle"') == 3


def test_without_a_place_there_is_no_figure_and_the_same_rows_give_the_same_bytes() -> None:
    homeless = dataclasses.replace(row("p", 2), place=None)
    assert figure(reproduction(homeless)) is None
    drawn = figure(reproduction(row("p", 2, 3), homeless))
    assert drawn is not None
    assert drawn == figure(reproduction(row("p", 2, 3), homeless))
    assert "A panel" in drawn


def test_the_gains_of_the_rerun_are_those_of_its_cells() -> None:
    cells = read_cells()
    rows = [
        ComparedValue(what=cell.what, unit="s", published=cell.seconds, ours=cell.seconds) for cell in cells
    ]
    gains = {
        (figure_row.place.panel, figure_row.place.x): figure_row
        for figure_row in figure_rows(cells, rows, "a shaper")
        if figure_row.place
    }
    ten = gains["Fig 7, segments: gain of IW 10 over 3, a shaper", "10"]
    # The oracle prints 0.3024 s at IW 3 and 0.2427 s at IW 10.
    assert ten.published is not None
    assert abs(ten.published - 100 * (0.3024 / 0.2427 - 1)) < 0.5
    assert all(gain.published == gain.ours for gain in gains.values())
