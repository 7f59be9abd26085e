"""Distance and sender by origin, from one guest: round trips, first flights, and what HTTP/3 stands for."""

from dataclasses import replace
from typing import Any

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.lab.guest_process import Lab
from replay.networks.profiles import Profile, symmetric
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import make_cells
from replay.runs.conditions import Conditions, Neighbours
from replay.runs.policy import PACED, Policy, at_once
from tests.factories.lab_networks import FAST, load, load_responses, make_page, plain

pytestmark = pytest.mark.lab

DISTANCE_MS = 80
LINE = symmetric("line", bps=10_000_000, rtt_us=40_000, queue_bytes=1_000_000, source="tests")
AS_RECORDED = plain(distance="recorded")
NEAR, FAR = 1, 2


def page(visit_id: int, *distances_ms: float, segments: int = 15, is_http3: bool = False) -> Recipe:
    """A page of one response from each origin, one after the other, in clear text."""
    origins = [
        {"host": f"{number}.test", "distance_us": round(1000 * distance)}
        for number, distance in enumerate(distances_ms)
    ]
    sizes = [segments * MSS_TIMESTAMPS] * len(origins)
    return make_page(visit_id, *sizes, origins=origins, is_chain=True, is_http3=is_http3)


def responses(
    lab: Lab, pages: list[Recipe], network: Profile, arm: Conditions, iw: int
) -> list[list[dict[str, Any]]]:
    """The responses of each page's load, without other traffic."""
    arm = replace(arm, neighbours=Neighbours())
    return load_responses(lab, make_cells(pages, [network], policies=at_once(iw), seeds=1, conditions=[arm]))[
        1
    ]


def test_a_distance_is_a_longer_round_trip_and_nothing_else(lab: Lab) -> None:
    near, far, mixed, again = responses(
        lab,
        [page(NEAR, 0), page(FAR, DISTANCE_MS), page(3, DISTANCE_MS, 0, DISTANCE_MS), page(4, 0)],
        LINE,
        AS_RECORDED,
        10,
    )
    (nearest,), (furthest,) = near, far
    handshake_and_request, all_trips = 2 * DISTANCE_MS, 3 * DISTANCE_MS
    assert furthest["sent_ms"] - nearest["sent_ms"] == pytest.approx(DISTANCE_MS, abs=0.1)
    assert furthest["first_byte_ms"] - nearest["first_byte_ms"] == pytest.approx(
        handshake_and_request, abs=0.1
    )
    assert furthest["last_byte_ms"] - nearest["last_byte_ms"] == pytest.approx(all_trips, abs=0.1)
    assert (nearest["flights"], furthest["flights"]) == (2, 2)
    first, second, third = mixed
    for response, distance_ms in ((first, DISTANCE_MS), (second, 0), (third, DISTANCE_MS)):
        waited = response["first_byte_ms"] - response["sent_ms"]
        assert waited - (nearest["first_byte_ms"] - nearest["sent_ms"]) == pytest.approx(distance_ms, abs=0.1)
    assert again == [nearest | {"page": "4.test", "visit_id": 4}]


def test_a_first_flight_is_as_long_from_afar(lab: Lab) -> None:
    near, far = responses(
        lab, [page(NEAR, 0, segments=10), page(FAR, DISTANCE_MS, segments=10)], LINE, AS_RECORDED, 10
    )
    spans = [response["last_byte_ms"] - response["first_byte_ms"] for (response,) in (near, far)]
    assert spans[0] == pytest.approx(9 * 1514 * 8 / 10_000, abs=0.1)
    assert spans[1] == pytest.approx(spans[0], abs=0.01)


def test_http3_keeps_its_sender_whatever_the_window(lab: Lab) -> None:
    over_http3 = page(1, 0, segments=40, is_http3=True)
    arms = [plain(http3="stand-in"), plain()]
    rows = load(lab, make_cells([over_http3], [FAST], policies=at_once(10, 45), seeds=1, conditions=arms))
    by_arm = {(row["http3"], row["iw"]): row for row in rows}
    assert by_arm["stand-in", 10]["page_ms"] == by_arm["stand-in", 45]["page_ms"]
    assert by_arm["stand-in", 10]["payload_bytes_http3"] == by_arm["stand-in", 10]["payload_bytes"]
    assert by_arm["tcp", 45]["page_ms"] < by_arm["tcp", 10]["page_ms"] - 90
    assert by_arm["tcp", 45]["payload_bytes_http3"] is None


def test_every_origin_has_the_sender_that_was_drawn(lab: Lab) -> None:
    many = page(1, *[0] * 30, segments=8)
    cells = make_cells(
        [many], [FAST], policies=at_once(10), seeds=2, conditions=[plain(senders="unknown-bbr")]
    )
    rows = {row["seed"]: row for row in load(lab, cells)}
    for cell in cells:
        letters = [origin.sender for origin in cell.origins]
        assert {"c", "b"} <= set(letters) <= {"c", "p", "b"}
        for letter, name in (("c", "at_once"), ("p", "paced"), ("b", "bbr"), ("3", "http3")):
            expected = letters.count(letter) * 8 * MSS_TIMESTAMPS
            assert rows[cell.seed][f"payload_bytes_{name}"] == expected


def test_a_paced_candidate_paces_cubic_and_bbr_paces_by_itself(lab: Lab) -> None:
    many = page(1, *[0] * 12, segments=20)  # Linux paces from the eleventh segment on
    arms = [plain(senders="unknown-bbr")]
    cells = make_cells([many], [FAST], policies=(Policy(30), Policy(30, PACED)), seeds=1, conditions=arms)
    letters = [origin.sender for origin in cells[0].origins]
    spread = [
        [response["last_byte_ms"] - response["first_byte_ms"] for response in each]
        for each in load_responses(lab, cells)[1]
    ]
    assert {"c", "b"} <= set(letters)
    for letter, held, free in zip(letters, *spread, strict=True):
        assert (free > 5) == (letter != "c")
        assert held > 5
