"""The guard is checked and mended: its parts are really broken, and traffic to real servers shows the effect.

All of it happens in namespaces that are made for it: of root, and of an ordinary user who is root in his own.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from crawler.egress.guard import NEEDED
from crawler.egress.networks import is_refused
from tests.crawler.egress.breaking import CHOSEN, REACHED, REFUSED
from tests.crawler.egress.test_guard import WORLDS
from tests.crawler.egress.world import BLOCKED, GATEWAY, PUBLIC
from tests.crawler.namespaces import play

pytestmark = pytest.mark.slow

BREAKS = [fault.__name__ for fault in CHOSEN]

NOTICED = {
    "the_table_outside": "the nftables rules outside (table ffguard",
    "a_rule_outside": "the nftables rules outside (table ffguard",
    "all_tables_of_the_machine": "the nftables rules of the way out (table ffguard_uplink_up0)",
    "the_table_inside": "the nftables rules inside (table guard)",
    "a_rule_inside": "the nftables rules inside (table guard)",
    "a_refused_network": "the nftables rules inside (table guard)",
    "the_link": "the link's outer end (ffguard",
    "the_outer_end_is_down": "the link's outer end (ffguard",
    "the_outer_addresses": "the link's outer end (ffguard",
    "the_inner_end_is_down": "the link's inner end (eth0)",
    "the_inner_addresses": "the link's inner end (eth0)",
    "the_routes": "the routes inside",
    "another_route": "the routes inside",
    "loopback": "loopback inside",
    "the_capture": "its capture does not see its link",
    "forwarding": "forwarding by up0",
    "another_address_of_the_machine": "this machine's network is not what it was",
    "the_nameserver_is_the_gateway": "this machine's network is not what it was",
    "the_nameserver_is_another_of_the_machines_own_addresses": "this machine's network is not what it was",
}


@pytest.fixture(scope="module")
def worlds(server_folder: Path) -> Iterator[dict[str, Future[dict[str, Any]]]]:
    """Play all worlds at the same time: they mostly wait for connections that nothing answers."""
    with ThreadPoolExecutor(len(WORLDS)) as pool:
        yield {world: pool.submit(broken_guards, world, server_folder) for world in WORLDS}


def broken_guards(world: str, folder: Path) -> dict[str, Any]:
    temporary = folder / f"broken-{world}"  # pytest's own may not be entered by others
    return play("tests.crawler.egress.breaking", user=world, folder=temporary)


@pytest.fixture(scope="module", params=WORLDS)
def result(request: pytest.FixtureRequest, worlds: dict[str, Future[dict[str, Any]]]) -> dict[str, Any]:
    return worlds[request.param].result()


def test_a_whole_guard_passes_its_check(result: dict[str, Any]) -> None:
    assert result["whole"]["fault"] == ""
    assert set(result["whole"]["reached"].values()) == {"reached"}


def test_the_guards_processes_know_no_secret_of_the_crawl(result: dict[str, Any]) -> None:
    for environment in result["whole"]["environments"]:
        assert set(environment) <= set(NEEDED)


def test_the_gateway_its_link_and_the_operators_networks_are_refused_at_once(result: dict[str, Any]) -> None:
    assert result["whole"]["refused"] == dict.fromkeys(REFUSED, "ConnectionRefusedError")


def test_packets_are_refused_exactly_where_is_refused_says_so(result: dict[str, Any]) -> None:
    wanted = dict.fromkeys(REACHED[1:], False) | dict.fromkeys(REFUSED, True)
    assert result["whole"]["judged"] == wanted
    for name in BREAKS:
        assert result["broken"][name]["judged"] == wanted


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_part_is_named_by_every_check(result: dict[str, Any], name: str) -> None:
    first, second = result["broken"][name]["noticed"]
    assert NOTICED[name] in first
    assert first == second


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_guard_lets_no_refused_address_be_reached(result: dict[str, Any], name: str) -> None:
    assert "reached" not in result["broken"][name]["meanwhile"].values()


@pytest.mark.parametrize("name", BREAKS)
def test_mending_restores_dns_both_ip_versions_and_the_capture(result: dict[str, Any], name: str) -> None:
    broken = result["broken"][name]
    assert (broken["mended"], broken["then"]) == ("", "")
    assert broken["reached"] == dict.fromkeys(REACHED, "reached")
    assert broken["captured"] == [True, True]


@pytest.mark.parametrize("name", BREAKS)
def test_refused_addresses_are_refused_after_mending(result: dict[str, Any], name: str) -> None:
    assert result["broken"][name]["refused"] == dict.fromkeys(REFUSED, "ConnectionRefusedError")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no_way_out", "this machine has no default route"),
        ("a_firewall_that_drops", "this machine's firewall drops what it forwards (chain inet firewall f)"),
    ],
)
def test_a_missing_network_of_the_machine_is_reported_and_mended_once_it_is_back(
    result: dict[str, Any], name: str, words: str
) -> None:
    away = result["away"][name]
    assert all(words in noticed for noticed in away["noticed"])
    assert "reached" not in away["meanwhile"].values()
    assert away["mended"] == ""
    assert away["reached"] == dict.fromkeys(REACHED, "reached")


def test_nothing_is_left_of_a_guard_on_a_machine_whose_rules_were_flushed(result: dict[str, Any]) -> None:
    assert result["left"]["after"] == result["left"]["before"]
    assert result["left"]["after"]["forwarding"] == "0"


def test_a_guard_whose_namespace_process_died_is_given_up(result: dict[str, Any]) -> None:
    checked, mended = result["ended"]
    assert "the address guard ended" in checked
    assert "the address guard ended" in mended


def test_the_tests_public_addresses_are_refused_by_no_registry() -> None:
    assert not any(map(is_refused, [BLOCKED, GATEWAY, PUBLIC]))
