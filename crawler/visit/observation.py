"""The result of a visit: rows without the keys that the visit writer adds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from crawler.errors import BrowserError

Row: TypeAlias = "Mapping[str, Any]"
"""Column name to value; the names and types are those of schema.tables."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """Everything that one visit saw, ready to be stored but for WRITER_COLUMNS."""

    visit: Row
    connections: Sequence[Row]
    responses: Sequence[Row]
    page_kind: str = "home"
    """`home` or `inner`."""
    load: int = 1
    """Number of this load of the page, from 1."""
    links: Sequence[str] = ()
    """URLs of the page's links, where they were asked for; they are not stored."""
    more: Sequence[Observation] = ()
    """Repeat loads of the home page, and inner pages of the site."""


WRITER_COLUMNS = frozenset(
    {
        *("crawl_id", "id", "visit_id", "rank", "host", "attempt", "is_final", "owner"),
        *("page_kind", "load", "is_covered", "crawler_host"),
    }
)
"""Columns of `visit` (and the `crawl_id` and `visit_id` of the others) that the visit writer fills in."""


class BrowserDied(BrowserError):
    """The browser must be replaced; `observation` is the visit that ended with it."""

    def __init__(self, message: str, observation: Observation) -> None:
        super().__init__(message)
        self.observation = observation
