"""Round trips and bytes of TLS handshakes, from one guest."""

from typing import Any

import pytest

from replay.lab.guest_process import Lab
from replay.recipes.page_recipe import Recipe
from replay.recipes.tls_records import RECORD_OVERHEAD_BYTES
from replay.runs.cells import make_cells
from replay.runs.conditions import HANDSHAKES
from replay.runs.policy import at_once
from tests.factories.lab_networks import FAST, RTT_MS, load, plain, single_response

pytestmark = pytest.mark.lab

FLIGHT_BYTES, TICKET_BYTES, RESPONSE_BYTES = 3_000, 300, 1_000
RESUMED_FLIGHT_BYTES = 250
CLEAR, ONE_TRIP, TWO_TRIPS, OVER_H2 = 1, 2, 3, 4

Rows = dict[tuple[int, str], dict[str, Any]]


def page(visit_id: int, *, trips: int = 1, tls: bool = True, h2: bool = False) -> Recipe:
    return single_response(
        RESPONSE_BYTES,
        number=visit_id,
        page=f"{visit_id}.test",
        port=443,
        h2=h2,
        tls_flight_bytes=FLIGHT_BYTES if tls else 0,
        tls_after_bytes=TICKET_BYTES if tls else 0,
        tls_trips=trips,
    )


@pytest.fixture(scope="module")
def rows(lab: Lab) -> Rows:
    pages = [
        page(CLEAR, tls=False),
        page(ONE_TRIP),
        page(TWO_TRIPS, trips=2),
        page(OVER_H2, trips=2, h2=True),
    ]
    arms = [plain(tls_handshake=name) for name in HANDSHAKES]
    rows = load(lab, make_cells(pages, [FAST], policies=at_once(10), seeds=1, conditions=arms))
    return {(row["visit_id"], row["tls_handshake"]): row for row in rows}


@pytest.mark.parametrize(
    ("which", "handshake", "trips"),
    [
        (ONE_TRIP, "recorded", 1),
        (TWO_TRIPS, "recorded", 2),
        (OVER_H2, "recorded", 2),
        (TWO_TRIPS, "resumed", 1),
        (ONE_TRIP, "early-data", 0),
        (TWO_TRIPS, "early-data", 0),
        (OVER_H2, "early-data", 0),
        (CLEAR, "recorded", 0),
        (CLEAR, "early-data", 0),
    ],
)
def test_a_handshake_takes_its_round_trips(rows: Rows, which: int, handshake: str, trips: int) -> None:
    connect_and_ask = 2
    assert rows[which, handshake]["page_ms"] == pytest.approx((connect_and_ask + trips) * RTT_MS, abs=5)


def test_a_handshake_sends_the_recorded_bytes_and_a_resumed_one_no_certificates(rows: Rows) -> None:
    answer = TICKET_BYTES + RESPONSE_BYTES + RECORD_OVERHEAD_BYTES
    for which in (ONE_TRIP, TWO_TRIPS, OVER_H2):
        sent = {name: rows[which, name]["payload_bytes"] - answer for name in HANDSHAKES}
        assert sent == {
            "recorded": FLIGHT_BYTES,
            "resumed": RESUMED_FLIGHT_BYTES,
            "early-data": RESUMED_FLIGHT_BYTES,
        }
    assert {rows[CLEAR, name]["payload_bytes"] for name in HANDSHAKES} == {RESPONSE_BYTES}
