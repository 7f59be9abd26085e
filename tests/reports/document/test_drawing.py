"""Figures of sections: their numbers are written as in sentences,
and no name covers another or is struck through."""

import itertools
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.document.drawing import draw_figure, is_wide
from reports.document.theme import svg
from reports.document.uprights import spread

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("drawing", "axes"),
    [("intervals", ("window", "ms")), ("forest", ("ms", "window")), ("lines", ("ms", "ms"))],
)
def test_thousands_along_an_axis_are_set_apart_as_in_sentences(drawing: str, axes: tuple[str, str]) -> None:
    columns = [
        {"id": "window", "title": "window", "unit": "", "kind": "text"},
        {"id": "ms", "title": "time", "unit": "ms", "kind": "number"},
    ]
    rows = [{"window": f"IW {place}", "ms": 1_000.0 * place} for place in (1, 3, 5)]
    kind = {"drawing": drawing, "x": axes[0], "y": axes[1], "series": None}
    chart = draw_figure({**kind, "columns": columns, "rows": rows, "lines": [], "is_logarithmic": False})
    assert chart is not None
    assert ">4\u202f000<" in svg(chart)
    assert "4,000" not in svg(chart)


def test_no_two_series_look_alike_where_there_are_more_of_them_than_colours() -> None:
    rows = [{"window": f"IW {place}", "rate": "slow", "saved": float(place)} for place in range(12)]
    columns = [
        {"id": name, "title": name, "unit": "", "kind": "text"} for name in ("window", "rate", "saved")
    ]
    figure = {"drawing": "intervals", "x": "rate", "y": "saved", "series": "window", "columns": columns}
    chart = draw_figure({**figure, "rows": rows, "lines": [], "is_logarithmic": False})
    assert chart is not None
    points = chart.to_dict()["layer"][-1]["encoding"]
    looks = list(zip(*(points[name]["scale"]["range"] for name in ("color", "shape")), strict=True))
    assert len({shape for _, shape in looks}) == len(looks) == 12


NAME = "round trips of the networks that stand for all the lines of the world"


def long_names(series: str | None) -> dict[str, Any]:
    """A forest plot of two inputs with long names, and a line with a label."""
    columns = [
        {"id": name, "title": name, "unit": "", "kind": kind}
        for name, kind in (("input", "text"), ("end", "text"), ("saved", "interval"))
    ]
    saved = {"estimate": 1.0, "lower": 0.5, "upper": 1.5}
    rows = [
        {"input": name, "end": end, "saved": saved}
        for name in (NAME, "queues of the same networks, in bytes")
        for end in ("low", "high")[: 2 if series else 1]
    ]
    lines = [{"value": 0.0, "label": "no change"}, {"value": 1.0, "label": "worthwhile"}]
    kind = {"drawing": "forest", "x": "saved", "y": "input", "series": series, "is_logarithmic": False}
    return {**kind, "columns": columns, "rows": rows, "lines": lines}


def drawn(figure: dict[str, Any], *, is_narrow: bool) -> str:
    chart = draw_figure(figure, is_narrow=is_narrow)
    assert chart is not None
    return svg(chart)


@pytest.mark.parametrize("series", [None, "end"])
def test_a_long_name_stands_beside_its_rows_left_of_every_line(series: str | None) -> None:
    figure = long_names(series)
    wide = drawn(figure, is_narrow=False)
    assert is_wide(figure)
    names = re.findall(r'translate\((-[\d.]+),[\d.]+\)"[^>]*>([^<]+)<', wide)
    assert [name for _, name in names][:2] == [
        "round trips of the networks that stand for",
        "all the lines of the world",
    ]
    # Six pixels for each letter end left of the plot, where the lines begin.
    assert all(float(left) + 6 * len(name) < 0 for left, name in names)
    assert f'aria-label="{NAME}{", low" if series else ""}"' in wide


@pytest.mark.parametrize("series", [None, "end"])
def test_on_a_phone_no_line_strikes_through_the_name_above_its_rows(series: str | None) -> None:
    narrow = drawn(long_names(series), is_narrow=True)
    names = re.findall(r'translate\(0,([\d.]+)\)"[^>]*>[a-z][^<]+<', narrow)
    rules = re.findall(
        r'aria-roledescription="rule mark"[^>]*translate\([\d.]+,([\d.]+)\)"[^>]*y2="(-?[\d.]+)"', narrow
    )
    upright = [sorted((float(top), float(top) + float(length))) for top, length in rules if float(length)]
    assert len(names) == 3
    assert len(upright) == 4
    # Letters reach from 9 pixels above their base line to 3 below it.
    struck = [
        base for top, bottom in upright for base in map(float, names) if top < base + 3 and base - 9 < bottom
    ]
    assert struck == []


BUCKETS = ("to 1", "1-3", "3-10", "10-30", "30-100", "100-300", "above 300")


def test_labels_that_would_touch_each_other_make_a_figure_wide_and_are_slanted_on_a_phone() -> None:
    columns = [
        {"id": "rate", "title": "bandwidth", "unit": "Mbps", "kind": "text"},
        {"id": "ms", "title": "time", "unit": "ms", "kind": "number"},
    ]
    figure: dict[str, Any] = {
        "drawing": "intervals",
        "x": "rate",
        "y": "ms",
        "series": None,
        "is_logarithmic": False,
        "columns": columns,
        "lines": [],
        "rows": [{"rate": one, "ms": 1.0} for one in BUCKETS],
    }
    assert is_wide(figure)
    assert not is_wide({**figure, "rows": figure["rows"][:4]})
    wide, narrow = drawn(figure, is_narrow=False), drawn(figure, is_narrow=True)
    assert "rotate(320)" not in wide
    assert narrow.count("rotate(320)") == len(BUCKETS)


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
