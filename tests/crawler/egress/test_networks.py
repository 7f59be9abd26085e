"""Refused addresses: the edges of each network, and agreement with Python's own list."""

import ipaddress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.egress.networks import (
    NAT64,
    REFUSED,
    Network,
    is_refused,
    merge_local,
    parse_networks,
    refused_networks,
)
from crawler.egress.rules import inside_rules, outside_rules
from crawler.errors import EgressUnavailable

EDGES = [
    ("0.255.255.255", True),
    ("1.0.0.0", False),
    ("9.255.255.255", False),
    ("10.0.0.0", True),
    ("10.255.255.255", True),
    ("11.0.0.0", False),
    ("100.63.255.255", False),
    ("100.64.0.0", True),
    ("100.100.100.200", True),
    ("100.127.255.255", True),
    ("100.128.0.0", False),
    ("126.255.255.255", False),
    ("127.0.0.1", True),
    ("128.0.0.0", False),
    ("168.63.129.15", False),
    ("168.63.129.16", True),
    ("168.63.129.17", False),
    ("169.253.255.255", False),
    ("169.254.169.254", True),
    ("169.255.0.0", False),
    ("172.15.255.255", False),
    ("172.16.0.0", True),
    ("172.31.255.255", True),
    ("172.32.0.0", False),
    ("192.0.0.192", True),
    ("192.0.1.0", False),
    ("192.167.255.255", False),
    ("192.168.0.0", True),
    ("192.169.0.0", False),
    ("198.17.255.255", False),
    ("198.18.0.0", True),
    ("198.19.255.255", True),
    ("198.20.0.0", False),
    ("223.255.255.255", False),
    ("224.0.0.251", True),
    ("255.255.255.255", True),
    ("::", True),
    ("::1", True),
    ("::10.0.0.1", True),
    ("::ffff:10.0.0.1", True),
    ("::ffff:93.184.216.34", False),
    ("64:ff9b::10.0.0.1", True),
    ("64:ff9b::169.254.169.254", True),
    ("64:ff9b::93.184.216.34", False),
    ("64:ff9b:1::93.184.216.34", True),
    ("100::1", True),
    ("1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", True),
    ("2000::", False),
    ("2001::1", True),
    ("2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", True),
    ("2001:200::", False),
    ("2001:db8::1", True),
    ("2001:db9::", False),
    ("2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", False),
    ("2002:a00:1::1", True),
    ("2003::", False),
    ("2606:2800:220:1::34", False),
    ("3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", False),
    ("3fff::", True),
    ("3fff:1000::", False),
    ("4000::", True),
    ("5f00::1", True),
    ("fd00:ec2::254", True),
    ("fd20:ce::254", True),
    ("fe80::1", True),
    ("fe80::1%eth0", True),
    ("fec0::1", True),
    ("ff02::fb", True),
]


@pytest.mark.parametrize(("address", "refused"), EDGES)
def test_an_address_is_refused_unless_it_is_of_the_public_internet(address: str, refused: bool) -> None:
    assert is_refused(address) is refused


STRICTER = [
    "168.63.129.16/32",  # a platform, at a public address
    "192.0.0.9/32",  # anycast of PCP and TURN: no web
    "192.0.0.10/32",
    "192.88.99.0/24",
    "224.0.0.0/4",  # global in scope, but many
    "2001::/23",  # anycast, AMT, AS112, ORCHIDv2, DRIP: no web
    "2002::/16",
    "64:ff9b::/96",  # by what it carries
    "::/3",
    "3fff::/20",  # younger than some Pythons
    "4000::/2",  # Python knows the special blocks, not that the rest is unassigned
    "8000::/1",
]
"""Networks that we refuse although Python's `is_global`, in some version, does not."""


def edges() -> list[Any]:
    networks = [ipaddress.ip_network(refused.network) for refused in REFUSED] + [NAT64]
    collected: set[Any] = set()
    for network in networks:
        for number in (int(network[0]) - 1, int(network[0]), int(network[-1]), int(network[-1]) + 1):
            if 0 <= number < 2**network.max_prefixlen:
                collected.add(type(network[0])(number))
    return list(collected)


