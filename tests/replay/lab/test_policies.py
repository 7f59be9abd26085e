"""How first flights leave under each policy, by a capture at the server, and on which connections."""

import itertools
from typing import Any

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.lab.guest_process import Lab
from replay.networks.profiles import Profile, symmetric
from replay.runs.cells import make_cells
from replay.runs.conditions import Neighbours
from replay.runs.policy import AT_ONCE, PACED, SPREAD, Policy
from tests.factories.captured_loads import Captured, Packet, capture_loads
from tests.factories.lab_networks import make_page, plain, single_response

pytestmark = pytest.mark.lab

ALONE = plain(neighbours=Neighbours())
TLS_SEGMENTS = 4
FIRST_PORT = 10_000
"""The client's port of a load's first connection, which the others follow."""


def line(rtt_ms: int) -> Profile:
    """A line so fast and roomy that packets leave and arrive alike."""
    return symmetric(
        f"line-{rtt_ms}", bps=1_000_000_000, rtt_us=rtt_ms * 1000, queue_bytes=4_000_000, source="tests"
    )


def first_flight(packets: list[Packet], rtt_ms: float) -> list[Packet]:
    """Return what came within nine tenths of a round trip of the first."""
    return [packet for packet in packets if packet.ns - packets[0].ns < 0.9e6 * rtt_ms]


def gaps_ms(packets: list[Packet]) -> list[float]:
    return [(after.ns - before.ns) / 1e6 for before, after in itertools.pairwise(packets)]


SPREADS = [(30, 16), (30, 20), (100, 20), (100, 32), (300, 20), (300, 32)]


@pytest.mark.parametrize("is_tls", [False, True])
def test_a_spread_flight_leaves_evenly_over_the_handshakes_round_trip(lab: Lab, is_tls: bool) -> None:
    tls: dict[str, Any] = {"tls_flight_bytes": TLS_SEGMENTS * MSS_TIMESTAMPS, "port": 443}
    page = single_response(100 * MSS_TIMESTAMPS, **(tls if is_tls else {}))
    cells = [
        cell
        for rtt_ms, window in SPREADS
        for cell in make_cells(
            [page], [line(rtt_ms)], policies=(Policy(window, SPREAD),), seeds=1, conditions=[ALONE]
        )
    ]
    for (rtt_ms, window), load in zip(SPREADS, capture_loads(lab, cells), strict=True):
        (port,) = load.ports
        sent = load.sent(port)
        handshake_ms = load.handshake_ns(port) / 1e6
        assert handshake_ms == pytest.approx(rtt_ms, rel=0.01)
        if is_tls:
            handshake, sent = sent[:TLS_SEGMENTS], sent[TLS_SEGMENTS:]
            assert max(gaps_ms(handshake)) < 0.1
        first = sent[:window]
        assert gaps_ms(first) == pytest.approx([handshake_ms / window] * (window - 1), rel=0.05)
        assert sent[window].ns - first[0].ns >= 0.99e6 * rtt_ms


def test_what_fits_into_ten_segments_leaves_at_once_where_larger_flights_are_spread(lab: Lab) -> None:
    pages = [single_response(segments * MSS_TIMESTAMPS, number=segments) for segments in (10, 12)]
    cells = make_cells(pages, [line(100)], policies=(Policy(20, SPREAD),), seeds=1, conditions=[ALONE])
    ten, twelve = (gaps_ms(load.sent()) for load in capture_loads(lab, cells))
    assert max(ten) < 0.1
    assert twelve == pytest.approx([5.0] * 11, rel=0.05)


def test_a_paced_flight_sends_ten_at_once_and_then_pairs_in_half_a_round_trip(lab: Lab) -> None:
    pages = [
        single_response(60 * MSS_TIMESTAMPS),
        single_response(
            60 * MSS_TIMESTAMPS, number=2, port=443, tls_flight_bytes=TLS_SEGMENTS * MSS_TIMESTAMPS
        ),
    ]
    cells = make_cells(pages, [line(100)], policies=(Policy(20, PACED),), seeds=1, conditions=[ALONE])
    clear, tls = capture_loads(lab, cells)
    at_ms = [(packet.ns - clear.sent()[0].ns) / 1e6 for packet in clear.sent()[:20]]
    assert at_ms == pytest.approx([0.0] * 10 + [5.0 * (1 + later // 2) for later in range(10)], abs=0.3)
    sent = tls.sent()[TLS_SEGMENTS:]
    at_ms = [(packet.ns - sent[0].ns) / 1e6 for packet in sent[:20]]
    assert at_ms[:6] == pytest.approx([0.0] * 6, abs=0.3)
    assert at_ms[-1] == pytest.approx(35.0, rel=0.05)


def test_each_connection_has_the_window_that_its_own_handshake_calls_for(lab: Lab) -> None:
    origins = [{"host": f"{ms}.test", "distance_us": 1000 * ms} for ms in (0, 59, 61, 200)]
    page = make_page(1, *[60 * MSS_TIMESTAMPS] * 4, origins=origins)
    arm = plain(distance="recorded", neighbours=Neighbours())
    policies = (Policy(20), Policy(20, PACED, 100), Policy(20, AT_ONCE, 100))
    cells = make_cells([page], [line(40)], policies=policies, seeds=1, conditions=[arm])
    for cell, load in zip(cells, capture_loads(lab, cells), strict=True):
        assert load.answer["handshake_max_ns"] == pytest.approx(240e6, rel=0.001)
        for number, rtt_ms in enumerate((40, 99, 101, 240)):
            own = [packet for packet in load.received() if packet.target == FIRST_PORT + number]
            flight = first_flight(own, rtt_ms)
            assert len(flight) == (20 if rtt_ms > (cell.policy.beyond_ms or 0) else 10), (cell.policy, rtt_ms)


def test_a_guest_says_the_same_again_by_any_policy(lab: Lab) -> None:
    """Two boots capture the same packets at the same times."""
    origins = [{"host": f"{ms}.test", "distance_us": 1000 * ms} for ms in (0, 100)]
    page = make_page(1, *[60 * MSS_TIMESTAMPS] * 6, origins=origins, h2=True, port=443, tls_flight_bytes=4000)
    narrow = symmetric("narrow", bps=10_000_000, rtt_us=50_000, queue_bytes=20 * 1514, source="tests")
    policies = [Policy(20, SPREAD), Policy(20, PACED, 100), Policy(32, SPREAD, 100)]
    cells = make_cells([page], [narrow], policies=policies, seeds=2, conditions=[plain(distance="recorded")])
    once, again = (capture_loads(lab, order) for order in (cells, cells[::-1]))
    for first, second in zip(once, again[::-1], strict=True):
        assert first.answer == second.answer
        assert [(p.target, p.payload) for p in first.received()] == [
            (p.target, p.payload) for p in second.received()
        ]
        assert times_us(first) == pytest.approx(times_us(second), abs=1)


def times_us(load: Captured) -> list[float]:
    """When data reached the client, since the load's first packet."""
    return [(packet.ns - load.client[0].ns) / 1e3 for packet in load.received()]
