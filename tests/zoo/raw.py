"""A web of single bytes: each path of each host is answered with exactly what the test wrote down."""

from __future__ import annotations

import asyncio
import dataclasses
import socket
import struct
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """Bytes of one response, and what follows them."""

    wire: bytes
    body_bytes: int
    close: bool = False
    reset: bool = False
    stall: bool = False
    """Say no more, and keep the connection open."""
    pause_s: float = 0.0
    """Before the answer."""


def answer(body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> Answer:
    """A plain response with a Content-Length."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body) if length is None else length}"]
    return Answer("\r\n".join([*lines, "", ""]).encode() + body, len(body))


def html(text: str) -> Answer:
    """A page that asks for no icon."""
    body = f"<!doctype html><link rel=icon href=data:,><body>{text}".encode()
    return answer(body, "Content-Type: text/html; charset=utf-8")


class RawWeb:
    """Clear HTTP/1.1 on one port of loopback; https is refused. `sent` is the truth."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self.answers = answers
        self.sent: list[tuple[str, str, str, int, int]] = []
        """Method, host, path, bytes on the wire, bytes of body."""
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        """Host, target and headers of each request."""
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def browser_flags(self) -> list[str]:
        """Every host's clear port is this server."""
        return [
            f"--host-resolver-rules=MAP *.test:80 127.0.0.1:{self.port},MAP *.test:443 127.0.0.1:9,MAP * ~NOTFOUND"
        ]

    async def __aenter__(self) -> Self:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 20)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Drop everything."""
        self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def has_sent(self, path: str) -> None:
        """Wait until a path has been answered."""
        async with asyncio.timeout(20):
            while all(sent != path for _, _, sent, _, _ in self.sent):
                await asyncio.sleep(0.05)

    def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        port = writer.get_extra_info("peername")[1]
        task = asyncio.ensure_future(self._answer_all(reader, writer, port))
        self._serving.add(task)

    async def _answer_all(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int
    ) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, target, _ = head[0].split(" ")
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in head[1:])
                }
                await reader.readexactly(int(headers.get("content-length", 0)))
                host, path = headers["host"], target.partition("?")[0]
                self.asked.append((host, target, headers))
                found = self.answers.get(host + path) or answer(b"nothing here", status="404 Not Found")
                await asyncio.sleep(found.pause_s)
                wire, body = found.wire, found.body_bytes
                if method == "HEAD":
                    wire, body = wire[: len(wire) - body], 0
                self.sent.append((method, host, path, len(wire), body))
                writer.write(wire)
                await writer.drain()
                if found.stall:
                    await asyncio.sleep(3600)
                if found.reset:
                    await asyncio.sleep(0.2)  # a reset overtakes what is still in the client's buffer
                    linger = struct.pack("ii", 1, 0)
                    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    writer.transport.abort()
                if found.close or found.reset:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
