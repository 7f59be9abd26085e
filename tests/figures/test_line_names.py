"""A name on a line stands nearer to its own line than to any other, and clear of all that is drawn."""

import itertools
import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from figures.line_names import CLEAR, place_names
from figures.text import text_width

WIDTH, HEIGHT = 600.0, 330.0
TEXT_SIZE = 12


def rising(seed: int) -> list[tuple[float, float]]:
    chance = random.Random(seed)
    across = sorted(chance.uniform(0, WIDTH) for _ in range(12))
    down = sorted((chance.uniform(0, HEIGHT) for _ in range(12)), reverse=True)
    return list(zip(across, down, strict=True))


def distance(middle: tuple[float, float], half: float, line: list[tuple[float, float]]) -> float:
    spots = np.concatenate([np.linspace(a, b, 200) for a, b in itertools.pairwise(line)])
    across = np.maximum(np.abs(spots[:, 0] - middle[0]) - half, 0)
    return float(np.hypot(across, spots[:, 1] - middle[1]).min())


@given(st.lists(st.integers(), min_size=2, max_size=5, unique=True))
def test_a_name_is_nearest_to_its_own_line(seeds: list[int]) -> None:
    lines = {f"line {at}": rising(seed) for at, seed in enumerate(seeds)}
    upright, level = 200.0, 165.0
    places = place_names(lines, width=WIDTH, height=HEIGHT, uprights=[upright], horizontals=[level])
    if places is None:
        return
    for name, middle in places.items():
        half = text_width(name, TEXT_SIZE, is_bold=True) / 2
        away = {other: distance(middle, half, line) for other, line in lines.items()}
        assert min(away, key=lambda other: away[other]) == name
        assert abs(middle[0] - upright) > half + CLEAR
        assert half <= middle[0] <= WIDTH - half


def test_lines_that_lie_apart_are_named_on_them() -> None:
    lines = {f"line {at}": [(150.0 * at, HEIGHT), (150.0 * at + 80, 0.0)] for at in range(4)}
    assert place_names(lines, width=WIDTH, height=HEIGHT, uprights=[], horizontals=[]) is not None
