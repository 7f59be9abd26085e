"""The same cells twice, to the microsecond. These boot the guest's kernel."""

import contextlib
import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from typing import get_args

import pytest

from replay.lab.guest_process import Lab, usable_cpus
from replay.networks.populations import profile
from replay.networks.profiles import Discipline
from replay.published import fld
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import make_cells
from replay.runs.conditions import OtherQueue
from replay.runs.policy import at_once
from replay.runs.run import replay
from tests.circles import ALL
from tests.factories.lab_networks import make_page, plain

pytestmark = pytest.mark.lab

MID = profile("avgdc-2010-mid")
RANDOM = dataclasses.replace(MID, id="random", loss=0.01)
BURSTY = dataclasses.replace(MID, id="bursty", loss=0.01, loss_burst=4.0)
NETWORKS = [MID, profile("slowdc-2010-median"), RANDOM, BURSTY]
WINDOWS = (3, 10, 16, 30, 45)


def page(number: int, *, h2: bool, origins: int) -> Recipe:
    """Two dozen objects of all sizes, each the document's child."""
    sizes = [20_000, 60_000, 5_000, 90_000, 1_000, 700] * 4
    return make_page(
        number, *sizes, origins=origins, h2=h2, tls_flight_bytes=3_000 * h2, tls_after_bytes=500 * h2
    )


@contextlib.contextmanager
def busy(cpu: int) -> Iterator[None]:
    """Something else has this CPU to do."""
    spin = f"import os\nos.sched_setaffinity(0, [{cpu}])\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", spin]) as process:
        try:
            yield
        finally:
            process.kill()


def test_forty_cells_with_losses_repeat_to_the_microsecond_beside_a_busy_cpu(lab: Lab) -> None:
    pages = [page(1, h2=False, origins=4), page(2, h2=True, origins=2)]
    cells = make_cells(pages, NETWORKS, policies=at_once(*WINDOWS), seeds=1, conditions=[plain()])
    assert len(cells) == 40
    once = replay(lab, cells, guests=1).rows
    with busy(usable_cpus()[-1]):
        again = replay(lab, cells, guests=1).rows
    assert once == again
    assert {row["state"] for row in once} == {"done"}
    for network in (RANDOM, BURSTY):
        lossy = [row for row in once if row["profile"] == network.id]
        assert all(row["bytes_retransmitted"] for row in lossy)


def test_what_red_drops_by_chance_it_drops_in_every_guest(lab: Lab) -> None:
    once, again = (fld.race_all(lab, fld.WAN, 1, "reno", 1) for _ in range(2))
    assert once == again
    assert once[0].dropped > 0


def test_when_bbr_probes_by_chance_is_the_seeds_whatever_was_before_it_in_the_guest(lab: Lab) -> None:
    small = page(1, h2=False, origins=4)
    long = tuple(dataclasses.replace(object_, response_bytes=2_000_000) for object_ in small.objects[:4])
    large = dataclasses.replace(small, objects=long)
    cells = make_cells(
        [large], [MID], policies=at_once(10), seeds=2, conditions=[plain(congestion_control="bbr")]
    )
    first, second = replay(lab, cells, guests=1).rows
    assert replay(lab, cells[1:], guests=1).rows == [second]
    assert first["page_ms"] != second["page_ms"]


def test_a_load_of_many_minutes_repeats_however_old_its_guest_is(lab: Lab) -> None:
    """Linux draws a random time for every neighbour table at each 300 s of its age,
    which shifted when BBR probes."""
    small = page(1, h2=False, origins=4)
    long = tuple(dataclasses.replace(object_, response_bytes=8_000_000) for object_ in small.objects[:4])
    large = dataclasses.replace(small, objects=long)
    cells = make_cells(
        [large],
        [profile("slowdc-2010-median")],
        policies=at_once(10),
        seeds=3,
        conditions=[plain(congestion_control="bbr")],
    )
    rows = replay(lab, cells, guests=1).rows
    assert [row["reason"] for row in rows] == [None] * 3
    assert all(row["page_ms"] > 300_000 for row in rows)
    assert replay(lab, cells[1:], guests=1).rows == rows[1:]
    assert replay(lab, cells[2:], guests=1).rows == rows[2:]


def test_where_packets_are_lost_the_seed_decides_which(lab: Lab) -> None:
    lossy = page(1, h2=True, origins=2)
    for network in (RANDOM, BURSTY):
        cells = make_cells([lossy], [network], policies=at_once(10), seeds=4, conditions=[plain()])
        rows = replay(lab, cells, guests=1).rows
        assert len({row["page_ms"] for row in rows}) == 4


@pytest.mark.parametrize("discipline", get_args(Discipline)[1:] if ALL else ["fq_codel"])
def test_which_flows_meet_in_a_queue_does_not_hang_on_earlier_loads(lab: Lab, discipline: Discipline) -> None:
    """The key by which the kernel hashes flows into queues must not come from what the
    first load in a guest has drawn."""
    line = dataclasses.replace(MID, id="line", down_bps=2_000_000, rtt_us=300_000)
    cells = make_cells(
        [page(number, h2=False, origins=12) for number in range(2)],
        [line],
        policies=at_once(16),
        seeds=50,
        conditions=[plain(queue=OtherQueue(discipline=discipline))],
    )
    in_order, the_other_way = (replay(lab, order, guests=1).rows for order in (cells, cells[::-1]))
    assert {row["state"] for row in in_order} == {"done"}
    assert in_order == [pytest.approx(row, abs=0.0015) for row in the_other_way]
