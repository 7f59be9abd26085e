"""No name in a figure lies over another, is crossed by a line or leaves the picture, at either width."""

import dataclasses
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import vl_convert
from PIL import Image

from figures.distributions import CdfSeries, HistogramSeries, QuantileRow, cdf, histogram, quantiles
from figures.estimates import EstimateRow, bars, dots
from figures.frame import DESK, PHONE, AltairChart, Frame, Upright
from figures.months import Monthly, by_month
from figures.rendering import SIDES, svg
from figures.series import SlopeLine, YearSeries, YearValue, over_time, slope
from figures.text import text_width
from figures.theme import FONT
from figures.waterfall import WaterfallLoad, WaterfallRow, waterfalls
from reports.content import read_published
from reports.document.pictures import draw_pictures
from reports.document.plane import draw_plane
from reports.document.report import SLIDE_DRAWING, draw
from reports.forms.brief import brief_of
from tests.factories.svg_boxes import faults

pytestmark = pytest.mark.process

EDITION = Path(__file__).parents[2] / "editions" / "2026" / "report.json"
WINDOWS = [Upright(value=iw * 1430, label=f"IW {iw}") for iw in (3, 10, 16, 30)]
SIZES = [(10.0**power, 12.5 * (power - 1)) for power in (1, 2, 3, 4, 5, 6, 7, 8, 9)]


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_figures_of_the_published_edition(width: int) -> None:
    assert faults_of_report(EDITION, width) == {}


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_figures_of_an_illustrative_report(made_up_report: Path, width: int) -> None:
    assert faults_of_report(made_up_report / "reports/2026/v1/report.json", width) == {}


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_pictures_to_take_of_the_published_edition(width: int) -> None:
    pictures = draw_pictures(read_published(EDITION), width=width)
    assert [each.id for each in pictures] == ["not-fitting", "saved-by-distance", "same-sites", "google-2010"]
    assert {each.id: found for each in pictures if (found := faults(svg(each.chart)))} == {}


def test_a_picture_is_a_file_in_each_form_with_its_data(made_up_report: Path) -> None:
    folder = made_up_report / "reports/2026/v1/forms/pictures"
    names = {path.name.partition(".")[0] for path in folder.iterdir()}
    assert {"not-fitting", "google-2010"} <= names
    for name in names:
        assert (folder / f"{name}.csv").read_text(encoding="utf-8").count("\n") > 2
        assert "<svg" in (folder / f"{name}.svg").read_text(encoding="utf-8")
        with Image.open(folder / f"{name}.png") as picture:
            assert picture.width == 1920


def faults_of_report(path: Path, width: int) -> dict[str, list[str]]:
    report = read_published(path)
    brief = brief_of(report)
    drawings = draw(report, brief, width)
    assert len(drawings) > 5
    drawn = {name: svg(chart) for name, chart in drawings.items()}
    drawn["slide"] = svg(draw_plane(report, brief, SLIDE_DRAWING, is_slide=True))
    return {name: found for name, drawing in drawn.items() if (found := faults(drawing))}


def frame(width: int) -> Frame:
    return Frame(
        title="A finding that is told in a sentence, which takes two lines on a phone",
        subtitle="What is drawn, and of what.",
        source="a release; pages recorded by others",
        note="illustrative: bundled pages",
        width=width,
    )


NEAR = ("responses to everybody", "responses on the first connection", "of one protocol")
"""Long names of series whose values are near each other."""

