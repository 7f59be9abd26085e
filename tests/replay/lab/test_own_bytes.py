"""Responses of whose own bytes something was sent again,
told from those whose connection sent anything again."""

import dataclasses
from typing import Any

import pytest

from replay.lab.guest_process import Lab
from replay.networks.profiles import symmetric
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import make_cells
from replay.runs.conditions import UNLIMITED_REQUESTS, Neighbours
from replay.runs.policy import at_once
from tests.factories.lab_networks import load, make_page, plain

pytestmark = pytest.mark.lab

FAST = symmetric("fast", bps=20_000_000, rtt_us=50_000, source="tests")
SHALLOW = dataclasses.replace(FAST, id="shallow", queue_bytes=20 * 1514)
"""Its queue overflows under a large first window."""
LOSSY = dataclasses.replace(FAST, id="lossy", queue_bytes=4_000_000, loss=0.02)
ROOMY = dataclasses.replace(FAST, id="roomy", queue_bytes=4_000_000)
SMALL = 6
"""Responses of a segment each, which come last."""
MANY, SIZE = 30, 5_000
"""Responses of some segments each, one behind the other."""


def page(visit_id: int, name: str, *, h2: bool, sizes: tuple[int, ...]) -> Recipe:
    """A document of one segment, and responses of these sizes from its host;
    each is more urgent than the next."""
    others = (
        {"response_bytes": size, "urgency": min(place, 7), "is_incremental": False}
        for place, size in enumerate(sizes)
    )
    return make_page(visit_id, {}, *others, page=name, h2=h2)


@pytest.fixture(scope="module")
def rows(lab: Lab) -> dict[tuple[str, str], dict[str, Any]]:
    """One load of each page over each network, with nobody else at the bottleneck, by page and network."""
    alone = [plain(neighbours=Neighbours(), prioritised=True, requests=UNLIMITED_REQUESTS)]
    pages = [
        page(1, "one after another", h2=True, sizes=(200_000, *(1_000,) * SMALL)),
        page(2, "apart", h2=False, sizes=(60_000,) * 4),
        page(3, "in a row", h2=True, sizes=(SIZE,) * MANY),
    ]
    cells = make_cells(pages, [SHALLOW, LOSSY, ROOMY], policies=at_once(100), seeds=1, conditions=alone)
    return {(row["page"], row["profile"]): row for row in load(lab, cells)}


def test_a_response_behind_another_is_not_retransmitted_because_that_one_is(
    rows: dict[tuple[str, str], dict[str, Any]],
) -> None:
    row = rows["one after another", "shallow"]
    assert row["responses_retransmitted"] == 1 + SMALL
    assert row["responses_own_retransmitted"] == 1


def test_retransmissions_are_of_the_responses_whose_bytes_the_queue_dropped(
    rows: dict[tuple[str, str], dict[str, Any]],
) -> None:
    row = rows["in a row", "shallow"]
    passed = SHALLOW.queue_bytes // 1514 * 1448 // SIZE
    assert row["responses_own_retransmitted"] >= row["bytes_retransmitted"] / SIZE > MANY / 2
    assert row["responses_own_retransmitted"] <= MANY + 1 - passed


@pytest.mark.parametrize("network", ["shallow", "lossy"])
def test_of_responses_on_connections_of_their_own_both_counts_agree(
    rows: dict[tuple[str, str], dict[str, Any]], network: str
) -> None:
    row = rows["apart", network]
    assert row["responses_own_retransmitted"] == row["responses_retransmitted"]
    assert row["responses_own_retransmitted"] != 0


@pytest.mark.parametrize("page", ["one after another", "apart"])
def test_where_nothing_is_sent_again_no_response_is_retransmitted(
    rows: dict[tuple[str, str], dict[str, Any]], page: str
) -> None:
    row = rows[page, "roomy"]
    assert row["segments_retransmitted"] == 0
    assert row["responses_own_retransmitted"] == 0
