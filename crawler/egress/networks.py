"""The addresses that no page may reach: all that are not globally reachable unicast, and a few that are.

Those few are special-purpose and metadata addresses, refused everywhere, and local networks: the machine's
own and those that its operator names. The nftables rules are made from the same list as `is_refused`, so that
both agree.
"""

import dataclasses
import functools
import ipaddress
from collections.abc import Iterable
from typing import TypeAlias

from crawler.errors import EgressUnavailable

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

IPV4_REGISTRY = "IANA IPv4 Special-Purpose Address Registry"
IPV6_REGISTRY = "IANA IPv6 Special-Purpose Address Registry"


@dataclasses.dataclass(frozen=True, slots=True)
class RefusedNetwork:
    """A network that is not part of the public Internet, and the source that says so."""

    network: str
    name: str
    source: str


REFUSED = [
    RefusedNetwork("0.0.0.0/8", "this network", f"{IPV4_REGISTRY}, RFC 791"),
    RefusedNetwork("10.0.0.0/8", "private use", f"{IPV4_REGISTRY}, RFC 1918"),
    RefusedNetwork("100.64.0.0/10", "shared address space; 100.100.100.200 is metadata", "RFC 6598"),
    RefusedNetwork("127.0.0.0/8", "loopback", f"{IPV4_REGISTRY}, RFC 1122"),
    RefusedNetwork(
        "168.63.129.16/32", "Azure's platform, metadata", "Microsoft: What is IP address 168.63.129.16?"
    ),
    RefusedNetwork("169.254.0.0/16", "link-local; 169.254.169.254 is metadata", f"{IPV4_REGISTRY}, RFC 3927"),
    RefusedNetwork("172.16.0.0/12", "private use", f"{IPV4_REGISTRY}, RFC 1918"),
    RefusedNetwork(
        "192.0.0.0/24", "IETF protocol assignments; 192.0.0.192 is metadata", f"{IPV4_REGISTRY}, RFC 6890"
    ),
    RefusedNetwork("192.0.2.0/24", "documentation", f"{IPV4_REGISTRY}, RFC 5737"),
    RefusedNetwork("192.88.99.0/24", "6to4 relays, withdrawn", "RFC 7526"),
    RefusedNetwork("192.168.0.0/16", "private use", f"{IPV4_REGISTRY}, RFC 1918"),
    RefusedNetwork("198.18.0.0/15", "benchmarking; the guard's own link", f"{IPV4_REGISTRY}, RFC 2544"),
    RefusedNetwork("198.51.100.0/24", "documentation", f"{IPV4_REGISTRY}, RFC 5737"),
    RefusedNetwork("203.0.113.0/24", "documentation", f"{IPV4_REGISTRY}, RFC 5737"),
    RefusedNetwork("224.0.0.0/4", "multicast", "RFC 5771"),
    RefusedNetwork(
        "240.0.0.0/4", "reserved, and the broadcast address", f"{IPV4_REGISTRY}, RFC 1112, RFC 919"
    ),
    RefusedNetwork(
        "::/3", "not global unicast: loopback, unspecified, IPv4-mapped, local NAT64", "RFC 4291, RFC 8215"
    ),
    RefusedNetwork(
        "2001::/23", "IETF protocol assignments, Teredo among them", f"{IPV6_REGISTRY}, RFC 2928, RFC 4380"
    ),
    RefusedNetwork("2001:db8::/32", "documentation", f"{IPV6_REGISTRY}, RFC 3849"),
    RefusedNetwork("2002::/16", "6to4, which carries any IPv4 address", f"{IPV6_REGISTRY}, RFC 3056"),
    RefusedNetwork("3fff::/20", "documentation", f"{IPV6_REGISTRY}, RFC 9637"),
    RefusedNetwork("4000::/2", "not assigned; segment routing", "RFC 4291, RFC 9602"),
    RefusedNetwork(
        "8000::/1", "not global unicast: unique local, link-local, multicast", "RFC 4291, RFC 4193"
    ),
]
"""Refused networks. All other addresses pass, and so does NAT64 of an IPv4 address that passes."""

NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""The well-known NAT64 prefix (RFC 6052): in an IPv6-only network the IPv4 Internet is behind it."""


SETTING = "FIRSTFLIGHT_BLOCKED_NETWORKS"
NAMED_LIMIT = 1000
"""Most networks that an operator may name: they are sent and looked up one by one."""

MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
"""IPv4-mapped addresses (RFC 4291 §2.5.5.2), to which the kernel sends IPv4."""


@functools.lru_cache(maxsize=16)
def refused_networks(
    local: tuple[Network, ...] = (),
) -> tuple[tuple[ipaddress.IPv4Network, ...], tuple[ipaddress.IPv6Network, ...]]:
    """Return refused networks of IPv4 and of IPv6, merged, with the IPv6 forms of refused IPv4 addresses.

    `local` are refused on this machine alone.
    """
    networks = [ipaddress.ip_network(refused.network) for refused in REFUSED]
    v4 = [network for network in (*networks, *local) if isinstance(network, ipaddress.IPv4Network)]
    v6 = [_embed_in_nat64(network) for network in v4] + [
        network for network in local if isinstance(network, ipaddress.IPv6Network)
    ]
    for network in networks:
        if isinstance(network, ipaddress.IPv6Network):
            v6 += network.address_exclude(NAT64) if NAT64.subnet_of(network) else [network]
    return tuple(ipaddress.collapse_addresses(v4)), tuple(ipaddress.collapse_addresses(v6))


def is_refused(address: str | Address, local: tuple[Network, ...] = ()) -> bool:
    """Return whether no page may reach this address; ValueError if it is none.

    >>> is_refused("10.0.0.1"), is_refused("::ffff:10.0.0.1"), is_refused("fe80::1%eth0"), is_refused("9.9.9.9")
    (True, True, True, False)
    >>> is_refused("9.9.9.9", parse_networks("9.9.9.0/24"))
    True
    """  # noqa: E501
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_refused(ip.ipv4_mapped, local)
        plain = ipaddress.IPv6Address(int(ip))  # an address with a scope id is in no network
        return any(plain in network for network in refused_networks(local)[1])
    return any(ip in network for network in refused_networks(local)[0])


def parse_networks(named: str) -> tuple[Network, ...]:
    """Parse networks and addresses, separated by commas or spaces; EgressUnavailable names a mistake.

    >>> parse_networks("192.0.2.0/24, 2001:db8::7 ::ffff:192.0.2.1")
    (IPv4Network('192.0.2.0/24'), IPv6Network('2001:db8::7/128'), IPv4Network('192.0.2.1/32'))
    """
    words = named.replace(",", " ").split()
    if len(words) > NAMED_LIMIT:
        raise EgressUnavailable(f"{SETTING} names {len(words):,} networks: {NAMED_LIMIT:,} at most")
    try:
        return tuple(_unmap(ipaddress.ip_network(word)) for word in words)
    except ValueError as exc:
        raise EgressUnavailable(
            f"{SETTING}: {exc}: write networks and addresses like 198.51.100.0/24, 2001:db8::7"
        ) from exc


def merge_local(networks: Iterable[Network]) -> tuple[Network, ...]:
    known4, known6 = refused_networks()
    v4 = [network for network in networks if isinstance(network, ipaddress.IPv4Network)]
    v6 = [network for network in networks if isinstance(network, ipaddress.IPv6Network)]
    return (
        *(network for network in ipaddress.collapse_addresses(v4) if not any(map(network.subnet_of, known4))),
        *(network for network in ipaddress.collapse_addresses(v6) if not any(map(network.subnet_of, known6))),
    )


def _unmap(network: Network) -> Network:
    if isinstance(network, ipaddress.IPv6Network) and network.subnet_of(MAPPED):
        carried = ipaddress.IPv4Address(int(network.network_address) & 0xFFFF_FFFF)
        return ipaddress.IPv4Network((carried, network.prefixlen - MAPPED.prefixlen))
    return network


def _embed_in_nat64(network: ipaddress.IPv4Network) -> ipaddress.IPv6Network:
    first = int(NAT64.network_address) | int(network.network_address)
    return ipaddress.IPv6Network((first, 96 + network.prefixlen))