YEARS = [YearValue(at=2013 + at, value=60.0 + at, lower=50.0 + at, upper=70.0 + at) for at in range(0, 13, 4)]
APART = {
    name: [(size**0.4 * 30.0**place, share) for size, share in SIZES]
    for place, name in enumerate(("fetch", "style", "image"))
}
"""Steps of series whose lines have room for names between them."""
BINS = [(10, 100, 20.0), (100, 100_000, 80.0)]
ESTIMATES = [EstimateRow(name=name, value=at, lower=at - 1, upper=at + 1) for at, name in enumerate(NEAR)]
SPANS = {"connecting": (0.0, 80.0), "waiting": (80.0, 150.0), "receiving": (150.0, 320.0)}
ROW = WaterfallRow(title="https://site.test/page", spans=SPANS, label="site.test/a/rather/long/name.js")
LOADS = [
    WaterfallLoad(name=f"IW {iw}: 2.31 s", responses=[ROW] * 4, events={"onload": 400.0}) for iw in (10, 20)
]
KINDS: dict[str, Callable[[Frame], AltairChart]] = {
    "one curve": lambda frame: cdf(frame, [CdfSeries(name="all", steps=SIZES)], WINDOWS),
    "curves": lambda frame: cdf(frame, [CdfSeries(name=name, steps=SIZES) for name in NEAR], WINDOWS),
    "curves apart": lambda frame: cdf(
        frame, [CdfSeries(name=name, steps=APART[name]) for name in APART], WINDOWS
    ),
    "histogram": lambda frame: histogram(frame, [HistogramSeries(name="all", bins=BINS)], WINDOWS),
    "histograms": lambda frame: histogram(
        frame, [HistogramSeries(name=name, bins=BINS) for name in NEAR], WINDOWS
    ),
    "quantiles": lambda frame: quantiles(
        frame,
        [QuantileRow(name=name, quantiles={10: 900, 25: 3e3, 50: 1e4, 75: 4e4, 90: 2e5}) for name in NEAR],
        WINDOWS,
    ),
    "dots": lambda frame: dots(
        frame,
        [dataclasses.replace(each, series=f"series {each.value}") for each in ESTIMATES],
        unit="%",
        axis="saved",
        lines=[Upright(value=0, label="nothing"), Upright(value=0.2, label="a little")],
        domain=(-0.5, 2),
    ),
    "bars": lambda frame: bars(frame, ESTIMATES, unit="%", axis="saved"),
    "years": lambda frame: over_time(frame, [YearSeries(name=name, points=YEARS) for name in NEAR]),
    "months": lambda frame: by_month(
        frame,
        [f"2026-{month:02}" for month in range(1, 13)],
        [
            Monthly(name=name, parts=[[(0, 2.0 + at, None, None), (11, 2.1, None, None)]])
            for at, name in enumerate(NEAR)
        ],
        {6: "1"},
        unit="MB",
    ),
    "slope": lambda frame: slope(
        frame,
        [SlopeLine(name=name, before=60.0 + at, after=58.0 + at) for at, name in enumerate(NEAR)],
        before="2019",
        after="2025",
    ),
    "loads": lambda frame: waterfalls(frame, LOADS),
}


@pytest.mark.parametrize("width", [DESK, PHONE])
@pytest.mark.parametrize("kind", KINDS)
def test_figures_of_every_kind_are_as_wide_as_asked_for(kind: str, width: int) -> None:
    drawing = svg(KINDS[kind](frame(width)))
    assert faults(drawing) == []
    assert float(SIDES["width"].findall(drawing)[0]) == width


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_curves_with_room_between_them_are_named_on_their_lines_and_others_in_a_legend(width: int) -> None:
    on_lines, in_legend = (svg(KINDS[kind](frame(width))) for kind in ("curves apart", "curves"))
    assert [on_lines.count(f">{name}<") for name in APART] == [1] * len(APART)
    assert [in_legend.count(f">{name}<") for name in NEAR] == [1] * len(NEAR)
    assert ("role-legend-symbol" in on_lines, "role-legend-symbol" in in_legend) == (False, True)


def test_a_name_over_another_or_under_a_line_is_found() -> None:
    place = '<text transform="translate({},{})" font-size="12px">name</text>'
    names = place.format(10, 20) + place.format(12, 24)
    line = '<line transform="translate(0,18)" x2="100" y2="0" stroke="red"/>'
    root = '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50">{}</svg>'
    assert len(faults(root.format(place.format(10, 20)))) == 0
    assert len(faults(root.format(names))) == 1
    assert len(faults(root.format(names + line))) == 3
    assert len(faults(root.format(place.format(90, 20)))) == 1


@pytest.mark.parametrize("weight", ["normal", "bold"])
@pytest.mark.parametrize(
    "text",
    ["Share of responses that fit", "IW 10 holds 62\u202f% (\u22122.5 to 3\u202fpp)", "WWW.Quick-Fox.jpg"],
)
def test_widths_of_texts_are_those_that_are_drawn(text: str, weight: str) -> None:
    words = f'<text x="10" y="40" font-family="{FONT}" font-size="30" font-weight="{weight}">{text}</text>'
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="60">{words}</svg>'
    pixels = np.array(Image.open(io.BytesIO(vl_convert.svg_to_png(drawing))))[:, :, 3]
    columns = np.flatnonzero(pixels.any(axis=0))
    drawn = columns[-1] + 1 - columns[0]
    assert text_width(text, 30, is_bold=weight == "bold") == pytest.approx(drawn, rel=0.05)
