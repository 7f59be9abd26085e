"""Bounds the connections that one client holds, so that it cannot take all of the service's."""

import contextlib
import ctypes
import dataclasses
import ipaddress
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

LOOKED_AT_EVERY_S = 1.0

TABLES = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
"""The kernel's lists of TCP connections (proc(5))."""

DESCRIPTORS = Path("/proc/self/fd")

OPEN_STATES = ("01", "08")
"""ESTABLISHED and CLOSE_WAIT (include/net/tcp_states.h): what a client holds of ours."""

FORWARDED = b"x-forwarded-for"

NETWORK_BITS = 64
"""Length of the prefix by which IPv6 clients are told apart: one client has all addresses of it."""

Peer = tuple[str, int]
"""Address and port at the other end of a connection."""


@dataclasses.dataclass(frozen=True, slots=True)
class Held:
    """A connection of the service, as the kernel lists it."""

    peer: Peer
    inode: str


class ClientBound:
    """Wraps an ASGI application, and closes the oldest connections of a client that holds more than `most`.

    The oldest, since requests of others at the same address are answered in milliseconds. Behind a proxy of
    this machine or its network, which names the client in X-Forwarded-For, a connection is its last request's
    client's.
    """

    def __init__(self, app: ASGIApp, *, port: int, most: int) -> None:
        """`port` is the service's own."""
        self.app = app
        self._port = port
        self._most = most
        self._forwarded: dict[Peer, str] = {}
        self._first_seen: dict[str, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] == "http" and scope["client"] and _is_near(scope["client"][0]):
            for name, value in scope["headers"]:
                if name == FORWARDED:
                    self._forwarded[tuple(scope["client"])] = (
                        value.decode("latin-1").rpartition(",")[2].strip()
                    )
        await self.app(scope, receive, send)

    def watch(self) -> None:
        """Look at the connections in a thread of its own, for as long as the process runs."""

        def look() -> None:
            while True:
                time.sleep(LOOKED_AT_EVERY_S)
                with contextlib.suppress(
                    OSError
                ):  # no descriptor is left for the list: the next look may have one
                    self.close_excess()

        threading.Thread(target=look, daemon=True, name="clients").start()

    def close_excess(self) -> int:
        """Close what a client holds beyond the bound; returns the number of closed connections."""
        if sum(1 for _ in DESCRIPTORS.iterdir()) <= self._most:
            return 0
        own = dict(_list_own_sockets())
        held = [connection for connection in _list_held(self._port) if connection.inode in own]
        now = time.monotonic()
        self._first_seen = {
            connection.inode: self._first_seen.get(connection.inode, now) for connection in held
        }
        open_peers = {connection.peer for connection in held}
        self._forwarded = {
            peer: client for peer, client in list(self._forwarded.items()) if peer in open_peers
        }
        by_client: dict[str, list[Held]] = defaultdict(list)
        for connection in sorted(held, key=lambda connection: self._first_seen[connection.inode]):
            by_client[identify_client(self._forwarded.get(connection.peer, connection.peer[0]))].append(
                connection
            )
        excess = [
            connection for each in by_client.values() for connection in each[: max(len(each) - self._most, 0)]
        ]
        for connection in excess:
            _shut_down(own[connection.inode], connection.inode)
        return len(excess)


def _is_near(address: str) -> bool:
    """Return True for an address of this machine or a private network, where a proxy in front of the service
    is."""
    try:
        return ipaddress.ip_address(address).is_private
    except ValueError:
        return False


def identify_client(address: str) -> str:
    """Return the client at an address: the address itself, or the network of an IPv6 address.

    >>> [identify_client(address) for address in ("2001:db8::1", "::ffff:192.0.2.1", "unknown")]
    ['2001:db8::/64', '192.0.2.1', 'unknown']
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    mapped = parsed.ipv4_mapped
    return str(mapped or ipaddress.ip_network((parsed, NETWORK_BITS), strict=False))


def _list_own_sockets() -> Iterator[tuple[str, int]]:
    """Yield the inode and descriptor of each socket of this process."""
    for path in DESCRIPTORS.iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            kind, _, inode = str(path.readlink()).partition(":")
            if kind == "socket":
                yield inode.strip("[]"), int(path.name)


def _list_held(port: int) -> Iterator[Held]:
    """Open connections to a local port."""
    for table in TABLES:
        if table.exists():  # no IPv6, no second table
            yield from parse_connections(table.read_text(encoding="ascii").splitlines()[1:], port)


def parse_connections(lines: Iterable[str], port: int) -> Iterator[Held]:
    """Open connections to a local port in the lines of the kernel's list.

    >>> line = "0: 0100007F:1F90 0200007F:C001 01 00000000:00000000 00:00000000 00000000 0 0 4711 1 0 20"
    >>> list(parse_connections([line], 8080)), list(parse_connections([line], 80))
    ([Held(peer=('127.0.0.2', 49153), inode='4711')], [])
    """
    for line in lines:
        _, local, peer, state, *_, inode = line.split()[:10]
        if state in OPEN_STATES and int(local.rpartition(":")[2], 16) == port:
            address, _, at = peer.partition(":")
            yield Held(peer=(_address(address), int(at, 16)), inode=inode)


def _address(text: str) -> str:
    """Return the address that the kernel writes as 32-bit words, each with its last byte first."""
    raw = bytes.fromhex(text)
    parsed = ipaddress.ip_address(b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4)))
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)


def _shut_down(descriptor: int, inode: str) -> None:
    """Shut down a socket of this process, if the descriptor is still that socket: the server then closes
    it."""
    with contextlib.suppress(FileNotFoundError):
        if str((DESCRIPTORS / str(descriptor)).readlink()) == f"socket:[{inode}]":
            ctypes.CDLL(None).shutdown(descriptor, socket.SHUT_RDWR)
