"""A web of single bytes: each path of each host is answered with exactly the
bytes that the test wrote down."""

import asyncio
import dataclasses
import functools
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from localweb.serving.certificates import Authority
from localweb.serving.handler import ALPN_HTTP1, Reply, ServedRequest, ServedSite
from localweb.serving.listener import TcpListener
from localweb.serving.log import TruthLog


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """Bytes of one response, and what follows them."""

    wire: bytes
    body_bytes: int
    close: bool = False
    reset: bool = False
    stall: bool = False
    """Send no more, and keep the connection open."""
    pause_s: float = 0.0


def answer(body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> Answer:
    """A plain response with a Content-Length."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body) if length is None else length}"]
    return Answer("\r\n".join([*lines, "", ""]).encode() + body, len(body))


def html(text: str) -> Answer:
    """A page that asks for no icon."""
    body = f"<!doctype html><link rel=icon href=data:,><body>{text}".encode()
    return answer(body, "Content-Type: text/html; charset=utf-8")


class RawWeb:
    """HTTP/1.1 on one port of loopback, clear with https refused, or else over TLS only.

    `sent` is the truth.
    """

    def __init__(self, answers: Mapping[str, Answer], *, authority: Authority | None = None) -> None:
        self.answers = answers
        self.sent: list[tuple[str, str, str, int, int]] = []
        """Method, host, path, bytes on the wire, bytes of body."""
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        """Host, target and headers of each request."""
        self._authority = authority
        tls = functools.partial(authority.context, "any.test", [ALPN_HTTP1]) if authority else None
        self._listener = TcpListener(ServedSite(host="*.test", handler=self._answer, log=TruthLog()), tls)

    @property
    def browser_flags(self) -> list[str]:
        """Every host is this server; over TLS its key is trusted."""
        if self._authority:
            return [
                f"--host-resolver-rules=MAP *.test:443 127.0.0.1:{self.port},MAP * ~NOTFOUND",
                f"--ignore-certificate-errors-spki-list={self._authority.spki_hash}",
            ]
        return [
            f"--host-resolver-rules=MAP *.test:80 127.0.0.1:{self.port},MAP *.test:443 "
            "127.0.0.1:9,MAP * ~NOTFOUND"
        ]

    async def __aenter__(self) -> Self:
        self.port = await self._listener.listen("127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._listener.close()

    async def has_sent(self, path: str) -> None:
        async with asyncio.timeout(120):
            while all(sent != path for _, _, sent, _, _ in self.sent):
                await asyncio.sleep(0.05)

    async def _answer(self, request: ServedRequest, reply: Reply) -> None:
        host = request.headers["host"]
        self.asked.append((host, request.target, dict(request.headers)))
        response = self.answers.get(host + request.path) or answer(b"nothing here", status="404 Not Found")
        await asyncio.sleep(response.pause_s)
        wire, body = response.wire, response.body_bytes
        if request.method == "HEAD":
            wire, body = wire[: len(wire) - body], 0
        self.sent.append((request.method, host, request.path, len(wire), body))
        await reply.write(wire, body_bytes=body, end=not response.stall)
        if response.reset:
            await asyncio.sleep(0.2)  # a reset overtakes what is still in the client's buffer
            await reply.reset()
        elif response.close:
            await reply.close()
