"""A site's first flights by month, beside an initial window."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from api.routes.sites import SiteCrawlAnswer, WindowAnswer
from releases.slow_start import MSS_FIG1, segments

IW = 10
"""Initial window that first flights are set beside, in segments (RFC 6928)."""

WINDOW_BYTES = IW * MSS_FIG1


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Month:
    """The site in one crawl."""

    crawl: SiteCrawlAnswer
    size_bytes: int | None
    """First flight of the main document's connection; None if unknown."""
    segments: int | None
    left: float | None
    """Length of the flight's bar, in percent of the longest; None if unknown."""
    mark: float
    """Place of the window on the same scale."""

    @property
    def is_within(self) -> bool | None:
        """True if the first flight fits into the window; None if it is unknown."""
        return None if self.segments is None else self.segments <= IW


def months(crawls: Sequence[SiteCrawlAnswer]) -> list[Month]:
    """The crawls with their first flights on one scale, which holds the window and the largest."""
    sizes = [_size(one) for one in crawls]
    whole = max([WINDOW_BYTES, *(size for size in sizes if size is not None)]) * 1.05
    return [
        Month(
            crawl=crawl,
            size_bytes=size,
            segments=None if size is None else segments(size, mss=MSS_FIG1),
            left=None if size is None else round(100 * size / whole, 2),
            mark=round(100 * WINDOW_BYTES / whole, 2),
        )
        for crawl, size in zip(crawls, sizes, strict=True)
    ]


def _size(crawl: SiteCrawlAnswer) -> int | None:
    flight = crawl.document and crawl.document.first_flight
    return flight.size_bytes if flight else None


def windows_in_words(windows: Sequence[WindowAnswer]) -> str:
    """Initial windows and the connections that had them; empty if none is known.

    >>> windows_in_words([WindowAnswer(segments=10, is_exact=True, connections=2),
    ...                   WindowAnswer(segments=32, is_exact=False, connections=1)])
    '10 (2 connections), at least 32 (1 connection)'
    """
    return ", ".join(
        f"{'' if one.is_exact else 'at least '}{one.segments} ({one.connections} connection{'s' * (one.connections != 1)})"
        for one in windows
    )
