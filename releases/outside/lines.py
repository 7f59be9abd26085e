"""Outside series as lines: the points of one client and scope, cut at the publisher's own breaks."""

import dataclasses
import itertools
from collections.abc import Sequence

from releases.outside.points import Point
from releases.outside.series import BREAKS, KINDS, Break


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SeriesLine:
    """Points of one series, client and scope."""

    series: str
    client: str
    scope: str
    pieces: tuple[tuple[Point, ...], ...]
    """Points between two breaks, which alone may be joined; yearly ones are a piece each."""
    breaks: tuple[Break, ...]


def draw_lines(points: Sequence[Point], series: str) -> list[SeriesLine]:
    groups: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        if point.series == series:
            groups.setdefault((point.client, point.scope), []).append(point)
    return [draw_line(series, client, scope, own) for (client, scope), own in sorted(groups.items())]


def draw_line(series: str, client: str, scope: str, own: Sequence[Point]) -> SeriesLine:
    is_yearly = KINDS[series].is_yearly
    first, last = own[0].date, own[-1].date
    breaks = tuple(
        break_
        for break_ in BREAKS
        if client in break_.clients
        and (not break_.series or series in break_.series)
        and first < break_.date <= last
        and (break_.is_yearly_too or not is_yearly)
    )
    pieces: list[tuple[Point, ...]]
    if is_yearly:
        pieces = [(point,) for point in own]
    else:
        dates = ["", *(break_.date for break_ in breaks), "9999"]
        between = (
            tuple(point for point in own if begin <= point.date < end)
            for begin, end in itertools.pairwise(dates)
        )
        pieces = [piece for piece in between if piece]
    return SeriesLine(series=series, client=client, scope=scope, pieces=tuple(pieces), breaks=breaks)