def agrees(address: Any) -> bool:
    stricter = [ipaddress.ip_network(refused) for refused in STRICTER]
    return is_refused(address) is not address.is_global or (
        is_refused(address) and any(address in network for network in stricter)
    )


def test_every_edge_agrees_with_python_but_where_we_are_stricter() -> None:
    assert [address for address in edges() if not agrees(address)] == []


@given(st.ip_addresses())
def test_any_address_agrees_with_python_but_where_we_are_stricter(address: Any) -> None:
    if getattr(address, "ipv4_mapped", None) is None:
        assert agrees(address)


@given(st.ip_addresses(v=4))
def test_an_address_that_is_carried_in_another_is_judged_by_itself(address: ipaddress.IPv4Address) -> None:
    assert is_refused(f"::ffff:{address}") is is_refused(f"64:ff9b::{address}") is is_refused(address)


def test_every_refused_network_has_a_source() -> None:
    assert all(refused.source and refused.name for refused in REFUSED)


@pytest.mark.parametrize("local", [(), parse_networks("9.9.9.0/24 9.9.10.1 2606:4700::/32 2606:4701::1")])
def test_the_rules_of_both_sides_hold_the_same_networks(local: tuple[Network, ...]) -> None:
    for rules in (inside_rules(nameservers=[], local=local), outside_rules(table="t", link="l", local=local)):
        for networks in refused_networks(local):
            assert f"elements = {{ {', '.join(map(str, networks))} }}" in rules


@settings(deadline=None)
@given(st.ip_addresses(), st.integers(0, 128))
def test_an_operators_networks_are_refused_in_every_form(address: Any, length: int) -> None:
    network = ipaddress.ip_network((address, length % (address.max_prefixlen + 1)), strict=False)
    local = parse_networks(str(network))
    assert is_refused(network[0], local)
    assert is_refused(network[-1], local)
    if network.version == 4:
        assert is_refused(f"::ffff:{network[-1]}", local)
        assert is_refused(f"64:ff9b::{network[-1]}", local)


def test_addresses_beside_an_operators_networks_are_not_refused() -> None:
    local = parse_networks("9.9.9.0/24,2606:4700::/32")
    neighbours = ["9.9.8.255", "9.9.10.0", "64:ff9b::9.9.10.0", "2606:4701::"]
    assert not any(is_refused(neighbour, local) for neighbour in neighbours)


@pytest.mark.parametrize(
    "named", ["9.9.9.9, 9.9.10.0/24", "9.9.9.9 9.9.10.0/24", " ,9.9.9.9,\t9.9.10.0/24,\n"]
)
def test_an_operator_may_write_commas_and_spaces(named: str) -> None:
    assert list(map(str, parse_networks(named))) == ["9.9.9.9/32", "9.9.10.0/24"]


def test_no_names_are_no_networks() -> None:
    assert parse_networks("") == parse_networks(" ,") == ()


def test_an_ipv4_mapped_network_is_the_ipv4_network() -> None:
    assert is_refused("9.9.9.9", parse_networks("::ffff:9.9.9.0/120"))


@pytest.mark.parametrize(
    "bad",
    ["9.9.9.300", "9.9.9.9/24", "9.9.9.0/33", "example.com", "9.9.9.0/24;", "2606::/200", "run-scripts/up"],
)
def test_a_malformed_network_is_reported_in_one_line(bad: str) -> None:
    with pytest.raises(EgressUnavailable) as caught:
        parse_networks(f"9.9.9.9, {bad}")
    (line,) = str(caught.value).splitlines()
    assert line.startswith("FIRSTFLIGHT_BLOCKED_NETWORKS: ")
    assert bad in line


def test_the_number_of_an_operators_networks_is_limited() -> None:
    with pytest.raises(EgressUnavailable, match="1,000 at most"):
        parse_networks(" ".join(f"9.9.{number // 256}.{number % 256}" for number in range(1001)))


def test_networks_refused_everywhere_are_left_out_of_local_networks() -> None:
    networks = map(ipaddress.ip_network, ["10.0.0.0/8", "fe80::/64", "9.9.9.0/25", "9.9.9.128/25", "::1"])
    assert list(map(str, merge_local(networks))) == ["9.9.9.0/24"]
