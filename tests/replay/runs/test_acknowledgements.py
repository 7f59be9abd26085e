"""Acknowledgements of clients by system, and servers of 2010, which count them, from one guest."""

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.lab.guest_process import Lab
from replay.networks.profiles import Profile, symmetric
from replay.recipes.page_recipe import Recipe
from replay.runs.buffers import RECEIVERS
from replay.runs.cells import make_cells
from replay.runs.conditions import Neighbours
from replay.runs.policy import at_once
from tests.factories.lab_networks import FAST, RTT_MS, load, plain, single_response

pytestmark = pytest.mark.lab

AS_LINUX = ["unlimited", "linux", "android"]
DELAY_MS = (40, 50)
"""Time after which a single segment is acknowledged: 40 ms, and up to a jiffy of the guest's kernel."""

THIN = Profile(
    id="thin", down_bps=200_000_000, up_bps=25_600, rtt_us=20_000, queue_bytes=4_000_000, source="tests"
)
"""A network whose uplink needs 21 ms for an acknowledgement of 66 bytes,
so that their number decides how long a response takes."""

LONG = 300

Times = dict[tuple[str, str, int, int], float]


def page(segments: int) -> Recipe:
    return single_response(segments * MSS_TIMESTAMPS, number=segments, page=f"{segments}.test")


@pytest.fixture(scope="module")
def times(lab: Lab) -> Times:
    """Page times in ms by receiver, network, window and segments of the response."""
    arms = [plain(receiver=name, neighbours=Neighbours()) for name in RECEIVERS]
    cells = [
        *make_cells([page(2), page(4)], [FAST], policies=at_once(1, 2), seeds=1, conditions=arms),
        *make_cells([page(LONG)], [THIN], policies=at_once(10), seeds=1, conditions=arms),
    ]
    return {
        (row["receiver"], row["profile"], row["iw"], row["visit_id"]): row["page_ms"]
        for row in load(lab, cells)
    }


def test_windows_acknowledges_a_single_segment_late_and_the_others_at_once(times: Times) -> None:
    assert [times[name, "fast", 1, 2] for name in AS_LINUX] == pytest.approx([3 * RTT_MS] * 3, abs=3)
    late = times["windows", "fast", 1, 2] - 3 * RTT_MS
    assert DELAY_MS[0] <= late <= DELAY_MS[1] + 3


def test_two_segments_are_acknowledged_at_once_by_all(times: Times) -> None:
    assert [times[name, "fast", 2, 4] for name in RECEIVERS] == pytest.approx([3 * RTT_MS] * 4, abs=3)


def test_windows_sends_about_half_as_many_acknowledgements_throughout(times: Times) -> None:
    shares = [times["windows", "thin", 10, LONG] / times[name, "thin", 10, LONG] for name in AS_LINUX]
    assert min(shares) > 0.3
    assert max(shares) < 0.6


@pytest.mark.parametrize(
    ("control", "receiver", "in_two_flights"),
    [
        ("rfc2581", "windows", 25),  # RFC 6928 §5.1: 10 segments, and one more for each of 5 acknowledgements
        ("cubic", "windows", 30),  # 10, and one more for each of 10 segments that they acknowledge
        ("rfc2581", "unlimited", 30),  # each segment is acknowledged
    ],
)
def test_a_server_of_2010_grows_its_window_by_the_number_of_acknowledgements(
    lab: Lab, control: str, receiver: str, in_two_flights: int
) -> None:
    arm = plain(congestion_control=control, receiver=receiver, neighbours=Neighbours())
    pages = [page(in_two_flights), page(in_two_flights + 1)]
    rows = load(lab, make_cells(pages, [FAST], policies=at_once(10), seeds=1, conditions=[arm]))
    two, three = (round(row["page_ms"] / RTT_MS, 1) - 1 for row in rows)  # less the handshake
    assert two == pytest.approx(2, abs=0.3)
    assert three == pytest.approx(3, abs=0.3)


def test_a_server_of_2010_waits_for_a_timeout_where_the_end_of_a_response_is_lost(lab: Lab) -> None:
    """Of a burst of twelve the queue drops the last; nothing behind them tells of it, but a loss probe."""
    tight = symmetric("tight", bps=10_000_000, rtt_us=20_000, queue_bytes=10 * 1514, source="tests")
    arms = [plain(congestion_control=name, neighbours=Neighbours()) for name in ("cubic", "rfc2581")]
    rows = load(lab, make_cells([page(12)], [tight], policies=at_once(12), seeds=1, conditions=arms))
    probed, timed_out = (row["page_ms"] for row in rows)
    assert [row["segments_dropped"] > 0 for row in rows] == [True, True]
    assert probed < 200  # the least timeout
    assert timed_out > 220  # behind a round trip
