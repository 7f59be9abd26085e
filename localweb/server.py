"""The local web: real pages' structure on loopback, every host on an address of its own,
and a canary for its crawls."""

import contextlib
import functools
import ipaddress
from collections.abc import AsyncIterator, Mapping, Sequence

from localweb.content import Played, play
from localweb.deployment import Deployed, deploy
from localweb.faults import Fault
from localweb.modes import Mode
from localweb.recipes import Page
from localweb.serving.certificates import Authority
from localweb.serving.handler import Reply, ServedRequest, ServedSite
from localweb.serving.listener import TcpListener
from localweb.serving.log import TruthLog
from localweb.serving.web import Web

NETWORK = ipaddress.IPv4Network("127.20.0.0/16")

CANARY_ADDRESS = str(NETWORK[2])
"""No site's address, but in the same network: if the sites are cut off, so is the canary."""


class LocalWeb(Web):
    """Recorded pages on loopback while the block runs: `async with LocalWeb(pages, mode=Mode.H2) as web`.

    `faults` adds hosts that misbehave, for tests.
    """

    network = NETWORK

    def __init__(
        self,
        pages: Sequence[Page],
        *,
        mode: Mode,
        faults: Mapping[str, Fault] | None = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.played: list[Played] = [play(page, mode) for page in pages]
        self._faults = dict(faults or {})
        self._authority, self._impostor = Authority(), Authority()
        self.trusted = self._authority.spki_hash
        self.hosts, origins = deploy(self.played, mode, self._faults)
        self.listeners = {origin: [self._listener(deployed)] for origin, deployed in origins.items()}

    @property
    def sites(self) -> list[str]:
        """Hosts to visit: those of the pages in their order, then those of the faults."""
        return [played.answers[0].origin.host for played in self.played] + list(self._faults)

    def _listener(self, deployed: Deployed) -> TcpListener:
        scheme, host = deployed.origin
        site = ServedSite(host=host, handler=deployed.handler, log=self.log, takeover=deployed.takeover)
        if scheme == "http":
            return TcpListener(site)
        authority = self._impostor if deployed.fault is Fault.BAD_CERTIFICATE else self._authority
        return TcpListener(site, functools.partial(authority.context, host, deployed.alpn))


@contextlib.asynccontextmanager
async def canary() -> AsyncIterator[str]:
    """Yield a URL that answers any request: crawls of the local web ask it if the web can be reached."""
    listener = TcpListener(ServedSite(host=CANARY_ADDRESS, handler=_answer_canary, log=TruthLog()))
    try:
        yield f"http://{CANARY_ADDRESS}:{await listener.listen(CANARY_ADDRESS, 0)}/"
    finally:
        await listener.close()


async def _answer_canary(_: ServedRequest, reply: Reply) -> None:
    await reply.head(204, [("Connection", "close")], end=True)
    await reply.close()
