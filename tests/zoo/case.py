"""Case of the zoo, and the page that several cases share; both are data and the same for every protocol."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping

from localweb.serving.handler import Handler, Reply, ServedRequest
from tests.zoo.replies import answer
from tests.zoo.serving.security import Security

OTHER = "other.test"
"""Another origin, for all pages."""

PAGE = "page"
"""Stands for the page's own document in place of a case's id."""

PROTOCOLS = ("h1", "h1tls", "h2", "h3")

PRELUDE = """
const get = (url, options) => fetch(url, options).then(r => r.arrayBuffer()).catch(() => 0);
const pause = ms => new Promise(done => setTimeout(done, ms));
const add = (name, fields) => new Promise(done => {
  const made = Object.assign(document.createElement(name), fields);
  made.onload = made.onerror = done;
  document.body.append(made);
});
"""
"""Functions that the script of every case may use."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Something that is easy to measure wrongly.

    In markup, scripts and the keys of `routes`, HERE stands for the case's folder on the page's host and
    THERE for that on OTHER; `//host.test/HERE`-like URLs are written out as `//host.test/ID/...`.
    """

    id: str
    """First segment of every path of the case, so that a failure names it.

    Stable, since the table in the docs has it.
    """
    routes: Mapping[str, Handler]
    html: str = ""
    """Markup in the page's body."""
    script: str = ""
    """Body of an async function that the page runs when it has been parsed,
    beside those of the other cases."""
    initiators: Mapping[str, str | None] = dataclasses.field(default_factory=dict)
    """Key of the route whose content asked for a route, by key of `routes`; PAGE if it is left out. None if
    it is a navigation of the page, or neither the browser's log nor the DevTools protocol says it, and so the
    crawler must not."""
    bounded: str = ""
    """Reason why the sizes of its responses are only bounded by what the server sent;
    empty if they are exact."""
    unread_end: str = ""
    """Reason why the browser may not read the end of its connection, after the last response;
    empty if it reads all."""
    apart: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Protocols that it does not apply to, with the reason."""

    def fill(self, text: str) -> str:
        """Replace HERE and THERE in the text."""
        return text.replace("THERE", f"//{OTHER}/{self.id}").replace("HERE", f"/{self.id}")

    def place(self, key: str, host: str) -> tuple[str, str]:
        if not key.startswith("//"):
            key = f"//{host}{key}" if key.startswith("/") else key
        filled = self.fill(key)
        filled = filled if filled.startswith("//") else f"//{host}{filled}"
        where, _, path = filled[2:].partition("/")
        return where, f"/{path}"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """Page of one visit, with several cases side by side."""

    host: str
    cases: tuple[Case, ...]
    settle_s: float = 8.0
    """Time that the visit waits for quiet, in seconds; shorter for a page that never falls quiet."""
    stop_reasons: frozenset[str] = frozenset({"quiet"})
    is_long: bool = False
    """True if only `scripts/test --all` visits it, since it takes long."""
    security: Security = dataclasses.field(default_factory=Security)
    document: Handler | None = None
    """Handler of the document, if it is no plain answer."""

    def played(self, protocol: str) -> tuple[Case, ...]:
        """Return the cases that apply."""
        return tuple(case for case in self.cases if protocol not in case.apart)

    def markup(self, protocol: str) -> str:
        cases = self.played(protocol)
        acts = ",\n".join(f"async () => {{{case.fill(case.script)}}}" for case in cases if case.script)
        body = "\n".join(case.fill(case.html) for case in cases)
        return (
            "<!doctype html><meta charset=utf-8><link rel=icon href=data:,>"
            f"<title>{self.host}</title><body>{body}"
            f"<script>{PRELUDE}const acts = [{acts}];for (const act of acts) act();</script>"
        )

    def answers(self, protocol: str) -> dict[str, dict[str, Handler]]:
        routes: dict[str, dict[str, Handler]] = {self.host: {}}
        for case in self.played(protocol):
            for key, handler in case.routes.items():
                host, path = case.place(key, self.host)
                routes.setdefault(host, {})[path] = handler
        document = self.document or answer(
            self.markup(protocol).encode(), "content-type: text/html; charset=utf-8"
        )
        routes[self.host].setdefault("/", document)
        return routes

    def initiators(self, protocol: str) -> dict[tuple[str, str], tuple[str, str] | None]:
        """Return, by host and path, host and path of the initiator; None if neither log names it."""
        collected: dict[tuple[str, str], tuple[str, str] | None] = {}
        for case in self.played(protocol):
            for key in case.routes:
                by = case.initiators.get(key, PAGE)
                collected[case.place(key, self.host)] = (
                    None if by is None else (self.host, "/") if by == PAGE else case.place(by, self.host)
                )
        return collected


def by_path(answers: Mapping[str, Handler]) -> Handler:
    nothing = answer(b"nothing here", status=404)

    async def handle(request: ServedRequest, reply: Reply) -> None:
        await answers.get(request.path, nothing)(request, reply)

    return handle


def quote(value: object) -> str:
    return json.dumps(value)
