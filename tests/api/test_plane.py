"""The plane of gain and cost: every window at its place, and no name over another or beyond the picture."""

import itertools
from typing import Any

import pytest

from api.plane import LETTER, LINE, Name, draw_plane


def candidate(window: object, gain: float, cost: float, verdict: str) -> dict[str, Any]:
    ends = {"gain_percent": (gain, 0.6), "resent_pp": (cost, 0.1)}
    return {
        "window": window,
        "verdict": verdict,
        **{
            name: {"estimate": value, "lower": value - wide, "upper": value + wide}
            for name, (value, wide) in ends.items()
        },
    }


VERDICT: dict[str, Any] = {
    "rule": {"price_pp": 0.077, "worthwhile_percent": 1.0},
    "candidates": [
        candidate(3, -4.9, -0.3, "not worth it"),
        candidate("16 paced", 2.9, 0.29, "open"),
        candidate(16, 2.7, 0.38, "not worth it"),
        candidate("20 paced", 4.1, 0.44, "worth it"),
        candidate(30, 5.2, 1.3, "not worth it"),
        candidate("32 paced", 5.8, 1.33, "not worth it"),
    ],
}


def edges(name: Name) -> tuple[float, float]:
    wide = LETTER * len(name.text)
    left = name.x - {"start": 0, "end": wide, "middle": wide / 2}[name.anchor]
    return left, left + wide


@pytest.mark.parametrize("is_wide", [True, False])
def test_names_of_windows_hide_neither_each_other_nor_leave_the_picture(is_wide: bool) -> None:
    drawn = draw_plane(VERDICT, is_wide=is_wide)
    names = [*(one.name for one in drawn.windows), *(name for name, *_ in drawn.steps)]
    for name in names:
        assert edges(name)[0] >= 0
        assert edges(name)[1] <= drawn.width
    for one, other in itertools.combinations(names, 2):
        (left, right), (other_left, other_right) = edges(one), edges(other)
        assert abs(one.y - other.y) >= LINE - 4 or right <= other_left or other_right <= left, (one, other)


def test_windows_have_the_style_of_their_verdict_and_those_that_save_nothing_are_named_below() -> None:
    drawn = draw_plane(VERDICT, is_wide=True)
    assert [(one.name.text, one.style, one.is_paced) for one in drawn.windows] == [
        ("IW 16 paced", "open", True),
        ("IW 16", "not", False),
        ("IW 20 paced", "worth", True),
        ("IW 30", "not", False),
        ("IW 32 paced", "not", True),
    ]
    assert drawn.left_out == ("IW\u00a03",)
    by_gain = sorted(drawn.windows, key=lambda one: one.x)
    assert [one.name.text for one in by_gain][:2] == ["IW 16", "IW 16 paced"]
    for one in drawn.windows:
        assert one.gain[0] < one.x < one.gain[1]
        assert one.cost[1] < one.y < one.cost[0]
