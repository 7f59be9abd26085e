"""Page loads of a browser that has to ask for the addresses of hosts, from one guest."""

import pytest

from replay.lab.guest_process import Lab
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.cells import plan
from replay.runs.conditions import DNS
from replay.runs.responses import response_tables
from replay.runs.run import replay
from tests.factories.lab_networks import FAST, RTT_MS, plain

pytestmark = pytest.mark.lab

SLOW_MS = 70
"""What the resolver needs for one of the hosts, beyond the round trip."""

DOCUMENT, SAME_HOST, AGAIN, SLOW, KNOWN = range(1, 6)
HOSTS = (
    ("a.test", 443, 0),
    ("a.test", 80, 0),
    ("slow.test", 443, SLOW_MS * 1_000),
    ("known.test", 443, None),
)

PAGE = Recipe(
    page="a.test",
    visit_id=1,
    origins=tuple(
        Origin(
            host=host, port=port, h2=True, tls_flight_bytes=0, tls_after_bytes=0, resolver_delay_us=delay_us
        )
        for host, port, delay_us in HOSTS
    ),
    objects=tuple(
        Object(
            response_id=number,
            origin=origin,
            parent=-1 if number == DOCUMENT else 0,
            response_bytes=1_000,
            is_document=number == DOCUMENT,
        )
        for number, origin in ((DOCUMENT, 0), (SAME_HOST, 0), (AGAIN, 1), (SLOW, 2), (KNOWN, 3))
    ),
    left_out=0,
)
"""A document, and what it leads to: on its own connection, on another port of its host,
and on two other hosts."""


@pytest.fixture(scope="module")
def waited(lab: Lab) -> dict[str, dict[int, float]]:
    """Time in ms between wanting each response and its request, by the column `dns` and response."""
    arms = [plain(resolves_names=resolves) for resolves in (False, True)]
    result = replay(
        lab, plan([PAGE], [FAST], windows=(10,), seeds=1, conditions=arms), guests=1, responses=True
    )
    rows = [row for table in response_tables(result) for row in table.to_pylist()]
    return {
        name: {row["response_id"]: row["sent_ms"] - row["wanted_ms"] for row in rows if row["dns"] == name}
        for name in DNS
    }


def test_by_default_a_request_waits_for_its_connection_alone(waited: dict[str, dict[int, float]]) -> None:
    connecting = {DOCUMENT: RTT_MS, SAME_HOST: 0, AGAIN: RTT_MS, SLOW: RTT_MS, KNOWN: RTT_MS}
    assert waited["none"] == pytest.approx(connecting, abs=1)


def test_a_host_costs_a_round_trip_and_its_resolvers_time_once(waited: dict[str, dict[int, float]]) -> None:
    resolving = {DOCUMENT: RTT_MS, SAME_HOST: 0, AGAIN: 0, SLOW: RTT_MS + SLOW_MS, KNOWN: 0}
    expected = {number: waited["none"][number] + delay for number, delay in resolving.items()}
    assert waited["recorded"] == pytest.approx(expected, abs=1)
