"""Over a path with a delay, round trips are those of the path, and server delays those of the server."""

import asyncio
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
VISITS = 3
BUSY_US = 25_000
"""What a busy machine may add to the quickest of several times."""


def visited(protocol: Spoken) -> dict[str, Any]:
    with path(DELAY_S):
        return asyncio.run(_visited(protocol))


async def _visited(protocol: Spoken) -> dict[str, Any]:
    handler = by_path(WAITING.answers(protocol)[WAITING.host])
    web = DelayedWeb({WAITING.host: handler}, protocol=protocol)
    seen = await visit_hosts(web, *[WAITING.host] * VISITS, quic=protocol == "h3")
    assert {observation.visit["outcome"] for observation in seen} == {"ok"}
    return {
        "connections": [observation.connections for observation in seen],
        "responses": [observation.responses for observation in seen],
    }


@pytest.mark.parametrize("protocol", PROTOCOLS if ALL else ("h2", "h3"))
def test_a_paths_delay_is_in_the_round_trip_and_not_in_the_servers(protocol: str) -> None:
    seen = in_namespace("tests.crawler.visit.test_delayed:visited", protocol)
    trips = [
        min(connection["round_trip_us"] for connection in connections) for connections in seen["connections"]
    ]
    assert TRIP_US - TRUNCATED_US <= min(trips) <= TRIP_US + BUSY_US
    for trip, rows in zip(trips, seen["responses"], strict=True):
        assert {row["round_trip_us"] for row in rows} == {trip}
    for wait_ms in (0, 50, 200):
        took = [
            row["server_delay_us"] + row["round_trip_us"]
            for rows in seen["responses"]
            for row in rows
            if row["path"] == f"/think-time/{wait_ms}"
        ]
        assert len(took) == 2 * VISITS
        assert TRIP_US + wait_ms * 1000 - TRUNCATED_US <= min(took) <= TRIP_US + wait_ms * 1000 + BUSY_US
