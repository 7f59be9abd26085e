"""The charts of `/over-the-years`: shares that fit and weights of pages by year, and what a larger window
does to pages of two years."""

import math
from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from api.charts import (
    NARROW,
    WIDE,
    Chart,
    Mark,
    Plot,
    Scale,
    dot,
    element,
    in_rows,
    joined,
    line,
    path,
    plot_width,
    round_axis,
    share_marks,
    share_scale,
    steps_between,
    text,
)
from api.outside.larger_window import COMPARED, is_clear
from api.outside.years import (
    RECORDED_WINDOWS,
    Pair,
    RecordedSet,
    in_year,
    letter_sets,
    published_shares,
)
from releases.formatting import interval_text, number, percent, size, stated
from releases.outside.lines import Line, draw_lines
from releases.outside.points import Point
from releases.outside.series import KINDS
from verdict.two_years import AFTER, ALL, BEFORE, SAME, Comparison

FIRST, LAST = 2010, 2026
"""Years at the ends of the axis of time."""

PUBLISHED = 2010.4
"""Time of the curves of Google's services: the paper is of July 2010."""

SERVICES_APART = 0.35
"""Years between the marks of two services, which are of one time."""

LEAST_APART = 0.9
"""Least time between two sets that an arrow joins, in years."""

SHOWN = {"all": "All responses", "image": "Images"}
"""Responses that have a plot, with its title."""

PICTURED = (3, 10, 30)
"""Windows of the picture for other pages."""

STYLES = {3: 3, 10: 0, 16: 2, 30: 1}
"""Style of each window in segments."""

HEIGHTS = {WIDE: 300, NARROW: 250}
"""Height of a plot by the width of the chart."""

LABEL_ROOM = 24
"""Room for the names of windows beside the last set, in CSS pixels."""

HEADROOM = 1.01
"""Height of the plot of weights over its largest value, so that the line does not touch the top."""

KILOBYTE = 1024
"""Bytes of HTTP Archive's KB."""

CLIENTS = {"desktop": 0, "both": 0, "mobile": 1}
"""Style of each client."""


def draw_picture(sets: Sequence[RecordedSet], pairs: Sequence[Pair], *, width: int) -> Chart:
    """The chart of shares of all responses by year, for other pages."""
    height = 380 if width > NARROW else 210
    return Chart(
        title=f"Share of responses that fit into {', '.join(map(str, PICTURED))} segments, by year",
        width=width,
        plots=[draw_shares("all", sets, pairs, width=width, height=height, windows=PICTURED)],
        notes="Arrows: the same sites; dashed if chance may explain it. Dots: lists of sites, two ticks "
        "where headers were not counted. Diamonds: three services of Google.",
    )


