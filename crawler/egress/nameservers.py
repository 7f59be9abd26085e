"""The machine's nameservers, and the relay that answers for them inside the browsers' namespace.

A nameserver at a refused address cannot be reached from the namespace. So the guard listens there at its
address, on loopback, and asks the real nameserver outside. Only questions and answers pass (`questions.py`),
limited in number and time.
"""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import cast

from dns.message import Message

from crawler.egress import questions
from crawler.egress.networks import Address
from crawler.egress.rules import DNS_PORT

RESOLV_CONF = Path("/etc/resolv.conf")
DEFAULT = ipaddress.ip_address("127.0.0.1")
"""Nameserver if resolv.conf(5) names none."""

ANSWER_WITHIN_S = 10.0
"""Time limit of an answer, in seconds: longer than a resolver waits before it asks again."""

QUESTIONS_LIMIT = 256
"""Datagrams in progress at once; more are lost, as on a busy network."""
CONNECTIONS_LIMIT = 32
"""Connections at once, besides the datagrams; more are closed."""

LENGTH_BYTES = 2
"""Length field before each message over TCP (RFC 1035 §4.2.2)."""


def parse_nameservers(lines: Iterable[str]) -> list[Address]:
    """Return the addresses that resolv.conf names, at most three as in the C library;
    lines with a scope id are skipped.

    >>> parse_nameservers(["search a.test", "nameserver 9.9.9.9", "nameserver fe80::1%eth0", "nameserver 127.0.0.53"])
    [IPv4Address('9.9.9.9'), IPv4Address('127.0.0.53')]
    """  # noqa: E501
    addresses: list[Address] = []
    for line in lines:
        words = line.split()
        if len(words) > 1 and words[0] == "nameserver" and "%" not in words[1]:
            with contextlib.suppress(ValueError):
                addresses.append(ipaddress.ip_address(words[1]))
    return list(dict.fromkeys(addresses[:3])) or [DEFAULT]


class Relay:
    """Answers questions on sockets of another namespace by asking nameservers from its own."""

    def __init__(self, port: int = DNS_PORT) -> None:
        self._port = port
        self._datagrams: set[asyncio.Task[None]] = set()
        self._connections: set[asyncio.Task[None]] = set()
        self._listening: list[asyncio.BaseTransport | asyncio.Server] = []

    async def serve(self, nameserver: Address, datagrams: socket.socket, streams: socket.socket) -> None:
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
        for listener in self._listening:
            listener.close()
        under_way = {*self._datagrams, *self._connections}
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await asyncio.sleep(0)  # a transport closes its socket in the loop's next iteration

    @staticmethod
    def _start(work: Coroutine[None, None, None], under_way: set[asyncio.Task[None]], limit: int) -> bool:
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
    """Answer a datagram; nothing if it is no question, or unanswered."""
    asked = questions.parse_question(data)
    if asked is None:
        return
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(ANSWER_WITHIN_S):
            answer = await _ask(nameserver, asked)
            back.sendto(questions.encode_datagram(answer, asked), asker)


async def _ask(nameserver: tuple[str, int], asked: Message) -> Message:
    """Send a question from a port of its own, and return its first answer."""
    loop = asyncio.get_running_loop()
    ours = questions.rebuild_question(asked)
    answered: asyncio.Future[Message] = loop.create_future()

    class Answer(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:  # noqa: ARG002
            answer = None if answered.done() else questions.rebuild_answer(data, ours, asked)
            if answer is not None:
                answered.set_result(answer)

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
    """Answer the questions of a TCP connection in turn, within the time."""
    with contextlib.closing(writer), contextlib.suppress(OSError, EOFError, TimeoutError):
        async with asyncio.timeout(ANSWER_WITHIN_S):
            while (
                asked := questions.parse_question(await _read(reader, questions.QUESTION_BYTES))
            ) is not None:
                answer = await _ask_by_stream(nameserver, asked)
                if answer is None:
                    break
                await _write(writer, answer)


async def _ask_by_stream(nameserver: tuple[str, int], asked: Message) -> Message | None:
    """Ask on a new connection; None if what comes back is no answer."""
    ours = questions.rebuild_question(asked)
    reader, writer = await asyncio.open_connection(*nameserver)
    with contextlib.closing(writer):
        await _write(writer, ours)
        return questions.rebuild_answer(await _read(reader), ours, asked)


async def _read(reader: asyncio.StreamReader, limit: int = 2**16) -> bytes:
    """Read a message, empty if longer than `limit`; EOFError at the end."""
    length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
    return await reader.readexactly(length) if length <= limit else b""


async def _write(writer: asyncio.StreamWriter, message: Message) -> None:
    writer.write(message.to_wire(prepend_length=True))
    await writer.drain()
