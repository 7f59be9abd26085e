"""The layout of a guard, from which both of its sides are built."""

from __future__ import annotations

import dataclasses
import ipaddress
from collections.abc import Iterable
from typing import TypedDict

from crawler.egress import rules
from crawler.egress.machine import Machine
from crawler.egress.networks import Address, Network, is_refused

IPV4_LINKS = ipaddress.IPv4Network("198.18.0.0/15")
IPV6_LINKS = ipaddress.IPv6Network("fd66:6c69:6e6b::/48")
"""Ranges of the links' addresses: the benchmarking range, which no network routes,
and a unique local prefix."""

LINKS = 2**15
"""Number of possible links; each takes a pair of IPv4 addresses and an IPv6 /64."""


@dataclasses.dataclass(frozen=True, slots=True)
class Link:
    """A veth link, named after its number: the kernel refuses a second link of the same name."""

    number: int

    @property
    def name(self) -> str:
        return f"{rules.PREFIX}{self.number}"

    def addresses(self, version: int) -> tuple[str, str]:
        if version == 4:
            outside = IPV4_LINKS[self.number * 2]
            return f"{outside}/31", f"{outside + 1}/31"
        first = IPV6_LINKS[self.number << 64]  # the first address is the routers' anycast address
        return f"{first + 1}/64", f"{first + 2}/64"


class LayoutMessage(TypedDict):
    """A layout as JSON, for the process in the namespaces."""

    link: int
    versions: list[int]
    mtu: int
    uplinks: list[tuple[int, str]]
    local: list[str]
    relayed: list[str]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class GuardLayout:
    """The layout of one guard on the machine as it is now."""

    link: Link
    versions: tuple[int, ...]
    mtu: int
    uplinks: dict[int, str]
    local: tuple[Network, ...]
    """Networks refused on this machine besides those refused on every one."""
    relayed: tuple[Address, ...]
    """Nameservers at refused addresses, for which the relay answers."""

    def to_message(self) -> LayoutMessage:
        return {
            "link": self.link.number,
            "versions": list(self.versions),
            "mtu": self.mtu,
            "uplinks": list(self.uplinks.items()),
            "local": list(map(str, self.local)),
            "relayed": list(map(str, self.relayed)),
        }

    @classmethod
    def from_message(cls, given: LayoutMessage) -> GuardLayout:
        return cls(
            link=Link(given["link"]),
            versions=tuple(given["versions"]),
            mtu=given["mtu"],
            uplinks=dict(given["uplinks"]),
            local=tuple(map(ipaddress.ip_network, given["local"])),
            relayed=tuple(map(ipaddress.ip_address, given["relayed"])),
        )


def make_layout(
    link: Link,
    outside: Machine,
    versions: Iterable[int],
    *,
    blocked: tuple[Network, ...],
    nameservers: Iterable[Address],
) -> GuardLayout:
    local = (*outside.networks, *blocked)
    return GuardLayout(
        link=link,
        versions=tuple(versions),
        mtu=outside.mtu,
        uplinks=outside.uplinks,
        local=local,
        relayed=tuple(nameserver for nameserver in nameservers if is_refused(nameserver, local)),
    )
