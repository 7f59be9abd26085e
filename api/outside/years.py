"""What fits over the years, of the recorded sets on the shelf: shares, same-site changes, their drawing."""

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import urlencode

import numpy as np

from api.axes import Mark, in_rows, scale
from api.http.problems import suppress_problems
from api.outside import larger_window
from api.routes.provenance import quality
from api.statistics.changes import read
from api.stored.library import Library
from api.stored.months import Variant
from api.stored.shelf import Shelf, Version
from recordings.pages.recording import SETS
from recordings.pages.same_sites import values_of
from releases.catalogue import Release
from releases.changes import RESPONSES, Asked, Change, Share, Values, compare_values, pooled_shares
from releases.formatting import grouped, size, stated
from releases.outside.lines import Line, draw_lines
from releases.outside.points import Point
from releases.outside.series import KINDS, Break, Statistic
from releases.slow_start import MSS_FIG1
from replay.backcast.published import SERVICES
from replay.backcast.services import sizes

ASKED = Asked(mss=MSS_FIG1)

FIRST, LAST = 2010, 2026
"""Years at the ends of the axis of time."""

PUBLISHED = 2010.4
"""Time of the curves of Google's services: the paper is of July 2010."""

SERVICE_NAMES = {"search": "web search", "maps": "Maps", "photos": "Photos and Blogger"}

LEAST_APART = 1.5
"""Least time between two sets that an arrow joins, in years."""

LEAST_MONTHS = 3
"""Months of a crawl of ours from which on it is shown."""

DRAWN = {"all": "All responses", "image": "Images"}
"""Responses that have a plot, with its title."""


HEADROOM = 1.01
"""Height of a plot over its largest value: the line does not touch the top, whatever that value."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Dot:
    """A yearly point."""

    x: float
    y: float
    said: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """One client's line of a series."""

    style: str
    """Class of its colour."""
    path: str
    """Joined points, as SVG path data; empty for yearly points."""
    dots: tuple[Dot, ...]
    """Yearly points."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Flag:
    """A break of the publisher."""

    at: float
    date: str
    said: str


def values(line: Line, statistic: Statistic) -> list[tuple[str, float]]:
    """Dates and values of a line."""
    return [
        (one.date, one.values[statistic]) for piece in line.pieces for one in piece if statistic in one.values
    ]


def curve(line: Line, statistic: Statistic, x: Callable[[str], float], y: Callable[[float], float]) -> Curve:
    """The path of a line, interrupted at every break; yearly points are dots."""
    kind = KINDS[line.series]
    label = f"{line.client}, {line.scope}" if kind.is_yearly else line.client
    if kind.is_yearly:
        dots = tuple(
            Dot(x=x(date), y=y(value), said=f"{label}, {date}: {in_unit(value, kind.unit)}")
            for date, value in values(line, statistic)
        )
        return Curve(style=line.client, path="", dots=dots)
    path = ""
    for piece in line.pieces:
        known = [(x(one.date), y(one.values[statistic])) for one in piece if statistic in one.values]
        path += "".join(f"{'L' if place else 'M'}{across} {up}" for place, (across, up) in enumerate(known))
    return Curve(style=line.client, path=path, dots=())


def in_unit(value: float, unit: str) -> str:
    """A value as the other pages write it: sizes with their unit (HTTP Archive has KB of 1,024 bytes),
    shares in percent, other numbers alone.

    >>> in_unit(0.5, "share"), in_unit(12, "requests")
    ('50\u202f%', '12')
    >>> in_unit(2000, "KB") == in_unit(2_048_000, "bytes")
    True
    """
    if unit == "share":
        return stated(round(100 * value), "%")
    if unit in ("bytes", "KB"):
        return size(round(value * (1024 if unit == "KB" else 1)))
    return grouped(round(value))


def flags(shown: Sequence[Line], x: Callable[[str], float]) -> tuple[Flag, ...]:
    """The breaks of the lines, numbered by date."""
    held: dict[str, Break] = {one.date: one for line in shown for one in line.breaks}
    return tuple(Flag(at=x(date), date=date, said=held[date].text) for date in sorted(held))


def year(date: str) -> float:
    """A date as a year and its part that has passed; months count as twelfths.

    >>> year("2012"), year("2012-07"), round(year("2012-07-15"), 3)
    (2012.0, 2012.5, 2012.538)
    """
    parts = [int(part) for part in date.split("-")]
    month = parts[1] - 1 if len(parts) > 1 else 0
    day = parts[2] - 1 if len(parts) > 2 else 0
    return parts[0] + (month + day / 31) / 12


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RecordedSet:
    """A recorded release with its shares that fit."""

    version: Version
    label: str
    """The list that its pages are of."""
    shares: tuple[Share, ...]
    values: Values

    @property
    def at(self) -> float:
        """Time of the recording, in years."""
        return year(self.version.crawl.month) + 0.5 / 12


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Two recorded sets, and what changed over the sites that both have."""

    before: RecordedSet
    after: RecordedSet
    changes: tuple[Change, ...]

    def sites(self, responses: str) -> int:
        """Sites with such responses in both."""
        return next(change.sites for change in self.changes if change.responses == responses)

    def of(self, responses: str) -> list[Change]:
        """Changes that are stated."""
        return [
            change for change in self.changes if change.responses == responses and change.change is not None
        ]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OwnMonths:
    """A crawl of ours that was repeated for several months."""

    variant: Variant
    versions: tuple[Version, ...]
    """The newest of each month that can be read, the earliest first."""

    @property
    def is_evidence(self) -> bool:
        """False for crawls of the bundled web."""
        return quality(self.versions[0].crawl) == "observed"

    @property
    def lists(self) -> dict[str, list[str]]:
        """The months of each list."""
        found: dict[str, list[str]] = {}
        for version in self.versions:
            found.setdefault(version.readable.manifest.list_id, []).append(version.crawl.month)
        return found

    @property
    def windows_query(self) -> str:
        """The query of the explorer for its months and the windows of the page."""
        windows = ",".join(map(str, ASKED.windows))
        asked = {"crawl": self.versions[-1].crawl, "measure": "responses", "iw": windows, "mss": ASKED.mss}
        return urlencode(asked)

    def series_query(self, iw: int) -> str:
        """The query of its series for a window."""
        return urlencode(dataclasses.asdict(self.variant) | {"iw": iw, "mss": ASKED.mss})


