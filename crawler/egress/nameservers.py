"""The machine's nameservers, and the relay that answers for them inside the browsers' namespace.

A nameserver at an address that is refused cannot be reached from in there. So the guard listens at its address in there, on
loopback, and asks the real one outside. Only questions and answers pass (`questions.py`), so many at a time, for so long.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from crawler.egress import questions
from crawler.egress.rules import DNS_PORT

if TYPE_CHECKING:
    import socket
    from collections.abc import Coroutine, Iterable

    from dns.message import Message

    from crawler.egress.networks import Address

RESOLV_CONF = Path("/etc/resolv.conf")
DEFAULT = ipaddress.ip_address("127.0.0.1")
"""What the resolver asks when no nameserver is named (resolv.conf(5))."""

ANSWER_WITHIN_S = 10.0
"""Longer than a resolver waits before it asks again."""

QUESTIONS_LIMIT = 256
"""Datagrams under way at once; further ones are lost, as on a busy network."""
CONNECTIONS_LIMIT = 32
"""Connections at once; further ones are closed. They take nothing from the datagrams' share."""

LENGTH_BYTES = 2
"""Over TCP a message has its length before it (RFC 1035 §4.2.2)."""


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
        self._datagrams: set[asyncio.Task[None]] = set()
        self._connections: set[asyncio.Task[None]] = set()
        self._listening: list[asyncio.BaseTransport | asyncio.Server] = []

    async def serve(self, nameserver: Address, datagrams: socket.socket, streams: socket.socket) -> None:
        """Stand for `nameserver` on two sockets that are bound already."""
        loop = asyncio.get_running_loop()
        relay, real = self, (str(nameserver), self._port)
        datagrams.setblocking(False)
        streams.setblocking(False)

        class Questions(asyncio.DatagramProtocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                self.transport = cast("asyncio.DatagramTransport", transport)

            def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
                work = _answer_datagram(real, data, self.transport, addr)
                relay._start(work, relay._datagrams, QUESTIONS_LIMIT)

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if not relay._start(_answer_stream(real, reader, writer), relay._connections, CONNECTIONS_LIMIT):
                writer.close()

        transport, _ = await loop.create_datagram_endpoint(Questions, sock=datagrams)
        self._listening += [transport, await asyncio.start_server(connected, sock=streams)]

    async def close(self) -> None:
        """Listen no more, and give up what is under way."""
        for one in self._listening:
            one.close()
        under_way = {*self._datagrams, *self._connections}
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await asyncio.sleep(0)  # a transport lets go of its socket when the loop comes round

    @staticmethod
    def _start(work: Coroutine[None, None, None], under_way: set[asyncio.Task[None]], limit: int) -> bool:
        """Whether there was room for it."""
        if len(under_way) >= limit:
            work.close()
            return False
        task = asyncio.ensure_future(work)
        under_way.add(task)
        task.add_done_callback(under_way.discard)
        return True


async def _answer_datagram(
    nameserver: tuple[str, int], data: bytes, back: asyncio.DatagramTransport, asker: tuple[str, int]
) -> None:
    """One question in a datagram; silence if it is none, or if the nameserver is silent."""
    asked = questions.question(data)
    if asked is None:
        return
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(ANSWER_WITHIN_S):
            found = await _ask(nameserver, asked)
            back.sendto(questions.datagram(found, asked), asker)


async def _ask(nameserver: tuple[str, int], asked: Message) -> Message:
    """One datagram out from a port of its own, and the first that comes back to it and is the answer."""
    loop = asyncio.get_running_loop()
    ours = questions.passed_on(asked)
    answered: asyncio.Future[Message] = loop.create_future()

    class Answer(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:  # noqa: ARG002
            found = None if answered.done() else questions.answer(data, ours, asked)
            if found is not None:
                answered.set_result(found)

        def error_received(self, exc: Exception) -> None:
            if not answered.done():
                answered.set_exception(exc)

    outgoing, _ = await loop.create_datagram_endpoint(Answer, remote_addr=nameserver)
    try:
        outgoing.sendto(ours.to_wire())
        return await answered
    finally:
        outgoing.close()


async def _answer_stream(
    nameserver: tuple[str, int], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """The questions of one connection of DNS over TCP, one after the other, until one is none or time is over."""
    with contextlib.closing(writer), contextlib.suppress(OSError, EOFError, TimeoutError):
        async with asyncio.timeout(ANSWER_WITHIN_S):
            while (asked := questions.question(await _read(reader, questions.QUESTION_BYTES))) is not None:
                found = await _ask_by_stream(nameserver, asked)
                if found is None:
                    break
                await _write(writer, found)


async def _ask_by_stream(nameserver: tuple[str, int], asked: Message) -> Message | None:
    """A connection out of its own, and what comes back on it if it is the answer."""
    ours = questions.passed_on(asked)
    there, back = await asyncio.open_connection(*nameserver)
    with contextlib.closing(back):
        await _write(back, ours)
        return questions.answer(await _read(there), ours, asked)


async def _read(reader: asyncio.StreamReader, limit: int = 2**16) -> bytes:
    """The next message, empty if it has more bytes than `limit`; EOFError at the connection's end."""
    length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
    return await reader.readexactly(length) if length <= limit else b""


async def _write(writer: asyncio.StreamWriter, message: Message) -> None:
    writer.write(message.to_wire(prepend_length=True))
    await writer.drain()
