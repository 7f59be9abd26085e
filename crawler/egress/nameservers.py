"""The machine's nameservers, and the relay that answers for them inside the browsers' namespace.

A nameserver on loopback or on a private network cannot be reached from in there. So the guard listens at its
address in there, on loopback, and hands each question to the real one outside. Only questions and answers pass.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from crawler.egress.rules import DNS_PORT

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Coroutine, Iterable

    from crawler.egress.networks import Address

RESOLV_CONF = Path("/etc/resolv.conf")
DEFAULT = ipaddress.ip_address("127.0.0.1")
"""What the resolver asks when no nameserver is named (resolv.conf(5))."""

ANSWER_WITHIN_S = 10.0
"""Longer than a resolver waits before it asks again."""

QUESTIONS_LIMIT = 256
"""Questions under way at once; further ones are lost, as on a busy network."""

CHUNK_BYTES = 16_384


def nameservers(lines: Iterable[str]) -> list[Address]:
    """The addresses that resolv.conf names, at most three as for the C library; a scope id is dropped with its line.

    >>> nameservers(["search a.test", "nameserver 9.9.9.9", "nameserver fe80::1%eth0", "nameserver 127.0.0.53"])
    [IPv4Address('9.9.9.9'), IPv4Address('127.0.0.53')]
    """
    found: list[Address] = []
    for line in lines:
        words = line.split()
        if len(words) > 1 and words[0] == "nameserver" and "%" not in words[1]:
            with contextlib.suppress(ValueError):
                found.append(ipaddress.ip_address(words[1]))
    return list(dict.fromkeys(found[:3])) or [DEFAULT]


class Relay:
    """Answers on sockets of one namespace by asking from another, which is its own."""

    def __init__(self, port: int = DNS_PORT) -> None:
        """Ask nameservers at `port`."""
        self._port = port
        self._under_way: set[asyncio.Task[None]] = set()
        self._listening: list[asyncio.BaseTransport | asyncio.Server] = []

    async def serve(self, nameserver: Address, datagrams: socket.socket, streams: socket.socket) -> None:
        """Stand for `nameserver` on two sockets that are bound already."""
        loop = asyncio.get_running_loop()
        relay = self

        class Questions(asyncio.DatagramProtocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                self.transport = transport

            def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
                answer = cast("asyncio.DatagramTransport", self.transport).sendto
                relay._start(_ask((str(nameserver), relay._port), data, lambda found: answer(found, addr)))

        transport, _ = await loop.create_datagram_endpoint(Questions, sock=datagrams)
        server = await asyncio.start_server(
            lambda reader, writer: relay._start(_pass_on((str(nameserver), self._port), reader, writer)),
            sock=streams,
        )

        self._listening += [transport, server]

    async def close(self) -> None:
        """Listen no more, and give up what is under way."""
        for one in self._listening:
            one.close()
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        if len(self._under_way) >= QUESTIONS_LIMIT:
            work.close()
            return
        task = asyncio.ensure_future(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)


async def _ask(nameserver: tuple[str, int], question: bytes, reply: Callable[[bytes], None]) -> None:
    """One datagram out from a port of its own, and the first that comes back to it."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bytes] = loop.create_future()

    class Answer(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:  # noqa: ARG002
            if not answer.done():
                answer.set_result(data)

        def error_received(self, exc: Exception) -> None:
            if not answer.done():
                answer.set_exception(exc)

    with contextlib.suppress(OSError, TimeoutError):
        outgoing, _ = await loop.create_datagram_endpoint(Answer, remote_addr=nameserver)
        try:
            outgoing.sendto(question)
            async with asyncio.timeout(ANSWER_WITHIN_S):
                reply(await answer)
        finally:
            outgoing.close()


async def _pass_on(
    nameserver: tuple[str, int], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """One connection of DNS over TCP, both ways, until either side ends it or time is over."""
    with contextlib.closing(writer), contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(ANSWER_WITHIN_S):
            there, back = await asyncio.open_connection(*nameserver)
            with contextlib.closing(back):
                ways = {asyncio.ensure_future(_copy(*way)) for way in ((reader, back), (there, writer))}
                try:
                    await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for way in ways:
                        way.cancel()
                    await asyncio.gather(*ways, return_exceptions=True)


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while chunk := await source.read(CHUNK_BYTES):
        target.write(chunk)
        await target.drain()