def own_months(shelf: Shelf) -> list[OwnMonths]:
    """Our own crawls that have LEAST_MONTHS or more, evidence first."""
    found: dict[Variant, list[Version]] = {}
    for name in shelf.crawls:
        version = shelf.newest(name)
        if version.is_sound and quality(version.crawl) != "recorded":
            found.setdefault(Variant.of(version.crawl), []).append(version)
    own = [
        OwnMonths(variant=variant, versions=tuple(sorted(versions, key=lambda version: version.crawl.month)))
        for variant, versions in found.items()
        if len(versions) >= LEAST_MONTHS
    ]
    return sorted(own, key=lambda one: (not one.is_evidence, str(one.variant)))


def recorded_sets(shelf: Shelf, library: Library) -> list[RecordedSet]:
    """The sets that come with the code and are on the shelf, the earliest first, without damaged ones."""
    found = []
    for version in (shelf.newest(name) for name in shelf.crawls):
        if version.is_sound and version.readable.manifest.list_id in SETS:
            with suppress_problems():
                found.append(read(library, version, functools.partial(recorded_set, version)))
    return sorted(found, key=lambda one: one.at)


def recorded_set(version: Version, release: Release) -> RecordedSet:
    """A recorded release with its shares."""
    label = (release.recording or {}).get("list_name") or release.manifest.list_id
    shares = tuple(pooled_shares(release, ASKED))
    return RecordedSet(version=version, label=label, shares=shares, values=values_of(release, ASKED))


def pairs_of(sets: Sequence[RecordedSet]) -> list[Pair]:
    """Every two sets that have enough sites in common, the longest time between them first."""
    pairs = [
        Pair(before=one, after=other, changes=tuple(compare_values(one.values, other.values, ASKED)))
        for one, other in itertools.combinations(sets, 2)
    ]
    stated = [pair for pair in pairs if any(change.change for change in pair.changes)]
    return sorted(stated, key=lambda one: one.before.at - one.after.at)


def published_shares() -> Iterator[tuple[str, int, float]]:
    """Yield service, window and share that fits of Google's services in 2010, by the digitised curves."""
    for service in SERVICES:
        shares, values = sizes(service)
        for iw in ASKED.windows:
            yield SERVICE_NAMES[service], iw, float(np.interp(iw * ASKED.mss, values, shares))


