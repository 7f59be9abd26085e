"""The zoo's web: every host on an address of its own, over one protocol, on loopback."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypeAlias

from localweb.log import TruthLog
from localweb.modes import ALPN_H2, ALPN_HTTP1
from localweb.server import SCHEME_PORTS, allow_descriptors
from tests.zoo.serving.h3 import QuicListener
from tests.zoo.serving.listener import Listener, TcpListener
from tests.zoo.serving.packets import CLEAN, Path
from tests.zoo.serving.security import Security
from tests.zoo.serving.site import Site

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from tests.zoo.serving.handler import Handler

Spoken: TypeAlias = Literal["h1", "h1tls", "h2", "h3"]
"""What the web is served over; http is always clear HTTP/1.1, and all there is in `h1`."""

ALPN: dict[Spoken, tuple[str, ...]] = {
    "h1tls": (ALPN_HTTP1,),
    "h2": (ALPN_H2, ALPN_HTTP1),
    "h3": (ALPN_H2, ALPN_HTTP1),
}
"""Offered over TLS and TCP. H2 wants HTTP/1.1 beside it for WebSocket."""

NETWORK = ipaddress.IPv4Network("127.21.0.0/16")
"""Where the hosts' addresses are taken from."""

DESCRIPTORS = 4096


class Endpoint(NamedTuple):
    """Where an origin is served."""

    address: str
    port: int


class ZooWeb:
    """Hosts on loopback, from entering to leaving: `async with ZooWeb({"zoo.test": handler}, protocol="h2") as web`."""

    def __init__(
        self,
        hosts: Mapping[str, Handler],
        *,
        protocol: Spoken,
        security: Security | None = None,
        path: Path = CLEAN,
    ) -> None:
        self.protocol = protocol
        self._path = path
        self.log = TruthLog()
        self.failures: list[str] = []
        """What went wrong in handlers; a run with any is worth nothing."""
        security = security or Security()
        self._authority = security.authority()
        self._sites = [
            Site(
                host=host,
                handler=handler,
                authority=self._authority,
                security=security,
                log=self.log,
                failures=self.failures,
            )
            for host, handler in hosts.items()
        ]
        self._listeners: list[Listener] = []
        self._endpoints: dict[tuple[str, str], Endpoint] = {}

    @property
    def browser_flags(self) -> list[str]:
        """What makes Chromium find this web, trust it, and reach nothing else."""
        rules = [
            "MAP {}:{} {}:{}".format(site.host, port, *self.endpoint(scheme, site.host))
            for site in self._sites
            for scheme, port in SCHEME_PORTS.items()
        ]
        flags = [
            f"--host-resolver-rules={','.join([*rules, 'MAP * ~NOTFOUND'])}",
            f"--ignore-certificate-errors-spki-list={self._authority.spki_hash}",
        ]
        if self.protocol == "h3":
            origins = ",".join(f"{site.host}:{SCHEME_PORTS['https']}" for site in self._sites)
            flags.append(f"--origin-to-force-quic-on={origins}")
        return flags

    def endpoint(self, scheme: str, host: str) -> Endpoint:
        """Where an origin is served; https in `h1`: where connections are refused."""
        return self._endpoints.get((scheme, host), self._refusing)

    async def __aenter__(self) -> Self:
        """Listen everywhere."""
        allow_descriptors(DESCRIPTORS)
        # Bound, but never listening: the kernel refuses whoever connects, and nobody else gets the port.
        self._unheard = socket.socket()
        self._unheard.bind((str(NETWORK[1]), 0))
        self._refusing = Endpoint(*self._unheard.getsockname())
        for number, site in enumerate(self._sites):
            await self._serve(site, str(NETWORK[256 + number]))
        return self

    async def _serve(self, site: Site, address: str) -> None:
        clear = await self._listen(TcpListener(site, alpn=None), address)
        self._endpoints["http", site.host] = Endpoint(address, clear)
        if self.protocol != "h1":
            secure = await self._listen(TcpListener(site, alpn=ALPN[self.protocol]), address)
            self._endpoints["https", site.host] = Endpoint(address, secure)
            if self.protocol == "h3":
                await self._listen(QuicListener(site, self._path), address, secure)

    async def _listen(self, listener: Listener, address: str, port: int = 0) -> int:
        self._listeners.append(listener)
        return await listener.listen(address, port)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop listening, drop what is open."""
        for listener in self._listeners:
            await listener.close()
        self._unheard.close()
        await asyncio.sleep(0)
