"""Drawings: names cover nothing, curves are true at their windows, and colours stand out on either ground."""

import dataclasses
import io
import itertools
import re
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from figures.distributions import HEIGHTS
from figures.frame import PHONE
from figures.rendering import png, svg
from figures.text import spread
from figures.theme import DARK, LIGHT, Theme
from reports.document.charts import draw_figure
from reports.sections.shape import Column, Drawing, Figure, ReferenceLine
from reports.sections.sizes.shares import select_steps
from schema.computed_tables import MEASURES
from tests.factories.contrast import contrast

pytestmark = pytest.mark.process

NAME = "round trips of the networks that stand for all the lines of the world"


def figure(drawing: Drawing, **changes: Any) -> Figure:
    """A figure of two series over two inputs with long names, and lines with labels."""
    columns = (
        Column(id="input", title="input", kind="text"),
        Column(id="end", title="end", kind="text"),
        Column(id="bytes", title="size", unit="B", kind="count"),
        Column(id="ms", title="time", unit="ms", kind="interval"),
        Column(id="share", title="share", unit="%"),
    )
    rows = tuple(
        {
            "input": name,
            "end": end,
            "bytes": 1000 * (place + 1),
            "ms": {"estimate": ms, "lower": ms - 500, "upper": ms + 500},
            "share": ms / 50,
        }
        for end in ("low", "high")
        for place, (name, ms) in enumerate(
            ((NAME, 2000.0), ("queues of the same networks, in bytes", 4000.0))
        )
    )
    x, y = ("ms", "input") if drawing == "dots" else ("bytes", "share")
    whole = Figure(
        id="fig",
        title="What a <web> & more is, told in a sentence that takes two lines",
        caption="What is drawn.",
        source="a release",
        query="",
        drawing=drawing,
        x=x,
        y=y,
        series="end",
        columns=columns,
        rows=rows,
        lines=(ReferenceLine(value=1500.0 if drawing == "curves" else 3000.0, label="worthwhile"),),
        is_logarithmic=drawing == "curves",
    )
    return dataclasses.replace(whole, **changes)


def draw(drawing: Drawing, **changes: Any) -> str:
    chart = draw_figure(figure(drawing, **changes), width=PHONE, note="illustrative")
    assert chart is not None
    return svg(chart)


@pytest.mark.parametrize("drawing", ["dots", "curves"])
def test_a_drawing_has_its_finding_and_source_inside_and_is_as_wide_as_a_phone(drawing: Drawing) -> None:
    drawn = draw(drawing)
    ET.fromstring(drawn)
    texts = re.findall(r">([^<>]+)</text>", drawn)
    assert "illustrative" in texts
    assert "Source: a release." in texts
    assert "&lt;web&gt; &amp;" in drawn
    assert "worthwhile" in texts
    assert {"low", "high"} <= set(texts)
    assert re.search(rf'<svg[^>]* width="{PHONE}"', drawn)
    assert not re.search(
        r"href|url\(|<image|<script|@import", drawn.replace("http://www.w3.org/1999/xlink", "")
    )


@pytest.mark.parametrize("drawing", ["dots", "curves"])
def test_a_figure_without_a_known_value_is_not_drawn(drawing: Drawing) -> None:
    assert draw_figure(figure(drawing, rows=()), width=PHONE) is None
    unknown = tuple({**row, "ms": None, "share": None} for row in figure(drawing).rows)
    assert draw_figure(figure(drawing, rows=unknown), width=PHONE) is None


def test_thousands_along_an_axis_are_set_apart_as_in_sentences() -> None:
    assert ">4\u202f000<" in draw("dots")
    assert "4,000" not in draw("dots")


def test_an_estimate_stands_at_the_place_of_its_value() -> None:
    """Of a linear axis from 0 to 100, 25 and 75 are apart as far as half of its grid."""
    columns = (
        Column(id="window", title="window", kind="text"),
        Column(id="share", title="share", unit="%"),
    )
    rows = ({"window": "IW 3", "share": 25.0}, {"window": "IW 10", "share": 75.0})
    changes = {"columns": columns, "rows": rows, "x": "share", "y": "window", "series": None, "lines": ()}
    drawn = draw("dots", **changes, domain=(0.0, 100.0))
    points = [
        float(x) for x in re.findall(r'aria-roledescription="point" transform="translate\(([\d.]+),', drawn)
    ]
    grid = re.search(r'role-axis-grid" pointer-events="none">(.*?)</g>', drawn)
    assert grid
    lines = sorted(float(x) for x in re.findall(r"translate\(([\d.]+),", grid[1]))
    assert points[1] - points[0] == pytest.approx((lines[-1] - lines[0]) / 2, abs=0.1)


