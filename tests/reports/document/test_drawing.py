"""Figures of sections: their numbers are written as in sentences, and long names have a place."""

from __future__ import annotations

import pytest

from reports.document.drawing import draw_figure
from reports.document.theme import svg

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


@pytest.mark.parametrize("series", [None, "end"])
def test_a_name_too_long_to_stand_beside_its_row_stands_above_it(series: str | None) -> None:
    columns = [
        {"id": name, "title": name, "unit": "", "kind": kind}
        for name, kind in (("input", "text"), ("end", "text"), ("saved", "interval"))
    ]
    name = "round trips of the networks that stand for all the lines of the world"
    saved = {"estimate": 1.0, "lower": 0.5, "upper": 1.5}
    rows = [{"input": name, "end": end, "saved": saved} for end in ("low", "high")][: 2 if series else 1]
    kind = {"drawing": "forest", "x": "saved", "y": "input", "series": series}
    chart = draw_figure({**kind, "columns": columns, "rows": rows, "lines": [], "is_logarithmic": False})
    assert chart is not None
    drawn = svg(chart)
    assert ">round trips of the networks that stand for all<" in drawn
    assert ">the lines of the world<" in drawn
    assert f'aria-label="{name}{", low" if series else ""}"' in drawn
