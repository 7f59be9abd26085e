"""What one visit yields: rows without the keys that only the store knows."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Row: TypeAlias = "Mapping[str, Any]"
"""Column name to value; the names and types are those of schema.tables."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """Everything that one visit saw, ready to be stored.

    The store adds what the browser cannot know: `WRITER_COLUMNS`.
    """

    visit: Row
    connections: Sequence[Row]
    responses: Sequence[Row]
    page_kind: str = "home"
    """`home` or `inner`."""
    load: int = 1
    """Which load of this page it is."""
    links: Sequence[str] = ()
    """URLs of the page's links, where they were asked for; they are not stored."""
    more: Sequence[Observation] = ()
    """Repeat loads and inner pages that go with it."""


WRITER_COLUMNS = frozenset(
    {
        *("crawl_id", "id", "visit_id", "rank", "host", "attempt", "is_final", "owner"),
        *("page_kind", "load", "is_covered", "crawler_host"),
    }
)
"""Columns of `visit` (and the `crawl_id` and `visit_id` of the others) that the store fills in."""
