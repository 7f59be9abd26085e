"""The formats in which rows and first flights are offered,
and the choice by suffix or Accept header (RFC 9110 §12.5.1)."""

import dataclasses
from collections.abc import Mapping

from api.http.problems import Problem


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """A format of an answer."""

    suffix: str
    media_type: str
    is_bulk: bool
    """True if an answer without a limit has every row."""
    means: str


JSON = Format(
    suffix="json", media_type="application/json", is_bulk=False, means="a page of rows with its provenance"
)
NDJSON = Format(
    suffix="ndjson", media_type="application/x-ndjson", is_bulk=True, means="one JSON object a line"
)
CSV = Format(
    suffix="csv",
    media_type="text/csv",
    is_bulk=True,
    means="RFC 4180; an unknown value is empty, text is quoted; texts of sites stay as they are, also one "
    "that a spreadsheet would take for a formula: import them as text",
)
ARROW = Format(
    suffix="arrow",
    media_type="application/vnd.apache.arrow.stream",
    is_bulk=True,
    means="Arrow IPC stream with the dictionary in its schema",
)
PARQUET = Format(
    suffix="parquet",
    media_type="application/vnd.apache.parquet",
    is_bulk=True,
    means="Parquet with the dictionary in its schema",
)
FORMATS = {one.suffix: one for one in (JSON, NDJSON, CSV, ARROW, PARQUET)}
"""Every format of rows by its suffix, the preferred first."""


def by_suffix(suffix: str) -> Format:
    """The format of rows of a suffix; Problem if it is not offered."""
    if suffix not in FORMATS:
        raise not_offered(f".{suffix}", FORMATS)
    return FORMATS[suffix]


def by_accept(accept: str, offered: Mapping[str, Format] = FORMATS) -> Format:
    """The format that an Accept header prefers, JSON without one; Problem if it accepts none that is offered.

    >>> [by_accept(header).suffix for header in ("", "*/*", "text/csv", "text/html,*/*;q=0.8")]
    ['json', 'json', 'csv', 'json']
    >>> by_accept("application/*;q=0.5, text/csv;q=0.9").suffix, by_accept("application/json;q=0, */*").suffix
    ('csv', 'ndjson')
    """
    if not accept.strip():
        return JSON
    weights = _weights(accept)
    # max() takes the first of equals, and so the preferred.
    best = max(offered.values(), key=lambda one: _weight(one.media_type, weights))
    if not _weight(best.media_type, weights):
        raise not_offered(accept, offered)
    return best


def _weight(media_type: str, weights: dict[str, float]) -> float:
    """Weight of a media type: that of the most specific range that covers it."""
    ranges = (media_type, f"{media_type.partition('/')[0]}/*", "*/*")
    return next((weights[range_] for range_ in ranges if range_ in weights), 0.0)


def _weights(accept: str) -> dict[str, float]:
    """Weight of each media range of an Accept header; a malformed weight counts as 0."""
    found = {}
    for part in accept.lower().split(","):
        media_range, *parameters = (piece.strip() for piece in part.split(";"))
        weight = next((parameter[2:].strip() for parameter in parameters if parameter.startswith("q=")), "1")
        found[media_range] = float(weight) if weight.replace(".", "", 1).isdecimal() else 0.0
    return found


def not_offered(asked: str, offered: Mapping[str, Format]) -> Problem:
    """The problem of a suffix or an Accept header that none of the formats meets."""
    return Problem(
        "not-acceptable",
        f"the answer is not offered as {asked[:200]}; there are {', '.join(f'.{one}' for one in offered)}",
        offered=[{"suffix": f".{one.suffix}", "media_type": one.media_type} for one in offered.values()],
    )
