"""Tells clients apart by their addresses, so that each has a share of what the service can do."""

import ipaddress

from starlette.types import Scope

NETWORK_BITS = 64
"""Length of the prefix by which IPv6 clients are told apart: one client has all addresses of it."""


def identify_client(address: str) -> str:
    """Return the client at an address: the address itself, or the network of an IPv6 address; ValueError if
    it is none.

    >>> [identify_client(address) for address in ("2001:db8::1", "::ffff:192.0.2.1", "192.0.2.1")]
    ['2001:db8::/64', '192.0.2.1', '192.0.2.1']
    """
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    mapped = parsed.ipv4_mapped
    return str(mapped or ipaddress.ip_network((parsed, NETWORK_BITS), strict=False))


def client_of(scope: Scope) -> str:
    """Return the client that a request is from."""
    address: str = (scope.get("client") or ("",))[0]
    try:
        return identify_client(address)
    except ValueError:
        return address
