import io
import itertools
import random
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from releases.build import write_computed
from releases.catalogue import Release
from releases.cdf import read_cdfs
from reports.document.curve_marks import A_CURVE, MARKERS, marked
from reports.document.size_figures import cdf_figure, curve, thinned
from reports.document.theme import CURVES, THEMES, Theme, png, svg
from reports.sections.sizes.size_queries import SLICES
from schema.computed_tables import MEASURES
from tests.factories.made_up_crawl import NAME, MadeUp, release_of, write_tables

pytestmark = pytest.mark.process


PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """3,000 responses, nearly all of different sizes; one in ten is incomplete."""
    folder = tmp_path_factory.mktemp("release")
    chance = random.Random(1)
    made_up = MadeUp()
    for _ in range(30):
        made_up.add_visit()
        for _ in range(10):
            made_up.add_connection(tls_handshake_bytes=chance.choice([None, 3000]), window=10)
            for position in range(10):
                made_up.add_response(
                    int(chance.lognormvariate(8, 2)) + 100,
                    sent_ms=100 + 60 * position,
                    first_ms=150 + 60 * position,
                    is_complete=position < 9,
                )
    write_tables(folder, made_up)
    write_computed(folder, NAME.kind)
    return release_of(folder)


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
    keep = thinned(sizes, cumulative, thresholds=thresholds, slices=slices)
    assert keep.sum() <= 2 * slices + 2 + 2 * len(thresholds)
    assert keep[0]
    assert keep[-1]

    def drawn(size: int) -> float:
        """The value of the drawn step curve."""
        place = int(np.searchsorted(sizes[keep], size, side="right"))
        return cumulative[keep][place - 1] / cumulative[-1] if place else 0.0

    def true(size: int) -> float:
        return float(cumulative[sizes <= size].max(initial=0) / cumulative[-1])

    for threshold in thresholds:
        assert drawn(threshold) == true(threshold)
    for size in sizes.tolist():
        assert 0 <= true(size) - drawn(size) < 1 / slices


def test_nothing_thins_to_nothing() -> None:
    empty = np.array([], np.int64)
    assert not len(thinned(empty, empty, thresholds=[10]))


def test_a_curve_has_a_few_hundred_points_and_the_exact_share_at_each_window(release: Release) -> None:
    cdf = read_cdfs(release.file("distribution"))["responses"]
    points = curve(cdf, "responses", thresholds=[4290, 14_300])
    assert len(points) <= 2 * SLICES + 7
    for iw in (3, 10):
        seen = max(point["cdf"] for point in points if point["size"] <= iw * 1430)
        assert seen == cdf.fit(iw, mss=1430).share
    assert points[0]["cdf"] == 0
    assert points[-1]["cdf"] == 1


def test_the_svg_is_self_contained_and_names_every_window(release: Release) -> None:
    drawn = svg(cdf_figure(release, windows=(3, 10, 16), note="recorded <web> & more"))
    ET.fromstring(drawn)
    assert not re.search(
        r"href|url\(|<image|<script|@import", drawn.replace("http://www.w3.org/1999/xlink", "")
    )
    for text in (
        ">IW 3<",
        ">10<",
        ">16<",
        "pages",
        "&lt;web&gt; &amp;",
    ):
        assert text in drawn


def test_the_mss_moves_the_windows(release: Release) -> None:
    places = [rule_at(svg(cdf_figure(release, windows=(10,), mss=mss))) for mss in (1220, 1448)]
    assert places[0] < places[1]


def rule_at(drawn: str) -> float:
    """Place of the first window's line along the axis, in pixels."""
    found = re.search(r'aria-label="IW \d+" role="graphics-symbol"[^>]*translate\(([\d.]+),', drawn)
    assert found
    return float(found[1])


def test_the_lines_stand_where_the_axis_says(release: Release) -> None:
    drawn = svg(cdf_figure(release, measures=["responses"], windows=(10,), mss=1000))
    # Each grid line is a power of ten, and the rule stands at 10,000.
    grid = re.search(r'role-axis-grid" pointer-events="none">(.*?)</g>', drawn)
    assert grid
    assert rule_at(drawn) in [float(x) for x in re.findall(r"translate\((\d+),-340\)", grid[1])]


def test_all_measures_fit_into_one_figure(release: Release) -> None:
    known = [
        one for one in MEASURES if not one.startswith("responses_derived")
    ]  # nothing of a crawl is derived
    chart = cdf_figure(release, measures=list(MEASURES), windows=(3, 10))
    assert svg(chart).count('aria-roledescription="line mark"') == len(known)
    for measure in known:
        assert f">{CURVES[measure].label}</text>" in svg(chart)


