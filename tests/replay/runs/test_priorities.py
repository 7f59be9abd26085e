"""The order of a server's answers over HTTP/2, from one guest."""

import pytest

from replay.lab.guest_process import Lab
from replay.networks.profiles import symmetric
from replay.runs.cells import make_cells
from replay.runs.policy import at_once
from tests.factories.lab_networks import load_responses, make_page, plain

pytestmark = pytest.mark.lab

SLOW = symmetric("slow", bps=4_000_000, rtt_us=40_000, queue_bytes=1_000_000, source="tests")
SIZE = 400_000
PRIORITIES = ((5, True), (3, True), (3, True), (0, False), (0, False))
"""Urgency of each response, and whether it is incremental, in the order of the requests."""

Ends = dict[str, list[float]]


@pytest.fixture(scope="module")
def ends(lab: Lab) -> Ends:
    """Times in ms of the last byte of each response, by the servers' order."""
    others = (
        {"response_bytes": SIZE, "urgency": urgency, "is_incremental": is_incremental}
        for urgency, is_incremental in PRIORITIES
    )
    arms = [plain(prioritised=prioritised) for prioritised in (False, True)]
    cells = make_cells(
        [make_page(1, {}, *others, page="a.test", h2=True)],
        [SLOW],
        policies=at_once(10),
        seeds=1,
        conditions=arms,
    )
    _, each = load_responses(lab, cells)
    return {rows[0]["h2_order"]: [row["last_byte_ms"] for row in rows[1:]] for rows in each}


def test_in_turns_all_end_together(ends: Ends) -> None:
    # But for the last round of frames of 16 kB, and for the first batch,
    # which went out before all requests were read.
    apart_bytes = len(PRIORITIES) * 16_384 + 65_536
    assert max(ends["turns"]) - min(ends["turns"]) < 8e3 * apart_bytes / SLOW.down_bps * 1.2


def test_by_priority_the_urgent_end_first_and_those_that_are_not_incremental_one_by_one(ends: Ends) -> None:
    least, usual, usual_too, urgent, urgent_later = ends["priority"]
    each_ms = 8e3 * SIZE / SLOW.down_bps
    assert urgent < urgent_later < min(usual, usual_too)
    assert max(usual, usual_too) < least
    # What was handed to TCP before all requests had been read, at most two batches of 64 kB, comes first.
    first_ms = 8e3 * 2 * 65_536 / SLOW.down_bps
    assert urgent_later - urgent == pytest.approx(each_ms, rel=0.2)
    assert urgent <= (each_ms + first_ms) * 1.2 + 3 * SLOW.rtt_us / 1e3
    assert abs(usual - usual_too) < 8e3 * 2 * 16_384 / SLOW.down_bps * 1.2


def test_the_order_does_not_change_when_all_have_arrived(ends: Ends) -> None:
    assert max(ends["priority"]) == pytest.approx(max(ends["turns"]), rel=0.02)
