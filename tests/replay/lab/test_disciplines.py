"""Queueing disciplines of the bottleneck: what a probe and a page see of a bulk flow.

These boot the guest's kernel.
"""

from typing import Any

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.lab.guest_process import Lab
from replay.networks.profiles import Discipline, symmetric
from replay.networks.queues import codel_target_us
from replay.runs.cells import Cell, make_cells
from replay.runs.conditions import Competition, Conditions, Neighbours, OtherQueue
from replay.runs.policy import at_once
from tests.factories.lab_networks import load, plain, single_response

pytestmark = pytest.mark.lab

WHERE = symmetric("where", bps=10_000_000, rtt_us=60_000, queue_bytes=1_000_000, source="tests")
BLOATED = OtherQueue(bytes=1_000_000)
FAIR: tuple[Discipline, ...] = ("fq_codel", "cake")
BULK = Competition(flows=1, congestion_control="cubic", iw=10)


def beside_a_bulk_flow(queue: OtherQueue) -> Conditions:
    return plain(queue=queue, competition=BULK, neighbours=Neighbours(probe=True))


ARMS = [
    beside_a_bulk_flow(queue)
    for queue in (BLOATED, *(OtherQueue(discipline=discipline) for discipline in FAIR))
]


def cells() -> list[Cell]:
    page = single_response(200 * MSS_TIMESTAMPS)
    return make_cells([page], [WHERE], policies=at_once(10, 30), seeds=1, conditions=ARMS)


@pytest.fixture(scope="module")
def rows(lab: Lab) -> dict[tuple[str, int], dict[str, Any]]:
    return {(row["queue"], row["iw"]): row for row in load(lab, cells())}


@pytest.mark.parametrize("discipline", FAIR)
@pytest.mark.parametrize("iw", [10, 30])
def test_a_fair_queue_spares_a_page_and_a_probe_the_bulk_flows_queue(
    rows: dict[tuple[str, int], dict[str, Any]], discipline: Discipline, iw: int
) -> None:
    bloated, fair = rows["1000000B", iw], rows[discipline, iw]
    assert bloated["probe_p95_ms"] > 150
    assert 30 < fair["probe_p95_ms"] < 45  # half a round trip, and a few packets
    assert fair["page_ms"] < 0.6 * bloated["page_ms"]
    assert (bloated["queue_bytes"], fair["queue_bytes"]) == (1_000_000, None)


@pytest.mark.parametrize("discipline", FAIR)
def test_codel_drops_what_a_bulk_flow_keeps_waiting(
    rows: dict[tuple[str, int], dict[str, Any]], discipline: Discipline
) -> None:
    assert rows[discipline, 10]["bottleneck_drops"] > 0


def test_a_disciplines_memory_of_earlier_loads_is_gone(
    lab: Lab, rows: dict[tuple[str, int], dict[str, Any]]
) -> None:
    assert {(row["queue"], row["iw"]): row for row in load(lab, cells()[::-1])} == rows


def test_codels_target_is_no_less_than_a_packet_on_the_line() -> None:
    assert codel_target_us(100_000_000) == 5_000
    assert codel_target_us(200_000) == pytest.approx(1.5 * 1514 * 8 / 0.2, rel=0.001)
