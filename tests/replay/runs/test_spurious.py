"""Retransmissions that answer a loss, and those that answer none, from one guest."""

import dataclasses
from typing import Any

import pytest

from replay.lab.guest_process import Lab
from replay.networks.profiles import symmetric
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import plan
from replay.runs.conditions import Neighbours
from replay.runs.policy import at_once
from tests.factories.lab_networks import load, make_page, plain

pytestmark = pytest.mark.lab

SLOW = symmetric("slow", bps=1_000_000, rtt_us=50_000, source="tests")
BLOATED = dataclasses.replace(SLOW, id="bloated", queue_bytes=4_000_000)
"""Its queue takes all, and delays it beyond the senders' patience."""
SHALLOW = dataclasses.replace(SLOW, id="shallow", down_bps=20_000_000, queue_bytes=20 * 1514)
LOSSY = dataclasses.replace(BLOATED, id="lossy", down_bps=20_000_000, loss=0.02)
ROOMY = dataclasses.replace(BLOATED, id="roomy", down_bps=20_000_000)

Rows = dict[str, dict[str, Any]]


def page(hosts: int) -> Recipe:
    """A document, and eight large responses, from its own host or from several."""
    others = ({"response_bytes": 150_000, "origin": number % hosts} for number in range(8))
    return make_page(hosts, 5_000, *others, origins=hosts, h2=True)


@pytest.fixture(scope="module")
def rows(lab: Lab) -> Rows:
    """One load over each network, with nobody else at the bottleneck: each drop is the page's.

    On one host all is sent over a connection that is there when the large responses begin,
    so no SYN-ACK is lost.
    """
    alone = [plain(neighbours=Neighbours())]
    cells = plan([page(1)], [SHALLOW, LOSSY, ROOMY], policies=at_once(100), seeds=1, conditions=alone)
    cells += plan([page(8)], [BLOATED], policies=at_once(30), seeds=1, conditions=alone)
    return {row["profile"]: row for row in load(lab, cells)}


def test_where_nothing_is_lost_every_retransmission_is_spurious(rows: Rows) -> None:
    bloated = rows["bloated"]
    assert bloated["bottleneck_drops"] == 0
    assert bloated["segments_spurious"] == bloated["segments_retransmitted"] > 0


def test_retransmissions_that_are_not_spurious_are_as_many_as_the_queue_dropped(rows: Rows) -> None:
    shallow = rows["shallow"]
    assert (
        shallow["segments_retransmitted"] - shallow["segments_spurious"] == shallow["bottleneck_drops"] > 10
    )


def test_random_losses_are_told_from_spurious_retransmissions(rows: Rows) -> None:
    lossy = rows["lossy"]
    assert lossy["bottleneck_drops"] == 0
    lost = lossy["segments_retransmitted"] - lossy["segments_spurious"]
    assert lost == pytest.approx(LOSSY.loss * lossy["segments_sent"], rel=0.6)
    assert lossy["segments_spurious"] < lost


def test_where_nothing_is_sent_again_nothing_is_spurious(rows: Rows) -> None:
    assert rows["roomy"]["segments_retransmitted"] == rows["roomy"]["segments_spurious"] == 0
