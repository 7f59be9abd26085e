"""Requests that a replayed browser holds back: until another response is there,
or until fewer are on their way."""

import dataclasses
from collections.abc import Sequence

import pytest

from replay.lab.guest_process import Lab
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.cells import plan
from replay.runs.conditions import (
    DISCOVERY,
    LOW_PRIORITY_REQUESTS,
    REQUESTS,
    SLOW_REQUESTS,
    SLOW_RTT_US,
    SLOW_WEIGHT,
)
from replay.runs.responses import response_tables
from replay.runs.run import Result, replay
from tests.factories.lab_networks import FAST, RTT_MS, plain

pytestmark = pytest.mark.lab

FAR = dataclasses.replace(FAST, id="far", rtt_us=SLOW_RTT_US)
IMAGES = 25
DELAY_MS = 40
SCATTERED, TOGETHER, SPOKEN_TO, URGENT, WAITING, BESIDE = 1, 2, 3, 4, 5, 6

Times = list[tuple[float, float, float]]
"""When each response of a load was wanted, asked for and there, in ms."""
Loads = dict[tuple[int, str, str, str], Times]
"""By page, network, requests and discovery."""


def page(visit_id: int, hosts: Sequence[int], *, h2: bool = False, delayable: bool = True) -> Recipe:
    """A document on host 0, and images that it leads to at once on these hosts."""
    images = [
        Object(
            response_id=number,
            origin=host,
            parent=0,
            response_bytes=1_000,
            is_document=False,
            is_delayable=delayable,
        )
        for number, host in enumerate(hosts, start=2)
    ]
    return recipe(visit_id, images, origins=1 + max(hosts), h2=h2)


def recipe(visit_id: int, objects: Sequence[Object], *, origins: int, h2: bool = False) -> Recipe:
    origin = Origin(host="a.test", port=80, h2=h2, tls_flight_bytes=0, tls_after_bytes=0)
    document = Object(response_id=1, origin=0, parent=-1, response_bytes=1_000, is_document=True)
    return Recipe(
        page=f"{visit_id}.test",
        visit_id=visit_id,
        origins=(origin,) * origins,
        objects=(document, *objects),
        left_out=0,
    )


def waiting() -> Recipe:
    """A document that leads to a script, slow to come,
    and to an image for which the browser waits for the script."""
    script = Object(response_id=2, origin=0, parent=0, response_bytes=200_000, is_document=False)
    image = dataclasses.replace(
        script, response_id=3, response_bytes=500, waits_for=1, browser_delay_us=DELAY_MS * 1000
    )
    return recipe(WAITING, [script, image], origins=1)


def beside() -> Recipe:
    """A document that leads to an urgent response that takes long, and to images,
    each on a host of its own."""
    urgent = Object(response_id=2, origin=1, parent=0, response_bytes=2_000_000, is_document=False)
    images = [
        dataclasses.replace(
            urgent, response_id=number, origin=number - 1, response_bytes=1_000, is_delayable=True
        )
        for number in range(3, 3 + SLOW_REQUESTS)
    ]
    return recipe(BESIDE, [urgent, *images], origins=2 + SLOW_REQUESTS)


@pytest.fixture(scope="module")
def result(lab: Lab) -> Result:
    """Images on hosts of their own, on one host, on the document's over HTTP/2, of high priority;
    and a page that waits."""
    pages = [
        page(SCATTERED, range(1, IMAGES + 1)),
        page(TOGETHER, [1] * IMAGES),
        page(SPOKEN_TO, [0] * IMAGES, h2=True),
        page(URGENT, range(1, IMAGES + 1), delayable=False),
        waiting(),
        beside(),
    ]
    arms = [plain(requests=name) for name in REQUESTS] + [plain(discovery=name) for name in DISCOVERY[1:]]
    cells = plan(pages, [FAST, FAR], windows=(10,), seeds=1, conditions=arms)
    return replay(lab, cells, guests=1, responses=True)


@pytest.fixture(scope="module")
def loads(result: Result) -> Loads:
    """The times of each load."""
    assert [row["reason"] for row in result.rows if row["state"] != "done"] == []
    tables = [table.to_pylist() for table in response_tables(result)]
    return {
        (rows[0]["visit_id"], rows[0]["profile"], rows[0]["requests"], rows[0]["discovery"]): [
            (row["wanted_ms"], row["sent_ms"], row["last_byte_ms"]) for row in rows
        ]
        for rows in tables
    }


def turns(times: Times, rtt_ms: float) -> list[int]:
    """How many round trips after the first image each image was asked for, in the order of the page."""
    first = min(sent for _, sent, _ in times[1:])
    return [round((sent - first) / rtt_ms) for _, sent, _ in times[1:]]


def test_ten_requests_of_low_priority_are_on_their_way_at_a_time(loads: Loads) -> None:
    # Each takes two round trips: a connection, and the request.
    expected = [2 * (number // LOW_PRIORITY_REQUESTS) for number in range(IMAGES)]
    assert turns(loads[SCATTERED, "fast", "chromium", "recorded"], RTT_MS) == expected
    assert turns(loads[SCATTERED, "fast", "unlimited", "recorded"], RTT_MS) == [0] * IMAGES


def test_over_a_slow_network_there_are_eight_of_them(loads: Loads) -> None:
    expected = [2 * (number // SLOW_REQUESTS) for number in range(IMAGES)]
    assert turns(loads[SCATTERED, "far", "chromium", "recorded"], SLOW_RTT_US / 1e3) == expected


def test_all_are_wanted_at_once_however_long_they_are_held_back(loads: Loads) -> None:
    first, *others = [wanted_ms for wanted_ms, _, _ in loads[SCATTERED, "fast", "chromium", "recorded"][1:]]
    assert others == [first] * (IMAGES - 1)


@pytest.mark.parametrize("which", [SPOKEN_TO, URGENT])
def test_hosts_known_for_h2_and_urgent_requests_are_not_held_back(loads: Loads, which: int) -> None:
    assert turns(loads[which, "fast", "chromium", "recorded"], RTT_MS) == [0] * IMAGES


def test_a_host_over_http_1_has_six_either_way(loads: Loads) -> None:
    limited, unlimited = (turns(loads[TOGETHER, "fast", name, "recorded"], RTT_MS) for name in REQUESTS)
    assert limited == unlimited == [number // 6 for number in range(IMAGES)]


def test_over_a_slow_network_another_request_leaves_less_room(loads: Loads) -> None:
    document, _, *images = loads[BESIDE, "far", "chromium", "recorded"]
    room = SLOW_REQUESTS - SLOW_WEIGHT
    expected = [2 * (number // room) for number in range(SLOW_REQUESTS)]
    assert turns([document, *images], SLOW_RTT_US / 1e3) == expected


def test_what_waits_for_another_response_is_asked_for_after_it_and_the_browsers_delay(loads: Loads) -> None:
    _, (_, _, script), (image, _, _) = loads[WAITING, "fast", "chromium", "recorded"]
    assert image == pytest.approx(script + DELAY_MS, abs=0.01)


@pytest.mark.parametrize("discovery", DISCOVERY[1:])
def test_the_brackets_of_discovery_wait_for_the_parent_alone(loads: Loads, discovery: str) -> None:
    _, (script, _, _), (image, _, _) = loads[WAITING, "fast", "chromium", discovery]
    assert image == script
