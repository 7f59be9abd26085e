"""What servers give TCP ahead of what it sends, from one guest."""

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.lab.guest_process import Lab
from replay.networks.profiles import FRAME_BYTES, Profile
from replay.recipes.page_recipe import Recipe
from replay.runs.buffers import SEND_BUFFERS
from replay.runs.cells import make_cells
from replay.runs.conditions import Neighbours
from replay.runs.policy import at_once
from tests.factories.lab_networks import FAST, load_responses, make_page, plain

pytestmark = pytest.mark.lab

WIDE_QUEUE = dataclasses.replace(FAST, id="wide-queue", down_bps=4_000_000, up_bps=4_000_000, rtt_us=40_000)
LARGE = 1_500_000
LATER_US = [1_000_000 + 60_000 * step for step in range(8)]
"""Times of the urgent request: servers refill their buffers now and then,
so that it finds more or less in them."""
MS_A_BYTE = 8e3 * FRAME_BYTES / MSS_TIMESTAMPS / WIDE_QUEUE.down_bps


def page(later_us: int = LATER_US[0], visit_id: int = 1) -> Recipe:
    """A large response and, `later_us` after its request, an urgent small one."""
    urgent = {"parent": 0, "urgency": 0, "browser_delay_us": later_us}
    return make_page(visit_id, {}, {"response_bytes": LARGE, "urgency": 5}, urgent, page="a.test", h2=True)


EVERY = [page(later_us, visit_id) for visit_id, later_us in enumerate(LATER_US, start=1)]


def loaded(
    lab: Lab,
    buffers: Iterable[str],
    *,
    pages: Sequence[Recipe],
    network: Profile = WIDE_QUEUE,
    window: int = 10,
) -> list[dict[str, Any]]:
    """Rows of every response, by these send buffers in turn."""
    arms = [plain(prioritised=True, send_buffer=name, neighbours=Neighbours()) for name in buffers]
    cells = make_cells(pages, [network], policies=at_once(window), seeds=1, conditions=arms)
    return [row for rows in load_responses(lab, cells)[1] for row in rows]


@pytest.fixture(scope="module")
def rows(lab: Lab) -> list[dict[str, Any]]:
    return loaded(lab, SEND_BUFFERS, pages=EVERY)


def waits_ms(rows: list[dict[str, Any]], name: str) -> float:
    """Mean time from asking for the urgent response to its last byte."""
    times = [
        row["last_byte_ms"] - row["sent_ms"]
        for row in rows
        if (row["response_id"], row["send_buffer"]) == (3, name)
    ]
    assert len(times) == len(LATER_US)
    return math.fsum(times) / len(times)


def test_an_urgent_response_waits_behind_what_tcp_was_given_before(rows: list[dict[str, Any]]) -> None:
    # As much has been sent, and waits in the queue, with both; beyond it a server gave TCP 48 kB more.
    more_bytes = SEND_BUFFERS["64k"].most_unsent - SEND_BUFFERS["16k"].most_unsent
    assert waits_ms(rows, "64k") - waits_ms(rows, "16k") == pytest.approx(more_bytes * MS_A_BYTE, rel=0.2)


def test_linux_s_send_buffer_holds_about_a_window_beyond_the_one_on_its_way(
    rows: list[dict[str, Any]],
) -> None:
    # It has room for twice the congestion window or somewhat more,
    # and is filled again when a third of it is empty.
    least_ms = waits_ms(rows, "16k")
    given_ms = SEND_BUFFERS["16k"].most_unsent * MS_A_BYTE
    on_its_way_ms = least_ms - given_ms - WIDE_QUEUE.rtt_us / 1e3
    unsent_ms = waits_ms(rows, "linux") - least_ms + given_ms
    assert 1 / 3 < unsent_ms / on_its_way_ms < 2


def test_the_whole_takes_as_long_whatever_is_given_ahead(rows: list[dict[str, Any]]) -> None:
    ends = {
        row["send_buffer"]: row["last_byte_ms"]
        for row in rows
        if (row["response_id"], row["visit_id"]) == (2, 1)
    }
    assert ends.keys() == SEND_BUFFERS.keys()
    assert max(ends.values()) == pytest.approx(min(ends.values()), rel=0.01)


def test_no_buffer_holds_a_first_flight_back(lab: Lab) -> None:
    whole, more = (
        make_page(number, segments * MSS_TIMESTAMPS, page="a.test", h2=True)
        for number, segments in ((1, 44), (2, 45))
    )
    rows = loaded(lab, SEND_BUFFERS, pages=[whole, more], network=FAST, window=44)
    flights = {(row["visit_id"], row["send_buffer"]): row["flights"] for row in rows}
    assert flights == {(visit, name): visit for visit in (1, 2) for name in SEND_BUFFERS}


def test_the_order_of_the_buffers_in_a_guest_changes_nothing(lab: Lab, rows: list[dict[str, Any]]) -> None:
    again = loaded(lab, reversed(SEND_BUFFERS), pages=EVERY)
    key = ("visit_id", "send_buffer", "response_id")
    assert {tuple(row[name] for name in key): row["last_byte_ms"] for row in again} == {
        tuple(row[name] for name in key): row["last_byte_ms"] for row in rows
    }
