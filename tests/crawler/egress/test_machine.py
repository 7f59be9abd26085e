"""A machine's neighbours are found from its routes and addresses; the routes are real, in a namespace."""

import contextlib
import io
import subprocess
from collections.abc import Iterable
from typing import Any

import pytest

from crawler.egress import machine as machines
from crawler.errors import EgressUnavailable
from tests.zoo.serving.namespace import in_namespace

LINK = ["link add up0 type veth peer other", "link set up0 up", "link set other up"]
IPV4 = [*LINK, "address add 9.9.1.7/24 dev up0"]

SETUPS: dict[str, tuple[list[str], list[str]]] = {
    "the link of the default route": ([*IPV4, "route add default via 9.9.1.1"], ["9.9.1.0/24"]),
    "private networks are refused anyway": (
        [*LINK, "address add 10.1.2.3/24 dev up0", "route add default via 10.1.2.1"],
        [],
    ),
    "a gateway beside the machine's network": (
        [
            *LINK,
            "address add 9.9.1.7/32 dev up0",
            "route add 9.8.8.1 dev up0",
            "route add default via 9.8.8.1",
        ],
        ["9.8.8.1/32", "9.9.1.7/32"],
    ),
    "a gateway without a network": (
        [*LINK, "address add 9.9.1.7/32 dev up0", "route add default via 9.8.8.1 dev up0 onlink"],
        ["9.8.8.1/32", "9.9.1.7/32"],
    ),
    "a link without a gateway": ([*IPV4, "route add default dev up0"], ["9.9.1.0/24"]),
    "two ways out": (
        [
            *IPV4,
            "address add 9.7.1.7/24 dev other",
            "route add default nexthop via 9.9.1.1 nexthop via 9.7.1.1",
        ],
        ["9.7.1.0/24", "9.9.1.0/24"],
    ),
    "another network by the gateway is not on the link": (
        [*IPV4, "route add 9.6.0.0/16 via 9.9.1.2", "route add default via 9.9.1.1"],
        ["9.9.1.0/24"],
    ),
    "only the machine's address of another link": (
        [*IPV4, "address add 9.5.0.1/16 dev other", "route add default via 9.9.1.1"],
        ["9.5.0.1/32", "9.9.1.0/24"],
    ),
    "both IP versions": (
        [
            *IPV4,
            "address add 2606:4700:1::7/64 dev up0 nodad",
            "route add default via 9.9.1.1",
            "route add default via 2606:4700:1::1",
        ],
        ["9.9.1.0/24", "2606:4700:1::/64"],
    ),
}


def read_networks(commands: list[str]) -> dict[str, Any]:
    subprocess.run(["ip", "-batch", "-"], input="\n".join(commands) + "\n", text=True, check=True)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert machines.main() == 0
    try:
        machine = machines.read_machine()
    except EgressUnavailable as exc:
        return {"fault": str(exc), "printed": printed.getvalue().strip()}
    return {
        "uplinks": sorted(machine.uplinks.items()),
        "networks": list(map(str, machine.networks)),
        "printed": printed.getvalue().strip(),
    }


def of(commands: Iterable[str]) -> dict[str, Any]:
    result: dict[str, Any] = in_namespace("tests.crawler.egress.test_machine:read_networks", list(commands))
    return result


@pytest.mark.parametrize(("commands", "networks"), SETUPS.values(), ids=SETUPS)
def test_neighbours_are(commands: list[str], networks: list[str]) -> None:
    result = of(commands)
    assert result["networks"] == networks
    assert result["printed"] == ",".join(networks)


def test_a_host_without_a_default_route_still_lists_its_addresses() -> None:
    result = of(IPV4)
    assert result == {
        "fault": "this machine has no default route: there is no Internet to crawl",
        "printed": "9.9.1.7/32",
    }


def test_a_default_route_without_a_carrier_is_down() -> None:
    result = of([*IPV4, "route add default via 9.9.1.1", "link set other down"])
    assert result["fault"] == "this machine's way out, up0, is down"
