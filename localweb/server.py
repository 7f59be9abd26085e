"""The local web: real pages' structure on loopback, every host on an address of its own: what each origin
speaks and how it answers, and a canary for its crawls."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import ipaddress
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

from localweb import faults as misbehaviour
from localweb.answers import ServedAnswer, make_document, make_handler, make_redirect
from localweb.content import Played, play
from localweb.faults import Fault
from localweb.modes import MULTIPLEXED, Mode
from localweb.recipes import Page
from localweb.serving.certificates import Authority
from localweb.serving.handler import (
    ALPN_H2,
    ALPN_HTTP1,
    Handler,
    Reply,
    ServedOrigin,
    ServedRequest,
    ServedSite,
    Takeover,
)
from localweb.serving.listener import TcpListener
from localweb.serving.log import TruthLog
from localweb.serving.web import Web

OVER_TLS_ALONE = frozenset({Fault.BAD_CERTIFICATE, Fault.HANDSHAKE_FAILURE})


@dataclasses.dataclass(kw_only=True, slots=True)
class Deployed:
    """One origin."""

    origin: ServedOrigin
    alpn: tuple[str, ...]
    """Protocols offered over TLS, the best first."""
    fault: Fault | None = None
    answers: dict[str, ServedAnswer] = dataclasses.field(default_factory=dict)

    def find(self, path: str) -> ServedAnswer:
        """Return the answer for a path, or else a 404."""
        return self.answers.get(path) or make_document(self.origin, path, 404, b"not in the recipe\n")

    @property
    def handler(self) -> Handler:
        return misbehaviour.HANDLERS.get(self.fault) or make_handler(self.find)

    @property
    def takeover(self) -> Takeover | None:
        """Handler of bare connections, for faults."""
        return misbehaviour.TAKEOVERS.get(self.fault)


def deploy(
    pages: Sequence[Played], mode: Mode, faults: Mapping[str, Fault]
) -> tuple[list[str], dict[ServedOrigin, Deployed]]:
    multiplexed = find_multiplexed(pages)
    origins: dict[ServedOrigin, Deployed] = {}
    for answer in (answer for played in pages for answer in played.answers):
        if answer.origin not in origins:
            alpn = protocols(mode, is_multiplexed=answer.origin in multiplexed)
            origins[answer.origin] = Deployed(origin=answer.origin, alpn=alpn)
        origins[answer.origin].answers[answer.path] = answer
    send_back_to_clear_text(pages, origins)
    hosts = list(dict.fromkeys(origin.host for origin in origins))
    for host, fault in faults.items():
        hosts.append(host)
        if fault is not Fault.REFUSED:
            over_tls = mode is not Mode.H1 or fault in OVER_TLS_ALONE
            origin = ServedOrigin("https" if over_tls else "http", host)
            alpn = protocols(mode, is_multiplexed=True)
            answers = {answer.path: answer for answer in misbehaviour.answers(origin, fault)}
            origins[origin] = Deployed(origin=origin, alpn=alpn, fault=fault, answers=answers)
    return hosts, origins


def protocols(mode: Mode, *, is_multiplexed: bool) -> tuple[str, ...]:
    if mode is Mode.H2 or (mode is Mode.RECORDED and is_multiplexed):
        return (ALPN_H2, ALPN_HTTP1)
    return (ALPN_HTTP1,)


def find_multiplexed(pages: Iterable[Played]) -> set[ServedOrigin]:
    return {
        answer.origin
        for played in pages
        for thing, answer in zip(played.page.objects, played.answers, strict=True)
        if thing.protocol in MULTIPLEXED
    }


def send_back_to_clear_text(pages: Iterable[Played], origins: Mapping[ServedOrigin, Deployed]) -> None:
    """Redirect https to http for a site that was recorded over http and whose host has https too.

    Crawls ask by https first. No recipe has this redirect.
    """
    for played in pages:
        first = played.answers[0].origin
        secure = origins.get(ServedOrigin("https", first.host))
        if first.scheme == "http" and secure is not None:
            secure.answers["/"] = make_redirect(secure.origin, "/", f"http://{first.host}/")


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
