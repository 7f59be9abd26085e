"""Shares of responses that fit into a window, by three weights: each response, each page,
or each page by its rank alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from releases.catalogue import Release
from releases.measures import open_tables
from releases.ranks import Rank


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFits:
    """How many of a page's responses fit into each window."""

    visit_id: int
    responses: int
    """Complete responses of known size."""
    fitting: tuple[int, ...]
    """By window."""


def fits_query(*, windows: Sequence[int], mss: int, visit: str = "visit", response: str = "response") -> str:
    """The query of each page's complete responses of known size, and of those that fit into each window.

    `visit` and `response` are the tables.
    """
    counts = ", ".join(f"count(*) FILTER (wire_bytes <= {iw * mss})" for iw in windows)
    return (
        f"SELECT visit_id, count(*), {counts} FROM {response} "  # noqa: S608  # numbers, and names of our own
        f"SEMI JOIN (SELECT id AS visit_id FROM {visit} WHERE is_final AND outcome = 'ok') USING (visit_id) "
        f"WHERE wire_bytes IS NOT NULL AND is_complete IS NOT FALSE GROUP BY visit_id ORDER BY visit_id"
    )


def page_fits(release: Release, *, windows: Sequence[int], mss: int) -> list[PageFits]:
    """The responses of each page that fit into windows of so many segments of `mss` bytes."""
    with open_tables(release.path) as database:
        found = database.execute(fits_query(windows=windows, mss=mss)).fetchall()
    return [PageFits(visit_id=visit, responses=every, fitting=tuple(fits)) for visit, every, *fits in found]


def shares_by_weight(
    pages: Sequence[PageFits], ranks: Mapping[int, Rank], *, windows: Sequence[int]
) -> dict[str, list[float | None]]:
    """Percentages that fit into each window, by weight: "response", "page" and "rank".

    None where the weight is unknown.

    >>> pages = [PageFits(visit_id=1, responses=10, fitting=(5,)), PageFits(visit_id=2, responses=1, fitting=(1,))]
    >>> found = shares_by_weight(pages, {1: Rank(1), 2: Rank(2)}, windows=[10])
    >>> {name: round(shares[0], 2) for name, shares in found.items()}
    {'response': 54.55, 'page': 75.0, 'rank': 66.67}
    """  # noqa: E501
    weights = {
        "response": [float(page.responses) for page in pages],
        "page": [1.0] * len(pages),
        "rank": [ranks[page.visit_id].weight if page.visit_id in ranks else 0.0 for page in pages],
    }
    return {
        name: [_share(pages, some, place) for place in range(len(windows))] for name, some in weights.items()
    }


def _share(pages: Sequence[PageFits], weights: Sequence[float], place: int) -> float | None:
    total = sum(weights)
    if not total:
        return None
    fitting = sum(
        weight * page.fitting[place] / page.responses for page, weight in zip(pages, weights, strict=True)
    )
    return 100 * fitting / total
