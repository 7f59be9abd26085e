"""The machine's own network, as the guard needs to know it;
`python -m crawler.egress.machine` prints its refused networks.

In a container the machine is the container. `scripts/up` runs the command on the host's network and passes on
the output, so that guards in containers refuse the host too.
"""

import dataclasses
import ipaddress
import sys
from typing import Any

from crawler.egress.networks import Network, merge_local
from crawler.egress.programs import run_ip_json
from crawler.errors import EgressUnavailable

BEYOND = {"gateway", "via", "nexthops"}
"""Keys of a route that leads to another machine first."""

NO_WAY_OUT = "this machine has no default route: there is no Internet to crawl"


@dataclasses.dataclass(frozen=True, slots=True)
class Machine:
    """The machine's network at one moment."""

    uplinks: dict[int, str]
    """Interface of the default route by IP version; all are up."""
    mtu: int
    """Smallest MTU of the uplinks: it sets the MSS that browsers announce, which must be the machine's."""
    networks: tuple[Network, ...]
    """Networks to refuse though they may be public: the machine's addresses, and gateways and on-link
    networks of default routes.
    """


def read_machine() -> Machine:
    """Read the machine's network; EgressUnavailable without a default route."""
    links = run_ip_json("address", "show")
    networks = _own_networks(links)
    uplinks: dict[int, str] = {}
    for version in (4, 6):
        defaults, around = _read_routes(version)
        networks += around
        if defaults:
            uplinks[version] = defaults[0]
    if not uplinks:
        raise EgressUnavailable(NO_WAY_OUT)
    ours = [link for link in links if link["ifname"] in uplinks.values()]
    for link in ours:
        if not {"UP", "LOWER_UP"} <= set(link["flags"]):
            raise EgressUnavailable(f"this machine's way out, {link['ifname']}, is down")
    return Machine(uplinks, min(int(link["mtu"]) for link in ours), merge_local(networks))


def _own_networks(links: list[dict[str, Any]]) -> list[Network]:
    infos = [info for link in links for info in link.get("addr_info", ())]
    return [ipaddress.ip_network(info["local"]) for info in infos if "local" in info]


def _read_routes(version: int) -> tuple[list[str], list[Network]]:
    """List interfaces of default routes, and their gateways with the networks on their links."""
    routes = [
        route
        for route in run_ip_json(f"-{version}", "route", "show")
        if route.get("type", "unicast") == "unicast"
    ]
    hops = [
        hop
        for route in routes
        if route["dst"] == "default"
        for hop in route.get("nexthops", [route])
        if "dev" in hop
    ]
    gateways = [hop.get("gateway") or hop.get("via", {}).get("host") for hop in hops]
    uplinks = [str(hop["dev"]) for hop in hops]
    on_link = [
        route["dst"]
        for route in routes
        if route["dst"] != "default" and BEYOND.isdisjoint(route) and route.get("dev") in uplinks
    ]
    return uplinks, [ipaddress.ip_network(destination) for destination in (*filter(None, gateways), *on_link)]


def main() -> int:
    """Print this machine's refused networks, as in FIRSTFLIGHT_BLOCKED_NETWORKS; exit code 1 if unknown."""
    try:
        networks = [*_own_networks(run_ip_json("address", "show")), *_read_routes(4)[1], *_read_routes(6)[1]]
    except EgressUnavailable as exc:
        print(exc, file=sys.stderr)
        return 1
    print(",".join(map(str, merge_local(networks))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
