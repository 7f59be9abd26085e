"""Bounds the connections that one client holds, so that it cannot take all of the service's."""

import contextlib
import ctypes
import dataclasses
import ipaddress
import logging
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from granian.utils.proxies import wrap_asgi_with_proxy_headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.clients import identify_client

LOOKED_AT_EVERY_S = 1.0

TABLES = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
"""The kernel's lists of TCP connections (proc(5))."""

DESCRIPTORS = Path("/proc/self/fd")

FORWARDED = b"x-forwarded-for"

OPEN_STATES = ("01", "08")
"""ESTABLISHED and CLOSE_WAIT (include/net/tcp_states.h): what a client holds of ours."""

MOST_FORWARDED = 16_384
"""Most connections of proxies whose clients are known; those used longest ago are forgotten."""

LOG = logging.getLogger(__name__)

Peer = tuple[str, int]


@dataclasses.dataclass(frozen=True, slots=True)
class HeldConnection:
    """A connection of the service, as the kernel lists it."""

    peer: Peer
    inode: str


class ClientBound:
    """Wraps an ASGI application, and closes the oldest connections of a client that holds more than `most`.

    Requests of others at the same address are answered in milliseconds. A trusted proxy's connection is its
    last request's client's, named in X-Forwarded-For, whom the application sees.
    """

    def __init__(self, app: ASGIApp, *, port: int, most: int, proxies: Sequence[str] = ()) -> None:
        """`port` is the service's own; `proxies` are addresses and networks of trusted proxies."""
        self.app = app
        self._named = wrap_asgi_with_proxy_headers(self._note, list(proxies))
        self._port = port
        self._most = most
        self._forwarded: dict[Peer, str] = {}
        self._first_seen: dict[str, float] = {}
        self._has_warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["client"]:
            scope["peer"] = scope["client"]
            await self._named(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _note(self, scope: Scope, receive: Receive, send: Send) -> None:
        host, port = scope["peer"]
        peer = host, int(port)
        client = None
        if scope["client"] != scope["peer"]:
            with contextlib.suppress(ValueError):  # whatever it is, it is no address
                client = identify_client(scope["client"][0])
        elif not self._has_warned and _is_near(host) and FORWARDED in dict(scope["headers"]):
            self._has_warned = True
            LOG.warning(
                "requests from %s have X-Forwarded-For: if that is a proxy, name it in "
                "FIRSTFLIGHT_TRUSTED_PROXIES; all its clients count as one until then",
                host,
            )
        forwarded = self._forwarded  # the other thread puts a new one into its place
        forwarded.pop(peer, None)
        if client is None:
            scope["client"] = scope["peer"]
        else:
            forwarded[peer] = client
            if len(forwarded) > MOST_FORWARDED:
                del forwarded[next(iter(forwarded))]
        await self.app(scope, receive, send)

    def watch(self) -> None:
        """Check the connections in a thread."""

        def look() -> None:
            while True:
                time.sleep(LOOKED_AT_EVERY_S)
                with contextlib.suppress(
                    OSError
                ):  # no descriptor is left for the list: the next look may have one
                    self.close_excess()

        threading.Thread(target=look, daemon=True, name="clients").start()

    def close_excess(self) -> int:
        """Close what a client holds beyond the bound; return how many."""
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
        by_client: dict[str, list[HeldConnection]] = defaultdict(list)
        for connection in sorted(held, key=lambda connection: self._first_seen[connection.inode]):
            client = self._forwarded.get(connection.peer) or identify_client(connection.peer[0])
            by_client[client].append(connection)
        excess = [
            connection for each in by_client.values() for connection in each[: max(len(each) - self._most, 0)]
        ]
        for connection in excess:
            _shut_down(own[connection.inode], connection.inode)
        return len(excess)


def _is_near(address: str) -> bool:
    """Return True where a proxy may be: this machine, or a private network."""
    try:
        return ipaddress.ip_address(address).is_private
    except ValueError:
        return False


def _list_own_sockets() -> Iterator[tuple[str, int]]:
    for path in DESCRIPTORS.iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            kind, _, inode = str(path.readlink()).partition(":")
            if kind == "socket":
                yield inode.strip("[]"), int(path.name)


def _list_held(port: int) -> Iterator[HeldConnection]:
    for table in TABLES:
        if table.exists():  # no IPv6, no second table
            yield from parse_connections(table.read_text(encoding="ascii").splitlines()[1:], port)


def parse_connections(lines: Iterable[str], port: int) -> Iterator[HeldConnection]:
    """Yield open connections to a local port in the lines of the kernel's list.

    >>> line = "0: 0100007F:1F90 0200007F:C001 01 00000000:00000000 00:00000000 00000000 0 0 4711 1 0 20"
    >>> list(parse_connections([line], 8080)), list(parse_connections([line], 80))
    ([HeldConnection(peer=('127.0.0.2', 49153), inode='4711')], [])
    """
    for line in lines:
        _, local, peer, state, *_, inode = line.split()[:10]
        if state in OPEN_STATES and int(local.rpartition(":")[2], 16) == port:
            address, _, at = peer.partition(":")
            yield HeldConnection(peer=(_address(address), int(at, 16)), inode=inode)


def _address(text: str) -> str:
    """Return an address of 32-bit words, each with its last byte first."""
    raw = bytes.fromhex(text)
    parsed = ipaddress.ip_address(b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4)))
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)


def _shut_down(descriptor: int, inode: str) -> None:
    """Shut down a socket, if the descriptor is still that one: the server then closes it."""
    with contextlib.suppress(FileNotFoundError):
        if str((DESCRIPTORS / str(descriptor)).readlink()) == f"socket:[{inode}]":
            ctypes.CDLL(None).shutdown(descriptor, socket.SHUT_RDWR)
