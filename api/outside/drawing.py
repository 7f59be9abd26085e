"""The figures of `/over-the-years`; each is drawn in the process apart, of rows that say what it shows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from api import drawing
from api.outside.larger_window import COMPARED, Measure
from api.outside.years import PICTURED, Pair, RecordedSet, clear_sign, in_year, published_shares
from releases.outside.lines import draw_lines
from releases.outside.points import Point
from releases.outside.series import KINDS
from verdict.two_years import AFTER, ALL, BEFORE, SAME, Comparison

KILOBYTE = 1024
"""Bytes of HTTP Archive's KB."""


class SlopeRow(NamedTuple):
    """A share then and now, in percent."""

    name: str
    before: float
    after: float
    is_clear: bool


def same_sites_rows(pair: Pair, kind: str = "all") -> list[SlopeRow]:
    """The shares of the same sites that fit into each window, in both years."""
    rows = []
    for iw in PICTURED:
        changes = pair.shares(kind, iw)
        # The last end has the headers' text, as the later set's sizes have their headers.
        rows.append(
            SlopeRow(
                name=f"IW {iw}",
                before=100 * (changes[-1].before or 0.0),
                after=100 * (changes[-1].after or 0.0),
                is_clear=clear_sign(changes) != 0,
            )
        )
    return rows


def draw_same_sites(
    width: int,
    before: str,
    after: str,
    rows: Sequence[SlopeRow],
    words: tuple[str, str, str],
    domain: tuple[float, float],
    height: float | None,
) -> str:
    from figures.frame import Frame
    from figures.series import SlopeLine, slope

    changes = [SlopeLine(**row._asdict()) for row in rows]
    title, subtitle, source = words
    frame = Frame(title=title, subtitle=subtitle, source=source, width=width)
    return drawing.as_svg(slope(frame, changes, before=before, after=after, domain=domain, height=height))


class ListRow(NamedTuple):
    """A value of a list, of a recorder or of a year, with its interval."""

    name: str
    series: str
    value: float
    lower: float | None = None
    upper: float | None = None


def list_rows(sets: Sequence[RecordedSet], kind: str) -> Iterator[ListRow]:
    """Yield the share of each list's responses that fits into each window, in percent, the earliest first;
    the interval holds both ends where headers were not counted."""
    for service, shares in published_shares().items() if kind == "all" else ():
        for iw in PICTURED:
            yield ListRow(f"2010, Google {service}", f"IW {iw}", 100 * shares[iw])
    for recorded in sets:
        for iw in PICTURED:
            own = [share.share for share in recorded.shares if (share.responses, share.iw) == (kind, iw)]
            if own:
                yield ListRow(
                    f"{recorded.version.crawl.month}, {recorded.label}",
                    f"IW {iw}",
                    100 * own[-1].estimate,
                    100 * min(share.lower for share in own),
                    100 * max(share.upper for share in own),
                )


def draw_lists(
    width: int, rows: Sequence[ListRow], unit: str, axis: str, domain: tuple[float, float] | None
) -> str:
    from figures.estimates import EstimateRow, dots
    from figures.frame import Frame

    estimates = [EstimateRow(**row._asdict()) for row in rows]
    return drawing.as_svg(dots(Frame(title="", width=width), estimates, unit=unit, axis=axis, domain=domain))


Piece = tuple[str, list[tuple[float, float]]]
"""Name of a client, and the weight of the median page in MB by time in years, up to a break of the method."""


def weight_pieces(points: Sequence[Point]) -> list[Piece]:
    """The weights of pages by client; a piece ends where the publisher says that its method changed."""
    return [
        (
            line.client,
            [
                (in_year(point.date), KILOBYTE * point.values["p50"] / 1e6)
                for point in piece
                if "p50" in point.values
            ],
        )
        for line in draw_lines(points, "page-weight")
        for piece in line.pieces
        if not KINDS[line.series].is_yearly
    ]


def draw_weights(width: int, pieces: Sequence[Piece]) -> str:
    from figures.frame import Frame
    from figures.series import YearSeries, YearValue, over_time

    series = [
        YearSeries(name=client, points=[YearValue(at=at, value=value) for at, value in values])
        for client, values in pieces
        if values
    ]
    return drawing.as_svg(over_time(Frame(title="", width=width), series, unit="MB"))


def worth_rows(compared: Mapping[str, Comparison], measure: Measure) -> Iterator[ListRow]:
    """Yield what the larger window does to the pages of both years, by one measure."""
    for pages, name in ((SAME, "the same sites"), (ALL, "all pages")):
        for year in (BEFORE, AFTER):
            value = getattr(compared[pages].of[year], measure)
            yield ListRow(f"{year}, {name}", "", value.estimate, value.lower, value.upper)


def draw_worth(width: int, measure: Measure, rows: Sequence[ListRow]) -> str:
    return draw_lists(width, rows, COMPARED[measure][1], "", None)
