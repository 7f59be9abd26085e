import dataclasses
import itertools
import re

from api.axes import WINDOW_ROW
from api.routes.charts import chart
from api.routes.distributions import Distribution
from api.routes.pages import TEMPLATES
from api.stored.held import Points
from releases.cdf import Fit
from releases.slow_start import WINDOWS
from releases.strata.statistics import FEW_SITES


def made(points: tuple[tuple[int, float], ...]) -> Distribution:
    fits = tuple(Fit(iw, iw * 1430, 0, 0.0) for iw in (3, 10))
    drawn = Points(list(points), "")
    return Distribution(
        measure="pages",
        known=len(points),
        unknown=0,
        sites=1,
        fits=fits,
        quantiles=(),
        points=drawn,
        interval_unknown=FEW_SITES,
    )


def test_a_cdf_rises_from_0_to_1_within_the_frame() -> None:
    drawn = chart(made(((0, 0.1), (1, 0.2), (5000, 0.5), (10**9, 1.0))))
    assert drawn is not None
    heights = [float(y) for y in re.findall(r"V([-\d.]+)", drawn.path)]
    places = [float(x) for x in re.findall(r"H([-\d.]+)", drawn.path)]
    assert heights == sorted(heights, reverse=True)
    assert places == sorted(places)
    assert (drawn.left, drawn.right) == (places[0], places[-1])
    assert heights[-1] == drawn.top


def test_one_size_alone_has_a_chart() -> None:
    drawn = chart(made(((4290, 1.0),)))
    assert drawn is not None
    assert [mark.label for mark in drawn.windows] == ["3", "10"]


def test_without_a_known_size_there_is_no_chart() -> None:
    assert chart(made(())) is None


def test_a_share_of_which_most_sizes_are_unknown_is_not_stated() -> None:
    shares = TEMPLATES.get_template("shares.html").module.shares  # type: ignore[attr-defined]
    stated = made(((1, 0.5), (2, 1.0)))
    few = dataclasses.replace(stated, unknown=3)
    assert shares([stated]).count('class="fill"') == 2
    assert 'class="fill"' not in shares([few])
    assert "3 unknown" in shares([few])


def test_labels_of_windows_do_not_touch_and_lie_within_the_chart() -> None:
    """Labels of 12 px: a bold digit is about 8 px wide, and 9 px high."""
    for high in range(5, 11):
        few = made(((1, 0.2), (10**high, 1.0)))
        drawn = chart(dataclasses.replace(few, fits=tuple(Fit(iw, iw * 1430, 0, 0.0) for iw in WINDOWS)))
        assert drawn is not None
        assert [mark.label for mark in drawn.windows] == ["3", "10", "16", "30"]
        for one, other in itertools.combinations(drawn.windows, 2):
            apart = other.at - one.at >= 8 * (len(one.label) + len(other.label)) / 2
            assert one.row != other.row or apart, (high, one, other)
        assert drawn.top - 6 - WINDOW_ROW * max(mark.row for mark in drawn.windows) >= 9
