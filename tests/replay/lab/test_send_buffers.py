"""What servers give TCP ahead of what it sends, from one guest."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import pytest

from replay.lab.guest_process import Lab
from replay.networks.profiles import Profile
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.buffers import SEND_BUFFERS
from replay.runs.cells import plan
from replay.runs.conditions import Conditions, Neighbours
from replay.runs.responses import response_tables
from replay.runs.run import replay

pytestmark = pytest.mark.lab

WIDE_QUEUE = Profile(
    id="wide-queue",
    version=1,
    down_bps=4_000_000,
    up_bps=4_000_000,
    rtt_us=40_000,
    queue_bytes=4_000_000,
    source="tests",
)
LARGE, SMALL = 1_500_000, 1_000
LATER_US = 1_000_000
MS_A_BYTE = 8e3 * (1_514 + 24) / 1_448 / WIDE_QUEUE.down_bps


def page() -> Recipe:
    """A large response and, a second later, an urgent small one."""
    origin = Origin(host="a.test", port=80, h2=True, tls_flight_bytes=0, tls_after_bytes=0)
    large = Object(response_id=2, origin=0, parent=0, response_bytes=LARGE, is_document=False, urgency=5)
    document = Object(response_id=1, origin=0, parent=-1, response_bytes=SMALL, is_document=True)
    urgent = dataclasses.replace(
        large, response_id=3, response_bytes=SMALL, urgency=0, browser_delay_us=LATER_US
    )
    return Recipe(page="a.test", visit_id=1, origins=(origin,), objects=(document, large, urgent), left_out=0)


def loaded(lab: Lab, buffers: Iterable[str]) -> list[dict[str, Any]]:
    """Rows of every response, by these send buffers in turn."""
    arms = [Conditions(prioritised=True, send_buffer=name, neighbours=Neighbours()) for name in buffers]
    cells = plan([page()], [WIDE_QUEUE], windows=(10, 44), seeds=1, conditions=arms)
    result = replay(lab, cells, guests=1, responses=True)
    return [row for table in response_tables(result) for row in table.to_pylist()]


@pytest.fixture(scope="module")
def rows(lab: Lab) -> list[dict[str, Any]]:
    return loaded(lab, SEND_BUFFERS)


def waits(rows: list[dict[str, Any]], name: str, window: int = 10) -> float:
    """Milliseconds from asking for the urgent response to its last byte."""
    (found,) = (
        row["last_byte_ms"] - row["sent_ms"]
        for row in rows
        if (row["response_id"], row["send_buffer"], row["iw"]) == (3, name, window)
    )
    return float(found)


def test_an_urgent_response_waits_behind_what_tcp_was_given_before(rows: list[dict[str, Any]]) -> None:
    # What TCP has sent and the queue holds is the same; what it was given beyond that differs by 48 kB.
    more_bytes = SEND_BUFFERS["64k"].most_unsent - SEND_BUFFERS["16k"].most_unsent
    assert waits(rows, "64k") - waits(rows, "16k") == pytest.approx(more_bytes * MS_A_BYTE, rel=0.35)


def test_linux_s_send_buffer_holds_a_window_or_two_beyond_the_one_on_its_way(
    rows: list[dict[str, Any]],
) -> None:
    # tcp_sndbuf_expand: twice the congestion window, in which memory counts, so that it holds more payload than that.
    least = waits(rows, "16k")
    given_ms = SEND_BUFFERS["16k"].most_unsent * MS_A_BYTE
    on_its_way_ms = least - given_ms - WIDE_QUEUE.rtt_us / 1e3
    unsent_ms = waits(rows, "linux") - least + given_ms
    assert 1 < unsent_ms / on_its_way_ms < 2


def test_the_whole_takes_as_long_whatever_is_given_ahead(rows: list[dict[str, Any]]) -> None:
    ends = {
        row["send_buffer"]: row["last_byte_ms"] for row in rows if row["response_id"] == 2 and row["iw"] == 10
    }
    assert ends.keys() == SEND_BUFFERS.keys()
    assert max(ends.values()) == pytest.approx(min(ends.values()), rel=0.01)


def test_no_buffer_holds_a_first_flight_back(rows: list[dict[str, Any]]) -> None:
    first = {(row["iw"], row["send_buffer"]): row["flights"] for row in rows if row["response_id"] == 2}
    for window in (10, 44):
        assert len({first[window, name] for name in SEND_BUFFERS}) == 1


def test_the_order_of_the_buffers_in_a_guest_changes_nothing(lab: Lab, rows: list[dict[str, Any]]) -> None:
    again = loaded(lab, reversed(SEND_BUFFERS))
    key = ("iw", "send_buffer", "response_id")
    assert {tuple(row[name] for name in key): row["last_byte_ms"] for row in again} == {
        tuple(row[name] for name in key): row["last_byte_ms"] for row in rows
    }
