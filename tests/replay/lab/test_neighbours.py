"""Effects of a page on other traffic at its bottleneck, by queue.

One guest loads one page under all conditions.
"""

import math
from collections.abc import Mapping
from typing import Any

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.lab.guest_process import Lab
from replay.networks.profiles import FRAME_BYTES, symmetric
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import make_cells
from replay.runs.conditions import Conditions, Neighbours, OtherQueue
from replay.runs.policy import PACED, Policy, at_once
from tests.factories.lab_networks import load, plain, single_response

pytestmark = pytest.mark.lab

WHERE = symmetric("where", bps=2_000_000, rtt_us=100_000, queue_bytes=4_000_000, source="tests")
SEGMENTS, ONE_SEGMENT = 400, 1
MEAN_SHORT_FLOW = (380 + 590 + 920 + 1410 + 2280 + 3720 + 7090 + 18_673) / 8

PROBED = plain(neighbours=Neighbours(probe=True))
TODAY = plain(neighbours=Neighbours(load=0.5))
EVERYONE = plain(neighbours=Neighbours(load=0.5, everyone=True))
TIGHT = plain(queue=OtherQueue(bdp=0.25), neighbours=Neighbours())
DEEP = plain(queue=OtherQueue(bdp=4), neighbours=Neighbours())

Rows = dict[tuple[Conditions, Policy, int], dict[str, Any]]


def recipe(segments: int) -> Recipe:
    return single_response(segments * MSS_TIMESTAMPS, number=segments)


@pytest.fixture(scope="module")
def rows(lab: Lab) -> Rows:
    cells = make_cells(
        [recipe(SEGMENTS)],
        [WHERE],
        policies=at_once(10, 45),
        seeds=1,
        conditions=[PROBED, TODAY, EVERYONE, TIGHT, DEEP],
    )
    cells += make_cells([recipe(ONE_SEGMENT)], [WHERE], policies=at_once(10), seeds=1, conditions=[PROBED])
    small = recipe(ONE_SEGMENT)
    cells += make_cells(
        [small], [WHERE], policies=(Policy(45), Policy(45, PACED)), seeds=1, conditions=[TODAY, EVERYONE]
    )
    rows = load(lab, cells)
    return {
        (cell.conditions, cell.policy, cell.recipe.visit_id): row
        for cell in cells
        for row in rows
        if is_of(row, cell.conditions.columns())
        and (row["policy"], row["visit_id"]) == (str(cell.policy), cell.recipe.visit_id)
    }


def is_of(row: Mapping[str, Any], columns: Mapping[str, Any]) -> bool:
    return all(row[name] == value for name, value in columns.items())


def test_a_probe_beside_next_to_nothing_takes_half_a_round_trip(rows: Rows) -> None:
    delay_ms = rows[PROBED, Policy(10), ONE_SEGMENT]["probe_p95_ms"]
    packet_ms = FRAME_BYTES * 8e3 / WHERE.down_bps
    assert 50 < delay_ms < 50 + 2 * packet_ms


def test_a_probe_waits_behind_the_burst_of_the_window(rows: Rows) -> None:
    """The burst delays it by at most the window; slow start then fills the queue at either window."""
    ten, all_45 = (rows[PROBED, Policy(iw), SEGMENTS]["probe_p95_ms"] for iw in (10, 45))
    assert ten > 60
    assert all_45 > ten


def test_short_flows_come_as_often_as_their_load_says(rows: Rows) -> None:
    row = rows[TODAY, Policy(10), SEGMENTS]
    per_second = 0.5 * WHERE.down_bps / (8 * MEAN_SHORT_FLOW)
    expected = 6 / 8 * per_second * row["page_ms"] / 1e3  # six of the eight sizes are short
    assert abs(row["short_flows"] - expected) < 4 * math.sqrt(expected)
    assert row["short_flow_ms"] > 200  # a round trip to connect and one to answer


def test_everyone_at_todays_window_is_today(rows: Rows) -> None:
    """At another window results differ: flows of 13 segments take another number of flights."""
    measured = ("page_ms", "short_flows", "short_flow_ms", "bytes_retransmitted", "segments_sent")
    today, everyone = (
        {iw: [rows[arm, Policy(iw), SEGMENTS][name] for name in measured] for iw in (10, 45)}
        for arm in (TODAY, EVERYONE)
    )
    assert today[10] == everyone[10]
    assert today[45] != everyone[45]


def test_others_flows_are_paced_where_everyone_is_at_a_paced_window(rows: Rows) -> None:
    """A page of one segment is the same paced and at once, so that what differs is the others'."""
    measured = ("page_ms", "short_flows", "short_flow_ms")
    for arm, is_alike in ((TODAY, True), (EVERYONE, False)):
        at_once, paced = (
            [rows[arm, policy, ONE_SEGMENT][name] for name in measured]
            for policy in (Policy(45), Policy(45, PACED))
        )
        assert (at_once == paced) == is_alike


def test_a_queue_of_a_quarter_of_the_product_drops_what_one_of_four_holds(rows: Rows) -> None:
    tight, deep = (rows[arm, Policy(45), SEGMENTS] for arm in (TIGHT, DEEP))
    assert (tight["queue_bytes"], deep["queue_bytes"]) == (6_250, 100_000)
    assert tight["bottleneck_drops"] > deep["bottleneck_drops"] >= 0
    assert tight["bytes_retransmitted"] > 0


def test_times_that_are_not_requested_are_not_measured(rows: Rows) -> None:
    assert {
        rows[TIGHT, Policy(10), SEGMENTS][name] for name in ("short_flows", "short_flow_ms", "probe_p95_ms")
    } == {None}
    assert rows[TODAY, Policy(10), SEGMENTS]["probe_p95_ms"] is None


def test_a_queue_holds_two_packets_at_least() -> None:
    assert OtherQueue(bdp=0.01).of(WHERE) == 2 * FRAME_BYTES
    assert OtherQueue(bytes=65_536).of(WHERE) == 65_536
