"""Refuses requests whose host or whose length is ambiguous, or whose header is too long,
and finds the base URL of the links in their answers."""

import dataclasses
import functools
import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.problems import Problem, problem_response

HEADER_BYTES = 16 * 1024
"""Longest request line and header section; longer ones get 431."""

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""Host names of health checks and tunnels."""


def trusted_names(base_url: str, hosts: Iterable[str]) -> frozenset[str]:
    """Host names that requests may use: `hosts`, the base URL's and loopback.

    Without the first two, empty: any host.

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


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Hosts:
    """Host names that requests may use, and what links begin with."""

    trusted: frozenset[str] = frozenset()
    """By `trusted_names`; if empty, any host."""
    base_url: str = ""
    """Configured beginning of links."""
    listens_at: str = ""
    """Beginning of links where nothing else tells."""


@functools.lru_cache(256)
def base_of(hosts: Hosts, host: str) -> str:
    """What links begin with, for a request with this Host header.

    Only a Host that leads nobody to a stranger is repeated: trusted, loopback, or in a private network.

    >>> base_of(Hosts(base_url="https://sizes.example/"), "localhost:8750")
    'https://sizes.example'
    >>> at = Hosts(listens_at="http://127.0.0.1:8080")
    >>> base_of(at, "localhost:9000"), base_of(at, "192.168.1.7:8080"), base_of(at, "evil.example")
    ('http://localhost:9000', 'http://192.168.1.7:8080', 'http://127.0.0.1:8080')
    """
    if hosts.base_url:
        return hosts.base_url.rstrip("/")
    name = name_of(host)
    is_told = name in LOOPBACK or name in hosts.trusted or _is_private(name)
    return f"http://{host.lower()}" if is_told else hosts.listens_at


def _is_private(name: str) -> bool:
    try:
        address = ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return address.is_private and "%" not in name  # what follows a scope's % is any text


def _check_length(scope: Scope) -> None:
    line = len(scope["method"]) + len(scope["raw_path"]) + len(scope["query_string"]) + len(" ? HTTP/1.1\r\n")
    fields = sum(len(name) + len(value) + len(": \r\n") for name, value in scope["headers"])
    if line + fields > HEADER_BYTES:
        raise Problem(
            "header-too-large",
            f"the address and the header of the request have more than {HEADER_BYTES:,} bytes: ask for less",
        )


class PlainRequests:
    """Refuses requests for other hosts, with several Host headers, Transfer-Encoding, or too long a
    header.

    `scope["base_url"]` begins the answer's links.
    """

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self.app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                _check_length(scope)
                host = self._checked(scope["headers"])
            except Problem as problem:
                await problem_response(problem, scope["path"])(scope, receive, send)
                return
            scope.setdefault("base_url", base_of(self._hosts, host))
        await self.app(scope, receive, send)

    def _checked(self, headers: list[tuple[bytes, bytes]]) -> str:
        if any(name == b"transfer-encoding" for name, _ in headers):
            # Only the lab's form has a body, and browsers state its length. RFC 9112 §6.1: a proxy in front
            # may have found the body's end elsewhere.
            raise Problem(
                "bad-request",
                "Transfer-Encoding is refused: a body has a Content-Length",
                headers={"Connection": "close"},
            )
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(hosts) > 1:
            raise Problem("bad-request", "more than one Host header", headers={"Connection": "close"})
        if self._hosts.trusted and name_of("".join(hosts)) not in self._hosts.trusted:
            raise Problem("misdirected", "this service does not answer under that host name")
        return "".join(hosts)
