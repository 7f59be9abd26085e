"""What the guard needs to know of the machine's own network; `python -m crawler.egress.machine` prints what it would refuse.

In a container the machine is the container. `scripts/up` asks on the host's network and hands on the answer, so that guards in
containers refuse the host too.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import sys
from typing import TYPE_CHECKING, Any

from crawler.egress.networks import beyond_registries
from crawler.egress.programs import listed
from crawler.errors import EgressUnavailable

if TYPE_CHECKING:
    from crawler.egress.networks import Network

BEYOND = {"gateway", "via", "nexthops"}
"""What a route has that leads to another machine first."""

NO_WAY_OUT = "this machine has no default route: there is no Internet to crawl"


@dataclasses.dataclass(frozen=True, slots=True)
class Machine:
    """The network outside, as it is now."""

    uplinks: dict[int, str]
    """Interface of the default route, by IP version; it is up."""
    mtu: int
    """Of the narrowest of them: it sets the MSS that the browsers announce, which must be the machine's."""
    networks: tuple[Network, ...]
    """No page's business though they may be public: the machine's addresses, and, of the interfaces that have a default
    route, gateways and all networks that are reached without one."""


def machine() -> Machine:
    """As it is now; EgressUnavailable where there is no way out at all."""
    links = listed("address", "show")
    networks = _own(links)
    uplinks: dict[int, str] = {}
    for version in (4, 6):
        defaults, around = _routed(version)
        networks += around
        if defaults:
            uplinks[version] = defaults[0]
    if not uplinks:
        raise EgressUnavailable(NO_WAY_OUT)
    ours = [link for link in links if link["ifname"] in uplinks.values()]
    for link in ours:
        if not {"UP", "LOWER_UP"} <= set(link["flags"]):
            raise EgressUnavailable(f"this machine's way out, {link['ifname']}, is down")
    return Machine(uplinks, min(int(link["mtu"]) for link in ours), beyond_registries(networks))


def _own(links: list[dict[str, Any]]) -> list[Network]:
    """The machine's addresses."""
    infos = [one for link in links for one in link.get("addr_info", ())]
    return [ipaddress.ip_network(one["local"]) for one in infos if "local" in one]


def _routed(version: int) -> tuple[list[str], list[Network]]:
    """The interfaces that default routes leave by; their gateways, and the networks that are on their links."""
    routes = [
        one for one in listed(f"-{version}", "route", "show") if one.get("type", "unicast") == "unicast"
    ]
    hops = [
        hop for one in routes if one["dst"] == "default" for hop in one.get("nexthops", [one]) if "dev" in hop
    ]
    gateways = [hop.get("gateway") or hop.get("via", {}).get("host") for hop in hops]
    uplinks = [str(hop["dev"]) for hop in hops]
    on_link = [
        one["dst"]
        for one in routes
        if one["dst"] != "default" and BEYOND.isdisjoint(one) and one.get("dev") in uplinks
    ]
    return uplinks, [ipaddress.ip_network(one) for one in (*filter(None, gateways), *on_link)]


def main() -> int:
    """Print what no page may reach of this machine, on one line, as in FIRSTFLIGHT_BLOCKED_NETWORKS; 1 if it cannot be told."""
    try:
        found = [*_own(listed("address", "show")), *_routed(4)[1], *_routed(6)[1]]
    except EgressUnavailable as exc:
        print(exc, file=sys.stderr)
        return 1
    print(",".join(map(str, beyond_registries(found))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
