"""Tells clients apart by their addresses, so that each has a share of what the service can do."""

from __future__ import annotations

import collections
import contextlib
import ipaddress
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Scope

    from api.http.problems import Problem

NETWORK_BITS = 64
"""One IPv6 client has all addresses of a prefix of this length."""


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
    address: str = (scope.get("client") or ("",))[0]
    try:
        return identify_client(address)
    except ValueError:
        return address


class Quota:
    """Places that clients share, so many each at most."""

    def __init__(self, most: int, each: int, refuse: Callable[[], Problem]) -> None:
        self._most = most
        self._each = each
        self._refuse = refuse
        self._taken: collections.Counter[str] = collections.Counter()

    @contextlib.contextmanager
    def take(self, client: str) -> Iterator[int]:
        """Hold a place for the block; yields how many the client has, or Problem."""
        if self._taken.total() >= self._most or self._taken[client] >= self._each:
            raise self._refuse()
        self._taken[client] += 1
        try:
            yield self._taken[client]
        finally:
            self._taken[client] -= 1
            if not self._taken[client]:
                del self._taken[client]
