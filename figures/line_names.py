"""Places of names on the lines of a figure: each is nearer to its own line than to any other."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from figures.frame import TEXT
from figures.text import LEADING, text_width

GAP = 7.0

NEAR, APART = 14.0, 6.0
"""Pixels within which a name is to its line, and by which others are farther."""

CLEAR = 3.0

WIDER = 1.2
"""How much wider a name may be in a browser's fonts."""

SPACING = 3.0
"""Pixels from one point to the next at which a line is looked at."""

FREE = 40.0
"""Pixels to other lines beyond which room is enough."""

Points = NDArray[np.float64]


def place_names(
    lines: Mapping[str, Sequence[tuple[float, float]]],
    *,
    width: float,
    height: float,
    uprights: Sequence[float],
    horizontals: Sequence[float],
) -> dict[str, tuple[float, float]] | None:
    """Return the middle of the bold name of each rising line, in pixels of a plot; None unless all have room.

    No name lies over a line, over another name, or over the `uprights` and `horizontals` of the plot.

    >>> lines = {"a": [(0, 100), (50, 0)], "b": [(100, 100), (150, 0)]}
    >>> sorted(place_names(lines, width=200, height=100, uprights=[], horizontals=[]) or ())
    ['a', 'b']
    >>> place_names(lines | {"c": lines["a"]}, width=200, height=100, uprights=[], horizontals=[])
    """
    points = {name: _resampled(np.array(line, float)) for name, line in lines.items()}
    high = LEADING * TEXT
    found = {}
    for name in lines:
        half = np.array([WIDER * text_width(name, TEXT, is_bold=True), high]) / 2
        middles = _beside(points[name], half)
        low, top = middles - half - CLEAR, middles + half + CLEAR
        is_free = (low >= 0).all(axis=1) & (top <= (width, height)).all(axis=1)
        for axis, marks in enumerate((uprights, horizontals)):
            for mark in marks:
                is_free &= (top[:, axis] < mark) | (low[:, axis] > mark)
        middles = middles[is_free]
        own = _distances(middles, half, points[name])
        others = np.full(len(middles), np.inf)
        for other, line in points.items():
            if other != name:
                others = np.minimum(others, _distances(middles, half, line))
        is_clear = (own >= CLEAR) & (own <= NEAR) & (others >= own + APART)
        quality = np.minimum(others, FREE) - own - 0.1 * np.abs(middles[:, 1] - height / 2)
        best = np.argsort(-quality[is_clear], kind="stable")
        found[name] = half, middles[is_clear][best]
    placed: dict[str, tuple[Points, Points]] = {}
    for name, (half, middles) in sorted(found.items(), key=lambda item: len(item[1][1])):
        for other_half, taken in placed.values():
            middles = middles[(np.abs(middles - taken) > half + other_half + CLEAR).any(axis=1)]
        if not len(middles):
            return None
        placed[name] = half, middles[0]
    return {name: (float(middle[0]), float(middle[1])) for name, (_, middle) in placed.items()}


def _resampled(line: Points) -> Points:
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    at = np.arange(0.0, along[-1] + SPACING, SPACING)
    return np.column_stack([np.interp(at, along, line[:, axis]) for axis in (0, 1)])


def _beside(line: Points, half: Points) -> Points:
    wide, high = half
    offsets = [(GAP + wide, 0), (-GAP - wide, 0), (wide, GAP + high), (-wide, -GAP - high)]
    return np.concatenate([line + offset for offset in offsets])


def _distances(middles: Points, half: Points, line: Points) -> NDArray[np.float64]:
    outside = np.maximum(np.abs(middles[:, None] - line[None]) - half, 0.0)
    nearest: NDArray[np.float64] = np.hypot(outside[..., 0], outside[..., 1]).min(axis=1, initial=np.inf)
    return nearest
