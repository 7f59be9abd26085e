"""What a case of the zoo is, and the page that several of them share: data, the same for every protocol."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from tests.zoo.replies import answer
from tests.zoo.serving.security import Security

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localweb.serving.handler import Handler, Reply, Request

OTHER = "other.test"
"""Another origin, of whichever page."""

PAGE = "page"
"""Stands for the page's own document, where a case has an id."""

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
"""What every script of a case may use."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Something that is easily measured wrong.

    In markup, scripts and the keys of `routes`, HERE stands for the case's folder on the page's host and THERE for
    that on OTHER; `//host.test/HERE`-like URLs are written out as `//host.test/ID/...`.
    """

    id: str
    """First segment of every path of the case, so that a failure names it. Stable: it stands in the table."""
    routes: Mapping[str, Handler]
    html: str = ""
    """Markup in the page's body."""
    script: str = ""
    """Body of an async function that the page runs when it has been parsed, beside those of the other cases."""
    initiators: Mapping[str, str | None] = dataclasses.field(default_factory=dict)
    """By key of `routes`: whose content asked for it, as a key of `routes`. PAGE where it is left out; None where
    it is a navigation of the page, or neither the browser's log nor the DevTools protocol says it, and so the
    crawler must not."""
    bounded: str = ""
    """Why only "at most what the server sent" can be held of its responses; empty where they are exact."""
    unread_end: str = ""
    """Why what ends its connection, behind the last response, may not have been read; empty where all is."""
    apart: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Protocols that it does not apply to, with the reason."""

    def fill(self, text: str) -> str:
        """The text with HERE and THERE in their places."""
        return text.replace("THERE", f"//{OTHER}/{self.id}").replace("HERE", f"/{self.id}")

    def place(self, key: str, host: str) -> tuple[str, str]:
        """Host and path of a route."""
        if not key.startswith("//"):
            key = f"//{host}{key}" if key.startswith("/") else key
        filled = self.fill(key)
        filled = filled if filled.startswith("//") else f"//{host}{filled}"
        where, _, path = filled[2:].partition("/")
        return where, f"/{path}"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """One visit: cases side by side."""

    host: str
    cases: tuple[Case, ...]
    settle_s: float = 8.0
    """How long the visit waits for quiet; a page that never falls quiet says less."""
    stop_reasons: frozenset[str] = frozenset({"quiet"})
    security: Security = dataclasses.field(default_factory=Security)
    document: Handler | None = None
    """What serves the document, where it is no plain answer."""

    def played(self, protocol: str) -> tuple[Case, ...]:
        """The cases that apply."""
        return tuple(case for case in self.cases if protocol not in case.apart)

    def markup(self, protocol: str) -> str:
        """The document: every case's markup and script."""
        cases = self.played(protocol)
        acts = ",\n".join(f"async () => {{{case.fill(case.script)}}}" for case in cases if case.script)
        body = "\n".join(case.fill(case.html) for case in cases)
        return (
            "<!doctype html><meta charset=utf-8><link rel=icon href=data:,>"
            f"<title>{self.host}</title><body>{body}"
            f"<script>{PRELUDE}const acts = [{acts}];for (const act of acts) act();</script>"
        )

    def answers(self, protocol: str) -> dict[str, dict[str, Handler]]:
        """What answers, by host and path."""
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
        """By host and path, host and path of whose content asked; None where nobody can know."""
        found: dict[tuple[str, str], tuple[str, str] | None] = {}
        for case in self.played(protocol):
            for key in case.routes:
                by = case.initiators.get(key, PAGE)
                found[case.place(key, self.host)] = (
                    None if by is None else (self.host, "/") if by == PAGE else case.place(by, self.host)
                )
        return found


def by_path(answers: Mapping[str, Handler]) -> Handler:
    """One host's handler."""
    nothing = answer(b"nothing here", status=404)

    async def handle(request: Request, reply: Reply) -> None:
        await answers.get(request.path, nothing)(request, reply)

    return handle


def quoted(value: object) -> str:
    """A value as JavaScript."""
    return json.dumps(value)
