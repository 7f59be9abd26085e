"""Charts of the service: colours of the pages and of the one theme, in files that need no other file."""

import re

import pytest

from api.charts import Chart, Mark, Plot, Scale, share_marks, share_scale, stylesheet
from figures.theme import HUES


@pytest.mark.parametrize(("scheme", "place"), [(0, 0), (1, 1)])
def test_the_colours_of_series_are_those_of_the_theme(scheme: int, place: int) -> None:
    rules = stylesheet().split("@media (prefers-color-scheme: dark)")[scheme]
    for style, hue in enumerate(HUES):
        assert f".c{style} {{ stroke: {hue[place]};" in rules
        assert f".b{style} {{ fill: {hue[place]};" in rules


def test_a_file_of_its_own_has_every_colour_written_in_and_a_part_of_a_page_has_none() -> None:
    plot = Plot(width=100, height=50, name="a < b")
    plot.add_axes([Mark(10, "1 kB")], share_marks(share_scale(50)))
    chart = Chart(title="Sizes & shares", width=200, plots=[plot])
    assert "var(" not in chart.svg()
    assert "<title>Sizes &amp; shares</title>" in chart.svg()
    assert "<style>" not in chart.inline("for-phones")
    assert ">a &lt; b</text>" in chart.inline("for-phones")


def test_a_label_at_the_right_end_of_a_plot_stays_inside_the_chart() -> None:
    plot = Plot(width=100, height=50)
    plot.add_uprights([Mark(50, "3"), Mark(99, "a list of sites")], look="list")
    ends = re.findall(r'<text class="list" x="([\d.]+)" y="-8" text-anchor="(\w+)"', "".join(plot.shapes))
    assert ends == [("50", "middle"), ("124", "end")]


def test_places_beyond_an_axis_are_at_its_ends() -> None:
    x = Scale(low=10, high=1000, length=100, is_log=True)
    assert [x(size) for size in (0, 10, 1000, 10**9)] == [0, 0, 100, 100]