def rows(sets: Sequence[RecordedSet], pairs: Sequence[Pair]) -> Iterator[dict[str, object]]:
    """Yield the numbers of the figure and of the table."""
    columns = "what responses measure iw end list release list_after release_after sites value value_after"
    empty = dict.fromkeys((*columns.split(), "change", "lower", "upper"))
    for service, iw, value in published_shares():
        source = {"list": f"Google {service}, 2010", "release": "Dukkipati et al. 2010, Figure 1, digitised"}
        yield empty | source | {"what": "published", "measure": "share", "iw": iw, "value": value}
    for recorded_set in sets:
        of = {"list": recorded_set.label, "release": recorded_set.version.name}
        for share in recorded_set.shares:
            own = {"responses": share.responses, "iw": share.iw, "end": share.end, "sites": share.pages}
            ends = dict(zip(("value", "lower", "upper"), dataclasses.astuple(share.share), strict=True))
            yield empty | of | own | ends | {"what": "share", "measure": "share"}
    for pair in pairs:
        of = {"list": pair.before.label, "release": pair.before.version.name}
        of |= {"list_after": pair.after.label, "release_after": pair.after.version.name}
        for change in (change for kind in RESPONSES for change in pair.of(kind)):
            assert change.change is not None
            own = {name: getattr(change, name) for name in ("responses", "measure", "iw", "end", "sites")}
            ends = dict(zip(("change", "lower", "upper"), dataclasses.astuple(change.change), strict=True))
            values = {"value": change.before, "value_after": change.after}
            yield empty | of | own | values | ends | {"what": "change"}
    yield from larger_window.rows(empty)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Point2D:
    """The share of a set within a window; two ends where a header was not counted."""

    iw: int
    x: float
    lower: float
    upper: float
    ends: tuple[float, ...]
    said: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Arrow:
    """A change over the same sites, from one end or both."""

    iw: int
    shaft: str
    head: str
    is_clear: bool
    """True if the interval of neither end holds no change."""
    said: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Plot:
    """One of the figure's plots, all on one axis of time."""

    title: str
    top: int
    bottom: int
    y_marks: tuple[Mark, ...]
    points: tuple[Point2D, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    services: tuple[Point2D, ...] = ()
    curves: tuple[Curve, ...] = ()
    flags: tuple[Flag, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """The figure in one width."""

    style: str
    width: int
    height: int
    left: int
    right: int
    labels: tuple[Mark, ...]
    labels_bottom: int
    x_marks: tuple[Mark, ...]
    plots: tuple[Plot, ...]


def percent(share: float) -> str:
    """A share in percent."""
    return in_unit(share, "share")


def draw(
    sets: Sequence[RecordedSet], pairs: Sequence[Pair], weights: Sequence[Point], *, is_wide: bool
) -> Drawing:
    """The figure in a width for desktops or for phones."""
    width, left, margin, high = (1000, 56, 56, 300) if is_wide else (360, 44, 44, 250)
    right = width - margin

    def x(at: float) -> float:
        return round(left + (at - FIRST) / (LAST - FIRST) * (right - left), 1)

    marks = [Mark(x(PUBLISHED), "Google" if is_wide else "G")]
    marks += [Mark(x(one.at), one.label if is_wide else letter) for letter, one in lettered(sets).items()]
    labels = in_rows(marks)
    top = 14 * (1 + max(mark.row for mark in labels)) + 30
    plots = []
    for kind, title in DRAWN.items():
        plots.append(share_plot(kind, title, sets, pairs, x, top=top, bottom=top + high))
        top += high + 44
    plots.append(weight_plot(weights, x, top=top, bottom=top + high // 2))
    return Drawing(
        style="for-desktops" if is_wide else "for-phones",
        width=width,
        height=top + high // 2 + 26,
        left=left,
        right=right,
        labels=labels,
        labels_bottom=plots[0].top - 22,
        x_marks=tuple(Mark(x(one), str(one)) for one in range(FIRST, LAST + 1, 2 if is_wide else 4)),
        plots=tuple(plots),
    )


def lettered(sets: Sequence[RecordedSet]) -> dict[str, RecordedSet]:
    """The sets by a letter each."""
    return {chr(ord("A") + place): one for place, one in enumerate(sets)}


def share_plot(
    kind: str,
    title: str,
    sets: Sequence[RecordedSet],
    pairs: Sequence[Pair],
    x: Callable[[float], float],
    *,
    top: int,
    bottom: int,
) -> Plot:
    """Shares of responses of one kind, and changes over the same sites."""

    def y(share: float) -> float:
        return round(bottom - share * (bottom - top), 1)

    services = [
        Point2D(
            iw=iw,
            x=x(PUBLISHED + shift),
            lower=y(share),
            upper=y(share),
            ends=(y(share),),
            said=f"Google {service}, 2010, IW {iw}: {percent(share)}",
        )
        for service, iw, share in published_shares()
        for shift in [0.35 * (list(SERVICE_NAMES.values()).index(service) - 1)]
    ]
    return Plot(
        title=title,
        top=top,
        bottom=bottom,
        y_marks=tuple(Mark(y(share / 100), percent(share / 100)) for share in range(0, 101, 20)),
        points=tuple(point for recorded_set in sets for point in points_of(recorded_set, kind, x, y)),
        arrows=tuple(arrow for pair in longest(pairs, kind) for arrow in arrows_of(pair, kind, x, y)),
        services=tuple(services) if kind == "all" else (),
    )


def points_of(
    one: RecordedSet, kind: str, x: Callable[[float], float], y: Callable[[float], float]
) -> Iterator[Point2D]:
    """Yield a set's points, a window each."""
    for iw in ASKED.windows:
        own = [share for share in one.shares if (share.responses, share.iw) == (kind, iw)]
        if not own:
            continue
        ends = sorted(share.share.estimate for share in own)
        yield Point2D(
            iw=iw,
            x=x(one.at),
            lower=y(min(share.share.lower for share in own)),
            upper=y(max(share.share.upper for share in own)),
            ends=tuple(y(end) for end in ends),
            said=f"{one.label}, {one.version.crawl.month}, IW {iw}: {' or '.join(map(percent, ends))}",
        )


def longest(pairs: Sequence[Pair], kind: str) -> Iterator[Pair]:
    """Yield for each set the pair with the set, LEAST_APART later, that has most sites in common with it."""
    for name in dict.fromkeys(pair.before.version.name for pair in pairs):
        own = [
            pair
            for pair in pairs
            if pair.before.version.name == name
            and pair.after.at - pair.before.at > LEAST_APART
            and pair.of(kind)
        ]
        if own:
            yield max(own, key=lambda pair: pair.sites(kind))


def arrows_of(
    pair: Pair, kind: str, x: Callable[[float], float], y: Callable[[float], float]
) -> Iterator[Arrow]:
    """Yield a pair's arrows, a window each: a wedge where the first year has two ends."""
    for iw in ASKED.windows:
        own = [one for one in pair.of(kind) if one.measure == "share" and one.iw == iw]
        if not own:
            continue
        begins, ends = [y(one.before or 0) for one in own], [y(one.after or 0) for one in own]
        from_x, to_x = x(pair.before.at) + 6, x(pair.after.at) - 7
        end = sum(ends) / len(ends)
        # A wedge is drawn where the ends are told apart, else a line.
        middle = sum(begins) / len(begins)
        angle = math.atan2(end - middle, to_x - from_x)
        corners = [
            (to_x - 9 * math.cos(angle + turn), end - 9 * math.sin(angle + turn)) for turn in (-0.4, 0.4)
        ]
        said = [f"{percent(one.before or 0)} to {percent(one.after or 0)}" for one in own]
        yield Arrow(
            iw=iw,
            shaft=f"M{from_x} {begins[0]}L{to_x:.1f} {ends[0]}L{to_x:.1f} {ends[-1]}L{from_x} {begins[-1]}Z",
            head=f"M{to_x:.1f} {end:.1f}"
            + "".join(f"L{across:.1f} {down:.1f}" for across, down in corners)
            + "Z",
            is_clear=all(one.change and one.change.lower * one.change.upper > 0 for one in own),
            said=f"{pair.sites(kind)} sites, {pair.before.version.crawl.month} to "
            f"{pair.after.version.crawl.month}, IW {iw}: {' or '.join(dict.fromkeys(said))}",
        )


def weight_plot(points: Sequence[Point], x: Callable[[float], float], *, top: int, bottom: int) -> Plot:
    """HTTP Archive's median weight of a page."""
    shown = [line for name in ("page-weight", "almanac-page_bytes") for line in draw_lines(points, name)]
    largest = max((value for line in shown for _, value in values(line, "p50")), default=1.0)
    step, most = scale(HEADROOM * 1.024 * largest / 1000, steps=4)

    def y(value: float) -> float:
        return round(bottom - 1.024 * value / 1000 / most * (bottom - top), 1)

    def across(date: str) -> float:
        return x(year(date))

    return Plot(
        title="Weight of the median page, by HTTP Archive",
        top=top,
        bottom=bottom,
        y_marks=tuple(
            Mark(y(step * place * 1000 / 1.024), in_unit(step * place * 1e6, "bytes"))
            for place in range(round(most / step) + 1)
        ),
        curves=tuple(curve(line, "p50", across, y) for line in shown),
        flags=flags(shown, across),
    )


def in_table(pairs: Sequence[Pair]) -> list[Mapping[str, object]]:
    """The rows of the table: of each kind of responses and pair every end."""
    found: list[Mapping[str, object]] = []
    for kind in ("all", "main", "image"):
        for pair in pairs:
            own = pair.of(kind)
            for end in dict.fromkeys(one.end for one in own):
                cells = {(one.measure, one.iw): one for one in own if one.end == end}
                found.append({"pair": pair, "kind": RESPONSES[kind], "end": end, "cells": cells})
    return found