def test_an_interval_that_goes_on_beyond_the_axis_has_an_arrow_at_its_end() -> None:
    def arrows(domain: tuple[float, float]) -> int:
        return draw("dots", domain=domain).count('aria-roledescription="point"')

    whole, cut = arrows((0.0, 6000.0)), arrows((1800.0, 4200.0))
    assert cut == whole + 4  # one end of each of four intervals is beyond the axis


def test_a_band_is_drawn_between_its_ends() -> None:
    assert "mark-area" not in draw("curves")
    band = tuple(
        {"end": "low", "bytes": size, "share": {"estimate": 50, "lower": 25.0, "upper": 75.0}}
        for size in (1000, 2000)
    )
    (path,) = re.findall(r'mark-area[^>]*>.*?<path [^>]*d="([^"]*)"', draw("curves", bands=band))
    low, high = sorted({float(y) for y in re.findall(r"[ML][\d.]+,([\d.]+)", path)})
    assert (low, high) == pytest.approx((HEIGHTS[PHONE] * 0.25, HEIGHTS[PHONE] * 0.75))


@given(st.lists(st.tuples(st.floats(0, 300), st.floats(10, 40)), min_size=1, max_size=7))
def test_names_of_windows_never_cover_each_other_and_stay_in_their_order(
    labels: list[tuple[float, float]],
) -> None:
    labels.sort()
    places, widths = zip(*labels, strict=True)
    middles = spread(places, widths, within=300)
    ends = [(middle - width / 2, middle + width / 2) for middle, width in zip(middles, widths, strict=True)]
    for (_, end), (start, _) in itertools.pairwise(ends):
        assert end <= start + 1e-6
    assert ends[0][0] >= -1e-6
    assert ends[-1][1] <= 300 + 1e-6
    # A name that has room stands at its place.
    if len(labels) == 1 and widths[0] / 2 <= places[0] <= 300 - widths[0] / 2:
        assert middles == [pytest.approx(places[0])]


@given(
    st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 50)), min_size=1, max_size=300),
    st.lists(st.integers(1, 10**6), max_size=4),
    st.integers(2, 50),
)
def test_a_thinned_curve_is_true_at_its_thresholds_and_close_elsewhere(
    members: list[tuple[int, int]], thresholds: list[int], slices: int
) -> None:
    by_size = dict(members)
    sizes = np.array(sorted(by_size))
    cumulative = np.cumsum([by_size[size] for size in sizes])
    keep = select_steps(sizes, cumulative, thresholds=thresholds, slices=slices)
    assert keep.sum() <= 2 * slices + 2 + 2 * len(thresholds)
    assert keep[0]
    assert keep[-1]

    def stepped(size: int) -> float:
        place = int(np.searchsorted(sizes[keep], size, side="right"))
        return cumulative[keep][place - 1] / cumulative[-1] if place else 0.0

    def true(size: int) -> float:
        return float(cumulative[sizes <= size].max(initial=0) / cumulative[-1])

    for threshold in thresholds:
        assert stepped(threshold) == true(threshold)
    for size in sizes.tolist():
        assert 0 <= true(size) - stepped(size) < 1 / slices


def test_drawing_twice_gives_the_same_bytes_and_a_png_of_a_few_colours_on_white() -> None:
    first, again = (draw_figure(figure("curves"), width=PHONE) for _ in range(2))
    assert first is not None
    assert again is not None
    assert svg(first) == svg(again)
    assert png(first, width=PHONE) == png(again, width=PHONE)
    with Image.open(io.BytesIO(png(first, width=PHONE))) as opened:
        assert opened.mode == "P"
        assert opened.convert("RGB").getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.id)
def test_every_colour_stands_out_from_its_background(theme: Theme) -> None:
    assert theme.palette.keys() == MEASURES.keys()
    for colour, least in [(theme.ink, 7.0), *((colour, 3.0) for colour in theme.palette.values())]:
        assert contrast(theme.background, colour) >= least
