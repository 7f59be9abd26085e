"""Which origins the local web has, what each speaks and what it answers. No sockets here."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from localweb import faults as misbehaviour
from localweb.faults import Fault
from localweb.modes import ALPN_H2, ALPN_HTTP1, MULTIPLEXED, Mode, Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from localweb.content import Answer, Played

OVER_TLS_ALONE = frozenset({Fault.BAD_CERTIFICATE, Fault.HANDSHAKE_FAILURE})


@dataclasses.dataclass(kw_only=True, slots=True)
class Deployed:
    """One origin."""

    origin: Origin
    alpn: tuple[str, ...]
    """Offered over TLS, the best first."""
    fault: Fault | None = None
    answers: dict[str, Answer] = dataclasses.field(default_factory=dict)
    """By path."""

    def find(self, path: str) -> Answer:
        """The answer for a path: a 404 of no page where there is none."""
        return self.answers.get(path) or misbehaviour.document(self.origin, path, 404, b"not in the recipe\n")


def deploy(
    pages: Sequence[Played], mode: Mode, faults: Mapping[str, Fault]
) -> tuple[dict[str, int], dict[Origin, Deployed]]:
    """Hosts, each with a number of its own, and the origins that answer on them."""
    multiplexed = recorded_multiplexed(pages)
    origins: dict[Origin, Deployed] = {}
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
            origin = Origin("https" if over_tls else "http", host)
            alpn = protocols(mode, is_multiplexed=True)
            answers = {answer.path: answer for answer in misbehaviour.answers(origin, fault)}
            origins[origin] = Deployed(origin=origin, alpn=alpn, fault=fault, answers=answers)
    return {host: number for number, host in enumerate(hosts)}, origins


def protocols(mode: Mode, *, is_multiplexed: bool) -> tuple[str, ...]:
    """What an origin's ALPN offers."""
    if mode is Mode.H2 or (mode is Mode.RECORDED and is_multiplexed):
        return (ALPN_H2, ALPN_HTTP1)
    return (ALPN_HTTP1,)


def recorded_multiplexed(pages: Iterable[Played]) -> set[Origin]:
    """Origins that any page recorded over a multiplexed protocol."""
    return {
        answer.origin
        for played in pages
        for thing, answer in zip(played.page.objects, played.answers, strict=True)
        if thing.protocol in MULTIPLEXED
    }


def send_back_to_clear_text(pages: Iterable[Played], origins: Mapping[Origin, Deployed]) -> None:
    """Where a site was recorded by http, but its host has https too: redirect from the one to the other.

    Sites are asked by https first. That redirect is in no recipe.
    """
    for played in pages:
        first = played.answers[0].origin
        secure = origins.get(Origin("https", first.host))
        if first.scheme == "http" and secure is not None:
            secure.answers["/"] = misbehaviour.redirect(secure.origin, "/", f"http://{first.host}/")
