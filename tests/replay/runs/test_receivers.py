"""First receive windows of clients, from one guest."""

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.lab.guest_process import Lab
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.buffers import RECEIVERS
from replay.runs.cells import plan
from replay.runs.run import replay
from tests.factories.lab_networks import FAST, RTT_MS, plain

pytestmark = pytest.mark.lab

IW = 100
SIZES = {"within Linux's": 44, "within Android's": 60, "beyond both": 99}
"""Segments of a response, which all fit into the server's initial window."""

Trips = dict[tuple[str, int], float]


def page(segments: int) -> Recipe:
    origin = Origin(host="a.test", port=80, h2=False, tls_flight_bytes=0, tls_after_bytes=0)
    size = segments * MSS_TIMESTAMPS
    one = Object(response_id=1, origin=0, parent=-1, response_bytes=size, is_document=True)
    return Recipe(page=f"{segments}.test", visit_id=segments, origins=(origin,), objects=(one,), left_out=0)


@pytest.fixture(scope="module")
def trips(lab: Lab) -> Trips:
    """Round trips of each page to each receiver."""
    arms = [plain(receiver=name) for name in RECEIVERS]
    cells = plan([page(size) for size in SIZES.values()], [FAST], windows=(IW,), seeds=1, conditions=arms)
    rows = replay(lab, cells, guests=1).rows
    assert [row["reason"] for row in rows if row["state"] != "done"] == []
    return {(row["receiver"], row["visit_id"]): round(row["page_ms"] / RTT_MS) for row in rows}


def test_a_client_takes_its_first_receive_window_at_once_and_no_more(trips: Trips) -> None:
    found = {name: [trips[name, size] for size in SIZES.values()] for name in RECEIVERS}
    assert found == {"unlimited": [2, 2, 2], "linux": [2, 3, 3], "android": [2, 2, 3], "windows": [2, 3, 3]}