def test_curves_differ_without_colour_in_dashes_and_in_markers(release: Release) -> None:
    drawn = svg(cdf_figure(release))
    headline = ("responses", "responses_iw_limited", "first_flights", "pages")
    assert len(set(zip((CURVES[one].dash for one in headline), MARKERS, strict=False))) == len(headline)
    # Circle, square, triangle and diamond: each stands on its curve and in the key.
    markers = re.findall(r'aria-roledescription="point"[^>]*? d="([^"]*)"', drawn)
    assert len(set(markers)) == len(headline)
    assert all(markers.count(one) >= 2 for one in markers)


def test_a_curve_has_its_markers_at_heights_of_its_own() -> None:
    points = [{"cdf": at / 1000} for at in range(1001)]
    heights = [[one["cdf"] for one in marked(points, "cdf", place=place, places=4)] for place in range(4)]
    assert all(len(some) == A_CURVE for some in heights)
    every = sorted(height for some in heights for height in some)
    assert min(after - before for before, after in itertools.pairwise(every)) > 0.03


def test_a_band_is_drawn_between_its_ends(release: Release) -> None:
    label = CURVES["responses"].label
    band = [{"measure": label, "size": size, "lower": 0.25, "upper": 0.75} for size in (1_000, 100_000)]
    plain, with_band = (svg(cdf_figure(release, measures=["responses"], bands=some)) for some in ([], band))
    assert "mark-area" not in plain
    (path,) = re.findall(r'mark-area[^>]*>.*?<path [^>]*d="([^"]*)"', with_band)
    heights = {float(y) for y in re.findall(r"[ML][\d.]+,([\d.]+)", path)}
    assert heights == {0.25 * 340, 0.75 * 340}


def test_a_measure_without_items_is_left_out(tmp_path: Path) -> None:
    made_up = MadeUp()
    made_up.add_visit()
    made_up.add_connection()
    made_up.add_response(1000)
    write_tables(tmp_path, made_up)
    write_computed(tmp_path, NAME.kind)
    drawn = svg(cdf_figure(release_of(tmp_path), measures=["responses", "tls_flights"]))
    assert "all responses" in drawn
    assert "TLS flights" not in drawn


def test_a_release_without_a_good_visit_still_draws_its_windows(tmp_path: Path) -> None:
    made_up = MadeUp()
    made_up.add_visit(outcome="dns")
    write_tables(tmp_path, made_up)
    write_computed(tmp_path, NAME.kind)
    assert ">IW 3<" in svg(cdf_figure(release_of(tmp_path)))


def test_drawing_twice_gives_the_same_bytes(release: Release) -> None:
    first, again = (cdf_figure(release) for _ in range(2))
    assert svg(first) == svg(again)
    assert png(first, scale=1) == png(again, scale=1)
    assert png(first, scale=1).startswith(PNG_SIGNATURE)


def test_a_png_has_a_palette_white_ground_and_the_colours_of_its_drawing(release: Release) -> None:
    with Image.open(io.BytesIO(png(cdf_figure(release, measures=["responses"]), scale=1))) as opened:
        assert opened.mode == "P"
        picture = opened.convert("RGB")
    assert picture.getpixel((0, 0)) == (255, 255, 255)
    curve = tuple(bytes.fromhex(CURVES["responses"].light.removeprefix("#")))
    (there,) = {
        colour
        for _, colour in picture.getcolors(256) or ()
        if isinstance(colour, tuple) and max(abs(a - b) for a, b in zip(colour, curve, strict=True)) <= 2
    }
    assert there


def test_light_and_dark_differ_in_nothing_but_colour(release: Release) -> None:
    light, dark = (svg(cdf_figure(release, theme=theme)) for theme in THEMES)
    assert light != dark
    assert re.sub(r"#[0-9a-f]{6}|rgb\([^)]*\)", "", light) == re.sub(r"#[0-9a-f]{6}|rgb\([^)]*\)", "", dark)


def luminance(colour: str) -> float:
    """WCAG 2."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.id)
def test_every_colour_stands_out_from_its_background(theme: Theme) -> None:
    ground = luminance(theme.background)
    assert theme.palette.keys() == MEASURES.keys()
    for colour, least in [(theme.ink, 7.0), *((colour, 3.0) for colour in theme.palette.values())]:
        darker, lighter = sorted((ground, luminance(colour)))
        assert (lighter + 0.05) / (darker + 0.05) >= least
