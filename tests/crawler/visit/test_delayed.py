"""Over a path with a delay, round trips are those of the path, and server delays those of the server."""

import asyncio
import collections
import time
from collections.abc import Sequence
from typing import Any

import pytest

from tests.circles import ALL
from tests.crawler.visiting import visit_hosts
from tests.zoo.case import PROTOCOLS, by_path
from tests.zoo.comparing import TRUNCATED_US
from tests.zoo.painting import WAITING
from tests.zoo.serving.delayed import DelayedWeb, path
from tests.zoo.serving.namespace import in_namespace
from tests.zoo.serving.server import Spoken

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DELAY_S = 0.03
TRIP_US = 60_000
VISITS = 2
TRIES = 6
"""Most times that the page is visited again where a busy machine delays everything, after a pause that
grows."""
BUSY_US = 25_000
"""What a busy machine may add to the quickest of several times."""


def visited(protocol: Spoken) -> list[dict[str, Any]]:
    with path(DELAY_S):
        return asyncio.run(_visited(protocol))


async def _visited(protocol: Spoken) -> list[dict[str, Any]]:
    handler = by_path(WAITING.answers(protocol)[WAITING.host])
    web = DelayedWeb({WAITING.host: handler}, protocol=protocol)
    seen = await visit_hosts(web, *[WAITING.host] * VISITS, quic=protocol == "h3")
    assert {observation.visit["outcome"] for observation in seen} == {"ok"}
    return [
        {"connections": observation.connections, "responses": observation.responses} for observation in seen
    ]


def least_times(visits: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Return the least round trip, and the least time to the first byte of each path, in microseconds."""
    least = {"round trip": min(round_trip(load) for load in visits)}
    for row in (row for load in visits for row in load["responses"]):
        took = row["server_delay_us"] + row["round_trip_us"]
        least[row["path"]] = min(least.get(row["path"], took), took)
    return least


def round_trip(load: dict[str, Any]) -> int:
    least: int = min(connection["round_trip_us"] for connection in load["connections"])
    return least


@pytest.mark.parametrize("protocol", PROTOCOLS if ALL else ("h2", "h3"))
def test_a_paths_delay_is_in_the_round_trip_and_not_in_the_servers(protocol: str) -> None:
    wanted = {"round trip": TRIP_US} | {
        f"/think-time/{wait_ms}": TRIP_US + 1000 * wait_ms for wait_ms in (0, 50, 200)
    }
    visits: list[dict[str, Any]] = []
    for seconds in range(TRIES):
        time.sleep(seconds)
        visits += in_namespace("tests.crawler.visit.test_delayed:visited", protocol)
        least = least_times(visits)
        if all(least[name] <= wanted_us + BUSY_US for name, wanted_us in wanted.items()):
            break
    for name, wanted_us in wanted.items():
        assert wanted_us - TRUNCATED_US <= least[name] <= wanted_us + BUSY_US, name
    for load in visits:
        assert {row["round_trip_us"] for row in load["responses"]} == {round_trip(load)}
        asked = collections.Counter(row["path"] for row in load["responses"])
        assert {asked[name] for name in wanted if name != "round trip"} == {2}
