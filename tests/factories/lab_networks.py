"""A network of the lab on which round trips can be counted, and pages of one response, for tests."""

from dataclasses import replace
from typing import Any

from replay.networks.profiles import symmetric
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.conditions import PLAIN, Conditions

RTT_MS = 100
FAST = symmetric("fast", bps=200_000_000, rtt_us=RTT_MS * 1000, queue_bytes=4_000_000, source="tests")
"""Neither its rate nor its queue matters to a response of a few windows: round trips alone do."""


def plain(**changes: Any) -> Conditions:
    """Conditions with one sender and all servers at the end of the line, so that physics can be computed."""
    return replace(PLAIN, **changes)


def single_response(size_bytes: int, *, number: int = 1, page: str = "a.test", **origin: Any) -> Recipe:
    """Return a page of one response; in clear text over HTTP/1.1, unless `origin` says otherwise."""
    fields: dict[str, Any] = {
        "host": "a.test",
        "port": 80,
        "h2": False,
        "tls_flight_bytes": 0,
        "tls_after_bytes": 0,
    }
    document = Object(response_id=1, origin=0, parent=-1, response_bytes=size_bytes, is_document=True)
    return Recipe(
        page=page, visit_id=number, origins=(Origin(**fields | origin),), objects=(document,), left_out=0
    )