def draw_years(
    sets: Sequence[RecordedSet], pairs: Sequence[Pair], weights: Sequence[Point], *, width: int
) -> Chart:
    """The chart of shares of each kind of responses and of weights of pages, on one axis of time."""
    height, x = HEIGHTS[width], _time(width)
    is_wide = width > NARROW
    lists = [Mark(x(PUBLISHED), "Google")]
    lists += [
        Mark(x(recorded.at), recorded.label if is_wide else letter)
        for letter, recorded in letter_sets(sets).items()
    ]
    plots = [
        draw_shares(kind, sets, pairs, width=width, height=height, lists=lists if kind == "all" else ())
        for kind in SHOWN
    ]
    return Chart(
        title="Share of responses that fit into 3, 10, 16 and 30 segments, by year, and the weight of pages",
        width=width,
        plots=[*plots, draw_weights(weights, width=width, height=height // 2)],
    )


def _time(width: float) -> Scale:
    return Scale(low=FIRST, high=LAST, length=plot_width(width) - LABEL_ROOM)


def _year_marks(width: float) -> list[Mark]:
    x = _time(width)
    return [Mark(x(year), str(year)) for year in range(FIRST, LAST + 1, 2 if width > NARROW else 4)]


def draw_shares(
    kind: str,
    sets: Sequence[RecordedSet],
    pairs: Sequence[Pair],
    *,
    width: int,
    height: int,
    windows: Sequence[int] = RECORDED_WINDOWS,
    lists: Sequence[Mark] = (),
) -> Plot:
    """The plot of shares of one kind of responses, with the changes over the same sites; `lists` are the
    names of the sets above it."""
    x, y = _time(width), share_scale(height)
    name = SHOWN[kind] if windows == RECORDED_WINDOWS else ""
    plot = Plot(width=x.length, height=height, name=name, y_title="↑ share of responses that fit")
    plot.add_axes(_year_marks(width), share_marks(y))
    plot.add_uprights(in_rows(lists), look="list")
    for pair in longest_pairs(pairs, kind):
        plot.add(*draw_arrows(pair, kind, windows, x, y))
    for place, (service, shares) in enumerate(published_shares().items() if kind == "all" else ()):
        across = x(PUBLISHED + SERVICES_APART * (place - 1))
        for iw in windows:
            words = element("title", f"Google {service}, 2010, IW {iw}: {percent(shares[iw])}")
            diamond = f"M{across} {round(y(shares[iw]) - 5, 1)}l4 5l-4 5l-4 -5Z"
            plot.add(path(diamond, f"c{STYLES[iw]} hollow", words))
    for recorded in sets:
        plot.add(*draw_set(recorded, kind, windows, x, y, is_last=recorded is sets[-1]))
    return plot


def draw_set(
    recorded: RecordedSet, kind: str, windows: Sequence[int], x: Scale, y: Scale, *, is_last: bool
) -> Iterator[Markup]:
    """Yield the share of a set within each window: a dot, or two ticks where a header was not counted."""
    across = x(recorded.at)
    for iw in windows:
        own = [share.share for share in recorded.shares if (share.responses, share.iw) == (kind, iw)]
        if not own:
            continue
        ends = sorted(share.estimate for share in own)
        words = (
            f"{recorded.label}, {recorded.version.crawl.month}, IW {iw}: {' or '.join(map(percent, ends))}"
        )
        lower, upper = min(share.lower for share in own), max(share.upper for share in own)
        parts = [line(across, y(lower), across, y(upper), f"c{STYLES[iw]} whisker")]
        if len(ends) > 1:
            parts += [line(across - 5, y(end), across + 5, y(end), f"c{STYLES[iw]}") for end in ends]
        else:
            parts.append(dot(across, y(ends[0]), f"b{STYLES[iw]}", radius=3.5))
        yield element("g", element("title", words), *parts)
        if is_last:
            yield text(f"IW {iw}", across + 8, y(ends[0]) + 4, f"b{STYLES[iw]} whole")


def longest_pairs(pairs: Sequence[Pair], kind: str) -> Iterator[Pair]:
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


def draw_arrows(pair: Pair, kind: str, windows: Sequence[int], x: Scale, y: Scale) -> Iterator[Markup]:
    """Yield a pair's arrow for each window: a wedge where the first year has two ends."""
    for iw in windows:
        own = [change for change in pair.of(kind) if change.measure == "share" and change.iw == iw]
        if not own:
            continue
        begins, ends = [y(change.before or 0) for change in own], [y(change.after or 0) for change in own]
        from_x, to_x = x(pair.before.at) + 6, round(x(pair.after.at) - 7, 1)
        end = sum(ends) / len(ends)
        angle = math.atan2(end - sum(begins) / len(begins), to_x - from_x)
        corners = "".join(
            f"L{to_x - 9 * math.cos(angle + turn):.1f} {end - 9 * math.sin(angle + turn):.1f}"
            for turn in (-0.4, 0.4)
        )
        changes = [f"{percent(change.before or 0)} to {percent(change.after or 0)}" for change in own]
        months = " to ".join(recorded.version.crawl.month for recorded in (pair.before, pair.after))
        words = f"{pair.sites(kind)} sites, {months}, IW {iw}: {' or '.join(dict.fromkeys(changes))}"
        is_unclear = any(not change.change or not is_clear(change.change) for change in own)
        look = f"c{STYLES[iw]} b{STYLES[iw]} shaft{' unclear' * is_unclear}"
        shaft = f"M{from_x} {begins[0]}L{to_x} {ends[0]}L{to_x} {ends[-1]}L{from_x} {begins[-1]}Z"
        head = f"M{to_x} {end:.1f}{corners}Z"
        yield element("g", element("title", words), path(shaft, look), path(head, f"b{STYLES[iw]} head"))


def draw_weights(points: Sequence[Point], *, width: int, height: int) -> Plot:
    """The plot of HTTP Archive's median weight of a page: lines by crawl, and dots by year."""
    shown = [line for name in ("page-weight", "almanac-page_bytes") for line in draw_lines(points, name)]
    known = [
        point.values["p50"]
        for line in shown
        for piece in line.pieces
        for point in piece
        if "p50" in point.values
    ]
    step, _, most = round_axis(0, HEADROOM * KILOBYTE * max(known, default=1.0) / 1e6, steps=4)
    x, y = _time(width), Scale(low=most, high=0, length=height)
    plot = Plot(width=x.length, height=height, name="Weight of the median page, by HTTP Archive")
    megabytes = steps_between(step, 0, most)
    plot.add_axes(_year_marks(width), [Mark(y(value), size(round(value * 1e6))) for value in megabytes])
    breaks = {mark.date: mark.text for line in shown for mark in line.breaks}
    for date, words in sorted(breaks.items()):
        across = x(in_year(date))
        plot.add(line(across, 0, across, height, "zero", element("title", f"{date}: {words}")))
    for each in shown:
        plot.add(*draw_weight(each, x, y))
    return plot


def draw_weight(shown: Line, x: Scale, y: Scale) -> Iterator[Markup]:
    """Yield one client's line, which ends at every break; yearly points are dots."""
    points: list[tuple[float, float] | None] = []
    for piece in shown.pieces:
        for point in piece:
            if (value := point.values.get("p50")) is not None:
                at = (x(in_year(point.date)), y(KILOBYTE * value / 1e6))
                points.append(at)
                if KINDS[shown.series].is_yearly:
                    words = f"{shown.client}, {shown.scope}, {point.date}: {size(round(KILOBYTE * value))}"
                    yield dot(*at, f"b{CLIENTS[shown.client]}", element("title", words), radius=3)
        points.append(None)
    if not KINDS[shown.series].is_yearly:
        yield path(joined(points), f"c{CLIENTS[shown.client]} over-years")


ACROSS = {(SAME, BEFORE): 0.18, (ALL, BEFORE): 0.34, (SAME, AFTER): 0.66, (ALL, AFTER): 0.82}
"""Places of the values along a plot of two years."""

WORTH_HEIGHT = 170


def draw_worth(compared: Mapping[str, Comparison], *, width: int) -> Chart:
    """The chart of what a larger window does to pages of two years: a plot for each measure."""
    columns = len(COMPARED) if width > NARROW else 1
    return Chart(
        title=f"What 16 segments paced do against 10 with the pages of {BEFORE} and of {AFTER}",
        width=width,
        columns=columns,
        plots=[draw_measure(name, compared, plot_width(width, columns)) for name in COMPARED],
    )


def draw_measure(measure: str, compared: Mapping[str, Comparison], width: float) -> Plot:
    """The plot of one measure: the values of both years, of the same sites and of all pages."""
    title, unit = COMPARED[measure]
    values = {(pages, year): getattr(compared[pages].of[year], measure) for pages, year in ACROSS}
    ends = [end for value in values.values() for end in (value.lower, value.upper, 0.0)]
    step, low, high = round_axis(min(ends), max(ends), steps=5)
    y = Scale(low=high, high=low, length=WORTH_HEIGHT)
    plot = Plot(width=width, height=WORTH_HEIGHT, name=f"{title}, {unit}")
    years = [Mark(round(width * at, 1), str(year)) for at, year in ((0.26, BEFORE), (0.74, AFTER))]
    plot.add_axes(years, [Mark(y(value), stated(value)) for value in steps_between(step, low, high)])
    plot.add(line(0, y(0), width, y(0), "zero"))
    before, after = (
        (round(width * ACROSS[SAME, year], 1), y(values[SAME, year].estimate)) for year in (BEFORE, AFTER)
    )
    is_unclear = not is_clear(getattr(compared[SAME].change, measure))
    plot.add(path(joined([before, after]), f"c2 shaft{' unclear' * is_unclear}"))
    for (pages, year), value in values.items():
        across = round(width * ACROSS[pages, year], 1)
        words = element("title", f"{year}, {pages}: {interval_text(value, unit)}")
        whisker = line(across, y(value.lower), across, y(value.upper), "c2 whisker")
        look = "b2" if pages == SAME else "c2 hollow"
        plot.add(element("g", words, whisker, dot(across, y(value.estimate), look)))
        if pages == SAME:
            estimate = number(value.estimate, 1 if unit == "%" else 2)
            plot.add(text(estimate, across, y(value.upper) - 5, "b2 whole", text_anchor="middle"))
    return plot
