"""The address guard, tried by a page that contacts every address, and servers that record contacts.

All of it happens in namespaces made for the tests: of root, and of an ordinary user who is root in his own.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crawler.egress.networks import is_refused
from tests.circles import ALL
from tests.crawler.egress.pages import TARGETS, answer
from tests.crawler.egress.world import (
    BLOCKED,
    BLOCKED_64,
    GATEWAY,
    NEIGHBOUR,
    NEIGHBOUR_6,
    ON_LINK,
    OWN,
    OWN_6,
    PUBLIC,
    PUBLIC_6,
)
from tests.crawler.namespaces import AS_ORDINARY, play
from tests.zoo.serving.namespace import in_namespace

pytestmark = pytest.mark.browser

WAYS = {"/fetch", "/redirect", "/image", "/socket", "/frame", "/worker", "tls"}


WORLDS = ["root", "own root"][: 1 + ALL] if os.geteuid() == 0 else ["own root"]


@pytest.fixture(scope="module", params=WORLDS)
def result(request: pytest.FixtureRequest, server_folder: Path) -> dict[str, Any]:
    """Return the addresses reached within the guard and, in `scripts/test --all`, without it
    in the first world."""
    passes = ["without", "within"] if ALL and request.param == WORLDS[0] else ["within"]
    folder = server_folder / f"world-{request.param}"  # pytest's own may not be entered by others
    return play("tests.crawler.egress.escape_attempts", *passes, user=request.param, folder=folder)


def reached(result: dict[str, Any]) -> dict[str, set[str]]:
    ways: dict[str, set[str]] = {}
    for address, way in result["reached"]:
        ways.setdefault(address, set()).add(way)
    return ways


PRIVATE = ["127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200"]


@pytest.mark.thorough
@pytest.mark.parametrize("result", WORLDS[:1], indirect=True)
def test_without_the_guard_a_page_reaches_every_address_in_every_way(result: dict[str, Any]) -> None:
    ends = result["without"]["visits"]
    assert {(outcome, unfiltered) for _, outcome, _, unfiltered in ends} == {("ok", True)}
    ways = reached(result["without"])
    for address in [
        *PRIVATE,
        NEIGHBOUR,
        NEIGHBOUR_6,
        OWN,
        OWN_6,
        GATEWAY,
        ON_LINK,
        BLOCKED,
        BLOCKED_64,
        "172.16.5.5",
        "198.51.100.1",
        "::1",
        "fd00:ec2::254",
    ]:
        assert ways[address] >= WAYS, address
    assert ways[NEIGHBOUR] >= {"/jump", "/redirected", "/", "quic"}


def test_within_the_guard_only_the_public_internet_is_reached(result: dict[str, Any]) -> None:
    ways = reached(result["within"])
    assert set(ways) == {PUBLIC, PUBLIC_6, "any"}
    assert ways["any"] == {"udp"}  # STUN's datagrams to the public address
    assert {"/tried-all", "quic"} <= ways[PUBLIC]
    assert {f"/to/http://{target}/redirect" for target in TARGETS} <= ways[PUBLIC]


def test_no_packet_to_a_refused_address_leaves_the_namespace(result: dict[str, Any]) -> None:
    assert result["seen"] == sorted([PUBLIC, PUBLIC_6])


def test_bytes_received_through_the_guard_are_counted_exactly(result: dict[str, Any]) -> None:
    assert result["captured"] == [len(answer("escapes.test", "/"))] * 2


def test_packets_and_the_log_count_the_same_bytes(result: dict[str, Any]) -> None:
    within = result["within"]
    for host in ("ok.test", "ok6.test", "escapes.test"):
        coverage, _, received, carried = within["sizes"][host]
        assert (coverage, carried) == (1, received), host
    if "without" in result:
        assert result["without"]["sizes"]["ok.test"][3] == [None] * len(within["sizes"]["ok.test"][2])
        assert within["sizes"]["ok.test"][:3] == result["without"]["sizes"]["ok.test"][:3]


def test_packets_and_the_log_count_the_same_datagrams(result: dict[str, Any]) -> None:
    for received, carried in result["within"]["datagrams"]:
        assert carried == received


def test_no_browser_has_the_capture_socket(result: dict[str, Any]) -> None:
    assert set(result["within"]["captured_by"]) == {"ourselves"}


def test_quic_passes_the_guard_to_public_addresses(result: dict[str, Any]) -> None:
    outcome, *protocols = result["within"]["by_quic"]
    assert outcome == "ok"
    assert "h3" in protocols


@pytest.mark.outcomes("ok", "blocked")
def test_a_site_at_a_refused_address_is_blocked_and_others_are_visited(result: dict[str, Any]) -> None:
    public = ("ok", None, False)
    blocked = ("blocked", "net::ERR_CONNECTION_REFUSED", False)
    ends = [(host, tuple(end)) for host, *end in result["within"]["visits"]]
    assert ends == [
        ("ok.test", public),
        ("ok6.test", public),
        ("escapes.test", public),
        ("jump.test", public),
        ("redirect.test", blocked),
        ("private.test", blocked),
        ("metadata.test", blocked),
        ("10.9.9.9", blocked),
        ("127.0.0.1", blocked),
        (GATEWAY, blocked),
        (BLOCKED, blocked),
        ("rebind.test", public),
        ("rebind.test", blocked),
    ]


def test_addresses_of_the_guard_do_not_change_after_it_is_up(result: dict[str, Any]) -> None:
    at_first, at_last = result["addresses"]
    assert at_first == at_last
    assert {info["family"] for info in at_first} == {"inet", "inet6"}


def test_two_guards_do_not_share_a_namespace(result: dict[str, Any]) -> None:
    assert len(set(result["namespaces"])) == 2


def test_a_browser_lives_on_when_its_guard_is_mended_and_measures_as_before(result: dict[str, Any]) -> None:
    first, *others = result["mended"]
    assert first[:2] == ["ok", 1]
    assert others == [first, first]


def test_nothing_is_left_of_a_guard_even_after_its_crawl_was_killed(result: dict[str, Any]) -> None:
    network = result["network"]
    assert network["changed"]
    assert network["before"] == network["after"] == network["after_kill"]
    assert network["before"]["forwarding"] == "0"


def test_a_guard_that_is_gone_is_noticed_and_lets_no_browser_in(result: dict[str, Any]) -> None:
    lost = result["lost"]
    assert lost["entered"] == 0
    assert "the address guard ended" in lost["fault"]
    assert lost["then"] != 0


def test_an_ordinary_user_is_told_in_one_line_what_to_do(tmp_path: Path) -> None:
    code = "from crawler.egress.guard import set_up_guard\nwith set_up_guard(): pass"
    done = subprocess.run(
        [*AS_ORDINARY, sys.executable, "-B", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    last = done.stderr.strip().splitlines()[-1]
    assert "the address guard cannot be set up: it takes root, or CAP_NET_ADMIN" in last


def test_the_private_servers_of_the_tests_have_refused_addresses() -> None:
    assert all(map(is_refused, [*PRIVATE, NEIGHBOUR, NEIGHBOUR_6]))
    assert not any(map(is_refused, [OWN, OWN_6, GATEWAY, ON_LINK, BLOCKED, BLOCKED_64, PUBLIC, PUBLIC_6]))


def test_without_the_kernels_permission_there_is_no_capture() -> None:
    assert in_namespace("crawler.egress.namespace:open_captures") == []  # it has no eth0
