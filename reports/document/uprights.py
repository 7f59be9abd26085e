"""Upright lines at initial windows, with their names above the plot: lines lie close to each other,
names never do."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from reports.document.theme import LIGHT

NAME_TOP, LEADER_TOP, LEADER_FOOT = -22, -15, -4
"""Heights of the middle of a name, and of the ends of the line that leads from it to its upright,
in pixels from the top of the plot."""

LETTER, APART = 6.5, 8.0
"""Width of a letter and the room between two names, in pixels: rather too much."""


def uprights(
    lines: Sequence[Mapping[str, Any]],
    *,
    domain: tuple[float, float],
    is_logarithmic: bool,
    width: int,
    height: int,
    ink: str = LIGHT.ink,
) -> Iterator[alt.Chart]:
    """Each line with its label, in a plot of this size whose horizontal axis has this domain.

    A window after the first is named by its number alone, as "IW 3  6  10".
    """
    ordered = sorted(lines, key=lambda line: float(line["value"]))
    scaled = math.log10 if is_logarithmic else float
    low, high = (scaled(end) for end in domain)
    places = [width * (scaled(line["value"]) - low) / (high - low) for line in ordered]
    names = [str(line["label"]) for line in ordered]
    names = [*names[:1], *(name.removeprefix("IW ") for name in names[1:])]
    named = spread(places, [LETTER * len(name) + APART for name in names], within=width)
    for line, name, x, above in zip(ordered, names, places, named, strict=True):
        base = alt.Chart(alt.InlineData(values=[{"name": name, "window": line["label"]}]))
        heard = alt.Description("window:N")
        stroke: dict[str, Any] = {"color": ink, "strokeWidth": 1}
        yield base.mark_rule(**stroke, strokeDash=[4, 3]).encode(
            x=alt.XValue(x), y=alt.YValue(LEADER_FOOT), y2=alt.Y2Value(height), description=heard
        )
        yield base.mark_rule(**stroke, aria=False).encode(
            x=alt.XValue(above), y=alt.YValue(LEADER_TOP), x2=alt.X2Value(x), y2=alt.Y2Value(LEADER_FOOT)
        )
        yield base.mark_text(baseline="middle", color=ink, fontSize=12).encode(
            x=alt.XValue(above), y=alt.YValue(NAME_TOP), text=alt.Text("name:N")
        )


def spread(places: Sequence[float], widths: Sequence[float], *, within: float) -> list[float]:
    """Middles of labels of these widths near their places, in the same order: none covers another,
    and all lie within 0 and `within`.

    Labels that would cover each other stand side by side around the mean of their places.

    >>> spread([50, 100], [20, 20], within=200), spread([50, 54], [20, 20], within=200), spread([0, 4], [20, 20], within=200)
    ([50.0, 100.0], [42.0, 62.0], [10.0, 30.0])
    """  # noqa: E501
    # A group is [sum of the places that its first label would have, labels, width];
    # groups that touch are merged.
    groups: list[tuple[float, int, float]] = []
    for place, width in zip(places, widths, strict=True):
        first, count, long = place - width / 2, 1, width
        while groups and _left(groups[-1], within) + groups[-1][2] > _left((first, count, long), within):
            before = groups.pop()
            first, count, long = before[0] + first - count * before[2], before[1] + count, before[2] + long
        groups.append((first, count, long))
    starts = list(itertools.accumulate(widths, initial=0.0))
    middles: list[float] = []
    for group in groups:
        at = len(middles)
        left = _left(group, within) - starts[at]
        middles += [left + starts[place] + widths[place] / 2 for place in range(at, at + group[1])]
    return middles


def _left(group: tuple[float, int, float], within: float) -> float:
    """Left end of a group of labels."""
    total, count, width = group
    return max(0.0, min(total / count, within - width))
