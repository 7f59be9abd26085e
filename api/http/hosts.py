"""Requests that are refused before anything else looks at them: whom they are for, and how long they are, must be plain."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from api.problems import Problem, problem_response

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""Names by which the machine itself asks, for a health check or through a tunnel."""


def trusted_names(base_url: str, hosts: Iterable[str]) -> frozenset[str]:
    """Names that requests may be for: `hosts`, that of the base URL and loopback; none, which is any, without either.

    >>> sorted(trusted_names("https://sizes.example/", []))
    ['127.0.0.1', '[::1]', 'localhost', 'sizes.example']
    >>> trusted_names("", [])
    frozenset()
    """
    named = {name_of(host) for host in [*hosts, urlsplit(base_url).netloc] if host}
    return frozenset(named | set(LOOPBACK)) if named else frozenset()


def name_of(host: str) -> str:
    """A Host header without its port, in lower case.

    >>> name_of("Sizes.example:8750"), name_of("[::1]:80"), name_of("[::1]")
    ('sizes.example', '[::1]', '[::1]')
    """
    name, colon, port = host.rpartition(":")
    return (name if colon and (not port or port.isdigit()) and not port.endswith("]") else host).lower()


class PlainRequests:
    """Refuses a request for another host, for several, and one whose end two headers may disagree on."""

    def __init__(self, app: ASGIApp, trusted: frozenset[str]) -> None:
        """Around `app`; without `trusted` names any host will do: no answer repeats it."""
        self.app = app
        self._trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] == "http":
            try:
                self._check(scope["headers"])
            except Problem as problem:
                await problem_response(problem, scope["path"])(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _check(self, headers: list[tuple[bytes, bytes]]) -> None:
        if any(name == b"transfer-encoding" for name, _ in headers):
            # Nothing here takes a body. RFC 9112 §6.1: the server before us may have read its end elsewhere.
            raise Problem(
                "bad-request",
                "no request here has a body, least of all one in chunks",
                headers={"Connection": "close"},
            )
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(hosts) > 1:
            raise Problem("bad-request", "more than one Host", headers={"Connection": "close"})
        if self._trusted and name_of("".join(hosts)) not in self._trusted:
            raise Problem("misdirected", "this is not served here under that name")
