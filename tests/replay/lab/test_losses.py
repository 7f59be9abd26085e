"""What was dropped, and sent again for a loss or without one, equals what captures at both ends show."""

import dataclasses
from collections import defaultdict
from typing import NamedTuple

import pytest

from replay.lab.guest_process import Lab
from replay.networks.profiles import symmetric
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import make_cells
from replay.runs.conditions import Neighbours
from replay.runs.policy import PACED, SPREAD, Policy
from tests.factories.captured_loads import Captured, capture_loads
from tests.factories.lab_networks import make_page, plain

pytestmark = pytest.mark.lab

SLOW = symmetric("slow", bps=1_000_000, rtt_us=50_000, source="tests")
BLOATED = dataclasses.replace(SLOW, id="bloated", queue_bytes=4_000_000)
"""Its queue takes all, and delays it beyond the senders' patience."""
SHALLOW = dataclasses.replace(SLOW, id="shallow", down_bps=20_000_000, queue_bytes=20 * 1514)
LOSSY = dataclasses.replace(BLOATED, id="lossy", down_bps=20_000_000, loss=0.02)
ROOMY = dataclasses.replace(BLOATED, id="roomy", down_bps=20_000_000)
TIGHT = dataclasses.replace(SHALLOW, id="tight", down_bps=2_000_000, queue_bytes=8 * 1514, loss=0.01)


class Causes(NamedTuple):
    """Segments and bytes of a load."""

    lost: tuple[int, int]
    again: tuple[int, int]
    spurious: tuple[int, int]


def page(number: int, *, h2: bool) -> Recipe:
    """A document and eight large responses from one host."""
    return make_page(number, 5_000, *[150_000] * 8, h2=h2)


def by_capture(load: Captured) -> Causes:
    """Follow every copy of every byte: what was sent, whether it arrived, and whether an earlier copy did."""
    arrived = {(packet.target, packet.ident) for packet in load.received()}
    first = {packet.target: packet.sequence for packet in reversed(load.sent())}
    was_sent: dict[int, bytearray] = defaultdict(lambda: bytearray(2_000_000))
    is_there: dict[int, bytearray] = defaultdict(lambda: bytearray(2_000_000))
    # Queues keep the order: what was sent after all that arrived is still on its way.
    last_ns = max(packet.ns for packet in load.sent() if (packet.target, packet.ident) in arrived)
    lost, again, spurious = [0, 0], [0, 0], [0, 0]
    for packet in load.sent():
        port, begin = packet.target, packet.sequence - first[packet.target]
        span = slice(begin, begin + packet.payload)
        if any(was_sent[port][span]):
            assert all(was_sent[port][span])
            again = [again[0] + 1, again[1] + packet.payload]
            spared = sum(is_there[port][span])
            spurious = [spurious[0] + (spared == packet.payload), spurious[1] + spared]
        was_sent[port][span] = b"\1" * packet.payload
        if (port, packet.ident) in arrived or packet.ns > last_ns:
            is_there[port][span] = b"\1" * packet.payload
        else:
            lost = [lost[0] + 1, lost[1] + packet.payload]
    return Causes(*(tuple(each) for each in (lost, again, spurious)))  # type: ignore[arg-type]


def by_guest(load: Captured, name: str) -> tuple[int, int]:
    return load.answer[f"segments_{name}"], load.answer[f"bytes_{name}"]


def test_every_cause_equals_what_a_capture_of_every_copy_shows(lab: Lab) -> None:
    alone = [plain(neighbours=Neighbours())]
    policies = (Policy(100), Policy(20), Policy(32, PACED), Policy(32, SPREAD))
    networks = [SHALLOW, BLOATED, LOSSY, ROOMY, TIGHT]
    cells = make_cells(
        [page(1, h2=True), page(2, h2=False)], networks, policies=policies, seeds=1, conditions=alone
    )
    seen = dict.fromkeys(("dropped", "lost at random", "spurious"), 0)
    for cell, load in zip(cells, capture_loads(lab, cells), strict=True):
        causes, where = by_capture(load), (cell.id, load.answer)
        segments, again_bytes = by_guest(load, "retransmitted")  # SYN-ACKs are among the segments
        assert (segments >= causes.again[0], again_bytes) == (True, causes.again[1]), where
        assert by_guest(load, "spurious") == causes.spurious, where
        if cell.profile.loss:
            assert load.answer["segments_dropped"] <= causes.lost[0], where
            seen["lost at random"] += causes.lost[0] - load.answer["segments_dropped"]
        else:
            assert by_guest(load, "dropped") == causes.lost, where
            without_payload = load.answer["bottleneck_drops"] - load.answer["segments_dropped"]
            assert 0 <= without_payload < 10, where
        seen["dropped"] += load.answer["segments_dropped"]
        seen["spurious"] += load.answer["segments_spurious"]
        if cell.profile in (BLOATED, LOSSY, ROOMY):
            assert load.answer["segments_dropped"] == 0
    assert min(seen.values()) >= 10, seen
