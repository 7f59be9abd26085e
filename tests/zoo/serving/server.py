"""The zoo's web: every host over one protocol, HTTP/3 among them."""

import functools
import ipaddress
from collections.abc import Mapping
from typing import Literal, TypeAlias

from localweb.serving.handler import ALPN_H2, ALPN_HTTP1, Handler, ServedOrigin, ServedSite
from localweb.serving.listener import Listener, TcpListener
from localweb.serving.web import SCHEME_PORTS, Web
from tests.zoo.serving.packets import CLEAN, Path
from tests.zoo.serving.quic import QuicListener
from tests.zoo.serving.security import Security

Spoken: TypeAlias = Literal["h1", "h1tls", "h2", "h3"]
"""Protocol of a web; http is always clear HTTP/1.1, and `h1` has nothing else."""

ALPN: dict[Spoken, tuple[str, ...]] = {
    "h1tls": (ALPN_HTTP1,),
    "h2": (ALPN_H2, ALPN_HTTP1),
    "h3": (ALPN_H2, ALPN_HTTP1),
}
"""Offered over TLS and TCP. A WebSocket uses HTTP/1.1,
unless the browser has an HTTP/2 connection to its host."""

ANNOUNCED = "announced.test"
"""Host whose HTTP/3 the browser learns by Alt-Svc, not by a flag."""
MOVING = "moving.test"
"""Host that asks its clients to migrate to another port of its."""


class ZooWeb(Web):
    """Hosts on loopback while the block runs:
    `async with ZooWeb({"zoo.test": handler}, protocol="h2") as web`."""

    network = ipaddress.IPv4Network("127.21.0.0/16")

    def __init__(
        self,
        hosts: Mapping[str, Handler],
        *,
        protocol: Spoken,
        security: Security | None = None,
        path: Path = CLEAN,
    ) -> None:
        super().__init__()
        self.protocol = protocol
        self.hosts = list(hosts)
        self._security = security or Security()
        self._authority = self._security.authority()
        self.trusted = self._authority.spki_hash
        self._path = path
        self.listeners = {
            origin: listeners
            for host, handler in hosts.items()
            for origin, listeners in self._origins(
                ServedSite(host=host, handler=handler, log=self.log)
            ).items()
        }

    def _origins(self, site: ServedSite) -> dict[ServedOrigin, list[Listener]]:
        clear, secure = ServedOrigin("http", site.host), ServedOrigin("https", site.host)
        if self.protocol == "h1":
            return {clear: [TcpListener(site)]}
        alpn = ALPN[self.protocol]
        tls = functools.partial(self._security.context, self._authority, site.host, alpn)
        over_tls: list[Listener] = [TcpListener(site, tls, self._security.layer)]
        if self.protocol == "h3":
            over_tls.append(
                QuicListener(
                    site,
                    self._authority,
                    self._path,
                    tickets=self._security.tickets,
                    forgets=self._security.forgets,
                    is_moving=site.host == MOVING,
                )
            )
        return {clear: [TcpListener(site)], secure: over_tls}

    @property
    def browser_flags(self) -> list[str]:
        """Flags that make Chromium find this web, trust it and reach nothing else."""
        flags = [*super().browser_flags, *self._security.browser_flags]
        if self.protocol == "h3":
            # Over QUIC the browser trusts an unknown authority for the hosts of these origins alone.
            port = SCHEME_PORTS["https"]
            origins = ",".join(f"{host}:{port + (host == ANNOUNCED)}" for host in self.hosts)
            flags.append(f"--origin-to-force-quic-on={origins}")
        return flags
