"""First receive windows of clients, from one guest."""

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.lab.guest_process import Lab
from replay.recipes.page_recipe import Recipe
from replay.runs.buffers import RECEIVERS
from replay.runs.cells import make_cells
from replay.runs.policy import at_once
from tests.factories.lab_networks import FAST, RTT_MS, load, plain, single_response

pytestmark = pytest.mark.lab

IW = 100
SIZES = {"within Linux's": 44, "within Android's": 60, "beyond both": 99}
"""Segments of a response, which all fit into the server's initial window."""

Trips = dict[tuple[str, int], float]


def page(segments: int) -> Recipe:
    return single_response(segments * MSS_TIMESTAMPS, number=segments, page=f"{segments}.test")


@pytest.fixture(scope="module")
def trips(lab: Lab) -> Trips:
    arms = [plain(receiver=name) for name in RECEIVERS]
    cells = make_cells(
        [page(size) for size in SIZES.values()], [FAST], policies=at_once(IW), seeds=1, conditions=arms
    )
    rows = load(lab, cells)
    return {(row["receiver"], row["visit_id"]): round(row["page_ms"] / RTT_MS) for row in rows}


def test_a_client_takes_its_first_receive_window_at_once_and_no_more(trips: Trips) -> None:
    trips_by_receiver = {name: [trips[name, size] for size in SIZES.values()] for name in RECEIVERS}
    assert trips_by_receiver == {
        "unlimited": [2, 2, 2],
        "linux": [2, 3, 3],
        "android": [2, 2, 3],
        "windows": [2, 3, 3],
    }
