"""Which addresses no page may reach: all that are not globally reachable unicast, and a few that are but should not be.

The nftables rules are made of the same list, so what is refused on the wire and what is called refused agree.
"""

from __future__ import annotations

import dataclasses
import functools
import ipaddress
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

IPV4_REGISTRY = "IANA IPv4 Special-Purpose Address Registry"
IPV6_REGISTRY = "IANA IPv6 Special-Purpose Address Registry"


@dataclasses.dataclass(frozen=True, slots=True)
class Refused:
    """One network, and who says that it is not of the public Internet."""

    network: str
    name: str
    source: str


REFUSED = [
    Refused("0.0.0.0/8", "this network", f"{IPV4_REGISTRY}, RFC 791"),
    Refused("10.0.0.0/8", "private use", f"{IPV4_REGISTRY}, RFC 1918"),
    Refused("100.64.0.0/10", "shared address space; 100.100.100.200 is metadata", "RFC 6598"),
    Refused("127.0.0.0/8", "loopback", f"{IPV4_REGISTRY}, RFC 1122"),
    Refused("168.63.129.16/32", "Azure's platform, metadata", "Microsoft: What is IP address 168.63.129.16?"),
    Refused("169.254.0.0/16", "link-local; 169.254.169.254 is metadata", f"{IPV4_REGISTRY}, RFC 3927"),
    Refused("172.16.0.0/12", "private use", f"{IPV4_REGISTRY}, RFC 1918"),
    Refused(
        "192.0.0.0/24", "IETF protocol assignments; 192.0.0.192 is metadata", f"{IPV4_REGISTRY}, RFC 6890"
    ),
    Refused("192.0.2.0/24", "documentation", f"{IPV4_REGISTRY}, RFC 5737"),
    Refused("192.88.99.0/24", "6to4 relays, withdrawn", "RFC 7526"),
    Refused("192.168.0.0/16", "private use", f"{IPV4_REGISTRY}, RFC 1918"),
    Refused("198.18.0.0/15", "benchmarking; the guard's own link", f"{IPV4_REGISTRY}, RFC 2544"),
    Refused("198.51.100.0/24", "documentation", f"{IPV4_REGISTRY}, RFC 5737"),
    Refused("203.0.113.0/24", "documentation", f"{IPV4_REGISTRY}, RFC 5737"),
    Refused("224.0.0.0/4", "multicast", "RFC 5771"),
    Refused("240.0.0.0/4", "reserved, and the broadcast address", f"{IPV4_REGISTRY}, RFC 1112, RFC 919"),
    Refused(
        "::/3", "not global unicast: loopback, unspecified, IPv4-mapped, local NAT64", "RFC 4291, RFC 8215"
    ),
    Refused(
        "2001::/23", "IETF protocol assignments, Teredo among them", f"{IPV6_REGISTRY}, RFC 2928, RFC 4380"
    ),
    Refused("2001:db8::/32", "documentation", f"{IPV6_REGISTRY}, RFC 3849"),
    Refused("2002::/16", "6to4, which carries any IPv4 address", f"{IPV6_REGISTRY}, RFC 3056"),
    Refused("3fff::/20", "documentation", f"{IPV6_REGISTRY}, RFC 9637"),
    Refused("4000::/2", "not assigned; segment routing", "RFC 4291, RFC 9602"),
    Refused("8000::/1", "not global unicast: unique local, link-local, multicast", "RFC 4291, RFC 4193"),
]
"""Everything else is passed, and so is `NAT64` around an IPv4 address that is."""

NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""The well-known prefix (RFC 6052): in a network of IPv6 alone, the whole IPv4 Internet is behind it."""


@functools.cache
def refused_networks() -> tuple[tuple[ipaddress.IPv4Network, ...], tuple[ipaddress.IPv6Network, ...]]:
    """The refused networks of IPv4 and of IPv6, merged, with the forms that carry a refused IPv4 address."""
    networks = [ipaddress.ip_network(one.network) for one in REFUSED]
    v4 = [network for network in networks if isinstance(network, ipaddress.IPv4Network)]
    v6 = [_embedded(network) for network in v4]
    for network in networks:
        if isinstance(network, ipaddress.IPv6Network):
            v6 += network.address_exclude(NAT64) if NAT64.subnet_of(network) else [network]
    return tuple(ipaddress.collapse_addresses(v4)), tuple(ipaddress.collapse_addresses(v6))


def is_refused(address: str | Address) -> bool:
    """Whether no page may reach this address; ValueError if it is none.

    >>> is_refused("10.0.0.1"), is_refused("::ffff:10.0.0.1"), is_refused("fe80::1%eth0"), is_refused("9.9.9.9")
    (True, True, True, False)
    """
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:  # the kernel sends IPv4 to it
            return is_refused(found.ipv4_mapped)
        plain = ipaddress.IPv6Address(int(found))  # one with a scope id is in no network
        return any(plain in network for network in refused_networks()[1])
    return any(found in network for network in refused_networks()[0])


def _embedded(network: ipaddress.IPv4Network) -> ipaddress.IPv6Network:
    """The NAT64 form of an IPv4 network."""
    first = int(NAT64.network_address) | int(network.network_address)
    return ipaddress.IPv6Network((first, 96 + network.prefixlen))
