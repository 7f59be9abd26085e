"""Requests that a replayed browser holds back: until another response is there,
or until fewer are on their way."""

import dataclasses
from collections.abc import Sequence

import pytest

from replay.lab.guest_process import Lab
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import make_cells
from replay.runs.conditions import (
    DISCOVERY,
    LOW_PRIORITY_REQUESTS,
    REQUESTS,
    SLOW_REQUESTS,
    SLOW_RTT_US,
    SLOW_WEIGHT,
)
from replay.runs.policy import at_once
from tests.factories.lab_networks import FAST, RTT_MS, load_responses, make_page, plain

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
    images = [{"origin": host, "is_delayable": delayable} for host in hosts]
    return make_page(visit_id, {}, *images, origins=1 + max(hosts), h2=h2)


def waiting() -> Recipe:
    """A document that leads to a script, slow to come,
    and to an image for which the browser waits for the script."""
    image = {"response_bytes": 500, "waits_for": 1, "browser_delay_us": DELAY_MS * 1000}
    return make_page(WAITING, {}, 200_000, image)


def beside() -> Recipe:
    """A document that leads to an urgent response that takes long, and to images,
    each on a host of its own."""
    images = [{"is_delayable": True}] * SLOW_REQUESTS
    return make_page(BESIDE, {}, 2_000_000, *images, origins=2 + SLOW_REQUESTS)


@pytest.fixture(scope="module")
def loads(lab: Lab) -> Loads:
    """Images on hosts of their own, on one host, on the document's over HTTP/2, of high priority;
    and a page that waits: the times of each load."""
    pages = [
        page(SCATTERED, range(1, IMAGES + 1)),
        page(TOGETHER, [1] * IMAGES),
        page(SPOKEN_TO, [0] * IMAGES, h2=True),
        page(URGENT, range(1, IMAGES + 1), delayable=False),
        waiting(),
        beside(),
    ]
    arms = [plain(requests=name) for name in REQUESTS] + [plain(discovery=name) for name in DISCOVERY[1:]]
    _, each = load_responses(
        lab, make_cells(pages, [FAST, FAR], policies=at_once(10), seeds=1, conditions=arms)
    )
    return {
        (rows[0]["visit_id"], rows[0]["profile"], rows[0]["requests"], rows[0]["discovery"]): [
            (row["wanted_ms"], row["sent_ms"], row["last_byte_ms"]) for row in rows
        ]
        for rows in each
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
