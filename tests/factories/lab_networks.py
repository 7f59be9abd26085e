"""A network of the lab on which round trips can be counted, pages of a few responses, and their loads."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from replay.lab.guest_process import Lab
from replay.networks.profiles import symmetric
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.cells import Cell
from replay.runs.conditions import PLAIN, Conditions
from replay.runs.responses import response_tables
from replay.runs.run import replay

RTT_MS = 100
FAST = symmetric("fast", bps=200_000_000, rtt_us=RTT_MS * 1000, queue_bytes=4_000_000, source="tests")
"""Neither its rate nor its queue matters to a response of a few windows: round trips alone do."""

CLEAR = {"host": "a.test", "port": 80, "h2": False, "tls_flight_bytes": 0, "tls_after_bytes": 0}

Rows = list[dict[str, Any]]


def plain(**changes: Any) -> Conditions:
    """Conditions with one sender and all servers at the end of the line, so that physics can be computed."""
    return replace(PLAIN, **changes)


def make_page(
    number: int,
    *objects: int | Mapping[str, Any],
    origins: int | Sequence[Mapping[str, Any]] = 1,
    is_chain: bool = False,
    page: str | None = None,
    **origin: Any,
) -> Recipe:
    """Return a page of objects, each by its size or by the fields that differ: the document, and what hangs
    off it or, in a chain, off the object before.

    They go round the origins, which are in clear text over HTTP/1.1, unless `origin` or their own fields say
    otherwise.
    """
    own = [{}] * origins if isinstance(origins, int) else origins
    fields = [{"response_bytes": each} if isinstance(each, int) else each for each in objects]
    made = []
    for place, differing in enumerate(fields):
        parent = place - 1 if is_chain else min(place - 1, 0)
        usual = {"response_id": place + 1, "origin": place % len(own), "parent": parent}
        usual |= {"response_bytes": 1_000, "is_document": not place}
        made.append(Object(**{**usual, **differing}))
    return Recipe(
        page=page or f"{number}.test",
        visit_id=number,
        origins=tuple(Origin(**{**CLEAR, **origin, **each}) for each in own),
        objects=tuple(made),
        left_out=0,
    )


def single_response(size_bytes: int, *, number: int = 1, page: str = "a.test", **origin: Any) -> Recipe:
    """Return a page of one response; in clear text over HTTP/1.1, unless `origin` says otherwise."""
    return make_page(number, size_bytes, page=page, **origin)


def load(lab: Lab, cells: Sequence[Cell]) -> Rows:
    """Return the rows of cells that one guest loads, all of which must be done."""
    return load_responses(lab, cells, responses=False)[0]


def load_responses(lab: Lab, cells: Sequence[Cell], *, responses: bool = True) -> tuple[Rows, list[Rows]]:
    """Return the rows of cells that one guest loads, all of which must be done, and those of each load's
    responses."""
    result = replay(lab, cells, guests=1, responses=responses)
    assert [row["reason"] for row in result.rows if row["state"] != "done"] == []
    return result.rows, [table.to_pylist() for table in response_tables(result)] if responses else []
