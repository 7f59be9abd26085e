"""The bounds of initial windows, held against a real TCP stack whose window is known.

It boots the guest's kernel.
"""

from collections import Counter

import pytest

from replay.lab.guest_process import Lab
from studies.first_flight.__main__ import HEAD, REASONS_HEAD, reasons, rows, verdict
from studies.first_flight.grid import (
    EXCHANGES,
    NETWORKS,
    SERVERS,
    THINKING_NETWORKS,
    measure,
    thinking_exchanges,
    work,
)
from tests.replay.conftest import built_lab

pytestmark = [pytest.mark.lab, pytest.mark.thorough]

WALL_S = 120


@pytest.fixture(scope="module")
def lab() -> Lab:
    return built_lab()


def test_the_bounds_hold_the_truth_and_clear_text_is_exact(lab: Lab) -> None:
    outcomes = measure(lab, work(NETWORKS[:2], EXCHANGES, ("cubic", "bbr"), (2, 10, 32)), silence_s=WALL_S)
    verdicts = Counter(map(verdict, outcomes))
    assert not verdicts["wrong"]
    clear = [
        verdict(outcome) for outcome in outcomes if outcome.exchange.id == "cleartext" and outcome.is_longer
    ]
    assert Counter(clear) == {"exact": len(clear)}
    assert len(clear) > 40
    assert all(len(row) == len(HEAD) for row in rows("at once", outcomes))


@pytest.mark.parametrize("network", [THINKING_NETWORKS[0], THINKING_NETWORKS[3], THINKING_NETWORKS[-1]])
def test_the_bounds_hold_the_truth_of_real_servers_that_think(lab: Lab, network: object) -> None:
    """OpenSSL and nginx with their tickets, resumed and not, over short and long paths and with losses."""
    servers = [
        server for server in SERVERS if server[0] != "go"
    ]  # whose compiler is not among the Debian packages
    networks = [thinking_network for thinking_network in THINKING_NETWORKS if thinking_network is network]
    asked = work(
        networks, thinking_exchanges(servers), ("cubic", "bbr"), (4, 10, 32), shares=(1.3, 6.0), cells=60
    )
    outcomes = measure(lab, asked, silence_s=WALL_S)
    verdicts = Counter(map(verdict, outcomes))
    assert not verdicts["wrong"]
    assert verdicts["exact"] + verdicts["bounded"] > len(outcomes) / 3
    assert all(len(row) == len(REASONS_HEAD) for row in reasons("thinking", outcomes))
