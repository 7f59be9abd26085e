"""Page loads of a browser that has to ask for the addresses of hosts, from one guest."""

import pytest

from replay.lab.guest_process import Lab
from replay.runs.cells import make_cells
from replay.runs.policy import at_once
from tests.factories.lab_networks import FAST, RTT_MS, load_responses, make_page, plain

pytestmark = pytest.mark.lab

SLOW_MS = 70
"""What the resolver needs for one of the hosts, beyond the round trip."""

DOCUMENT, SAME_HOST, AGAIN, SLOW, KNOWN = range(1, 6)
HOSTS = (
    {"host": "a.test", "port": 443},
    {"host": "a.test", "port": 80},
    {"host": "slow.test", "port": 443, "resolver_delay_us": SLOW_MS * 1_000},
    {"host": "known.test", "port": 443, "resolver_delay_us": None},
)

PAGE = make_page(
    1, *({"origin": origin} for origin in (0, 0, 1, 2, 3)), page="a.test", origins=HOSTS, h2=True
)
"""A document, and what it leads to: on its own connection, on another port of its host,
and on two other hosts."""


@pytest.fixture(scope="module")
def waited(lab: Lab) -> dict[str, dict[int, float]]:
    """Time in ms between wanting each response and its request, by the column `dns` and response."""
    arms = [plain(resolves_names=resolves) for resolves in (False, True)]
    _, each = load_responses(lab, make_cells([PAGE], [FAST], policies=at_once(10), seeds=1, conditions=arms))
    return {
        rows[0]["dns"]: {row["response_id"]: row["sent_ms"] - row["wanted_ms"] for row in rows}
        for rows in each
    }


def test_by_default_a_request_waits_for_its_connection_alone(waited: dict[str, dict[int, float]]) -> None:
    connecting = {DOCUMENT: RTT_MS, SAME_HOST: 0, AGAIN: RTT_MS, SLOW: RTT_MS, KNOWN: RTT_MS}
    assert waited["none"] == pytest.approx(connecting, abs=1)


def test_a_host_costs_a_round_trip_and_its_resolvers_time_once(waited: dict[str, dict[int, float]]) -> None:
    resolving = {DOCUMENT: RTT_MS, SAME_HOST: 0, AGAIN: 0, SLOW: RTT_MS + SLOW_MS, KNOWN: 0}
    expected = {number: waited["none"][number] + delay for number, delay in resolving.items()}
    assert waited["recorded"] == pytest.approx(expected, abs=1)
