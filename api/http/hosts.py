"""Refuses requests whose host or whose length is ambiguous, before anything else handles them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from api.http.problems import Problem, problem_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""Host names of requests from the machine itself, such as health checks or tunnels."""


def trusted_names(base_url: str, hosts: Iterable[str]) -> frozenset[str]:
    """Host names that requests may use: `hosts`, the base URL's and loopback. Without the first two, empty: any host.

    >>> sorted(trusted_names("https://sizes.example/", []))
    ['127.0.0.1', '[::1]', 'localhost', 'sizes.example']
    >>> trusted_names("", [])
    frozenset()
    """
    named = {name_of(host) for host in [*hosts, urlsplit(base_url).netloc] if host}
    return frozenset(named | set(LOOPBACK)) if named else frozenset()


def name_of(host: str) -> str:
    """The name in a Host header, without port, in lower case.

    >>> name_of("Sizes.example:8750"), name_of("[::1]:80"), name_of("[::1]")
    ('sizes.example', '[::1]', '[::1]')
    """
    name, colon, port = host.rpartition(":")
    return (name if colon and (not port or port.isdigit()) and not port.endswith("]") else host).lower()


class PlainRequests:
    """Refuses requests for other hosts, with several Host headers, or with Transfer-Encoding."""

    def __init__(self, app: ASGIApp, trusted: frozenset[str]) -> None:
        """Wrap `app`; if `trusted` is empty, any host is accepted: no answer repeats it."""
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
            # Only the lab's form has a body, and browsers state its length. RFC 9112 §6.1: a proxy in front may have found
            # the body's end elsewhere.
            raise Problem(
                "bad-request",
                "Transfer-Encoding is refused: a body has a Content-Length",
                headers={"Connection": "close"},
            )
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(hosts) > 1:
            raise Problem("bad-request", "more than one Host header", headers={"Connection": "close"})
        if self._trusted and name_of("".join(hosts)) not in self._trusted:
            raise Problem("misdirected", "this service does not answer under that host name")
