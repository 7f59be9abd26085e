"""The local web as a server: real pages' structure on loopback, every host on an address of its own."""

from __future__ import annotations

import asyncio
import ipaddress
import resource
import socket
from typing import TYPE_CHECKING, NamedTuple, Self

from localweb.certificates import Authority
from localweb.connection import Connection
from localweb.content import Played, play
from localweb.deployment import Deployed, deploy
from localweb.faults import Fault
from localweb.log import TruthLog
from localweb.modes import Mode, Origin

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from localweb.recipes import Page

NETWORK = ipaddress.IPv4Network("127.20.0.0/16")
"""Where the hosts' addresses are taken from; all of 127/8 is loopback on Linux."""

SCHEME_PORTS = {"http": 80, "https": 443}

BACKLOG = 512

CONNECTIONS_EXPECTED = 4096
"""Descriptors wanted beside the listeners' own."""


class LocalWebError(Exception):
    """The local web cannot be played here."""


class Ports(NamedTuple):
    """Ports that every host listens on; 0 lets the system choose, for each host anew."""

    http: int = 0
    https: int = 0


class Listener:
    """One origin on its address, and the connections that are open to it."""

    def __init__(self, deployed: Deployed, *, log: TruthLog, authority: Authority) -> None:
        self.origin = deployed.origin
        self.fault = deployed.fault
        self.find = deployed.find
        self.log = log
        self.opened: set[Connection] = set()
        self._alpn = deployed.alpn
        self._authority = authority
        self._context: ssl.SSLContext | None = None
        self._server: asyncio.Server | None = None

    @property
    def context(self) -> ssl.SSLContext:
        """TLS for this host; made when it is first needed, since it takes milliseconds."""
        if self._context is None:
            self._context = self._authority.context(self.origin.host, self._alpn)
        return self._context

    async def listen(self, address: str, port: int) -> int:
        """Begin; returns the port."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(lambda: Connection(self), address, port, backlog=BACKLOG)
        except OSError as exc:
            reason = exc.strerror or exc
            raise LocalWebError(
                f"cannot listen on {address}:{port} for {self.origin.host} ({reason}): end what does, or choose other ports"
            ) from exc
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def close(self) -> None:
        """End, and drop what is open."""
        if self._server is not None:
            self._server.close()
        for connection in list(self.opened):
            connection.abort()


class LocalWeb:
    """Pages on loopback, from entering to leaving: `async with LocalWeb(pages, mode=Mode.H2) as web`.

    `faults` adds hosts of the tests' own that misbehave.
    """

    def __init__(
        self,
        pages: Sequence[Page],
        *,
        mode: Mode,
        faults: Mapping[str, Fault] | None = None,
        ports: Ports = Ports(),  # noqa: B008  # immutable
    ) -> None:
        self.mode = mode
        self.log = TruthLog()
        self.played: list[Played] = [play(page, mode) for page in pages]
        self._faults = dict(faults or {})
        self._ports = ports
        self._hosts, self._origins = deploy(self.played, mode, self._faults)
        self._authority, self._impostor = Authority(), Authority()
        self._listeners: dict[Origin, Listener] = {}
        self._endpoints: dict[Origin, tuple[str, int]] = {}

    @property
    def sites(self) -> list[str]:
        """Hosts to visit: those of the pages in their order, then those of the faults."""
        return [played.answers[0].origin.host for played in self.played] + list(self._faults)

    @property
    def browser_flags(self) -> list[str]:
        """What makes Chromium find this web, trust it, and reach nothing else."""
        rules = [
            "MAP {}:{} {}:{}".format(host, port, *self.endpoint(Origin(scheme, host)))
            for host in self._hosts
            for scheme, port in SCHEME_PORTS.items()
        ]
        return [
            f"--host-resolver-rules={','.join([*rules, 'MAP * ~NOTFOUND'])}",
            f"--ignore-certificate-errors-spki-list={self._authority.spki_hash}",
        ]

    def endpoint(self, origin: Origin) -> tuple[str, int]:
        """Address and port of an origin; where nobody listens for it, one that refuses connections."""
        return self._endpoints.get(origin, self._refusing)

    async def __aenter__(self) -> Self:
        """Listen everywhere; raises LocalWebError where that cannot be."""
        allow_descriptors(len(self._origins) + CONNECTIONS_EXPECTED)
        # Bound, but never listening: the kernel refuses whoever connects, and nobody else gets the port.
        self._unheard = socket.socket()
        self._unheard.bind((str(NETWORK[1]), 0))
        self._refusing: tuple[str, int] = self._unheard.getsockname()
        try:
            for origin, deployed in self._origins.items():
                await self._listen(origin, deployed)
        except LocalWebError:
            await self._close()
            raise
        return self

    async def _listen(self, origin: Origin, deployed: Deployed) -> None:
        trusted = deployed.fault is not Fault.BAD_CERTIFICATE
        authority = self._authority if trusted else self._impostor
        listener = self._listeners[origin] = Listener(deployed, log=self.log, authority=authority)
        address = str(NETWORK[256 + self._hosts[origin.host]])
        port = await listener.listen(address, getattr(self._ports, origin.scheme))
        self._endpoints[origin] = address, port

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop listening, drop what is open."""
        await self._close()

    async def _close(self) -> None:
        for listener in self._listeners.values():
            await listener.close()
        self._unheard.close()
        await asyncio.sleep(0)  # lets the transports tell their connections


def allow_descriptors(wanted: int) -> None:
    """Raise the soft limit of open files as far as is wanted and allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft != unlimited and soft < wanted:
        most = wanted if hard == unlimited else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
