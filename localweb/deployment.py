"""Origins of the local web: what each speaks and how it answers. No sockets here."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from localweb import faults as misbehaviour
from localweb.answers import ServedAnswer, make_document, make_handler, make_redirect
from localweb.content import Played
from localweb.faults import Fault
from localweb.modes import MULTIPLEXED, Mode
from localweb.serving.handler import ALPN_H2, ALPN_HTTP1, Handler, ServedOrigin, Takeover

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
