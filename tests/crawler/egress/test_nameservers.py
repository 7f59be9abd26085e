"""The relay of DNS: what is asked on one socket is asked of the nameserver, and its answer comes back."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from typing import TYPE_CHECKING

import pytest

from crawler.egress.nameservers import Relay, nameservers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

HERE = ipaddress.ip_address("127.0.0.1")


def test_a_machine_that_names_no_nameserver_has_one_on_loopback() -> None:
    assert nameservers(["# nothing", "nameserver nonsense", "options edns0"]) == [HERE]


def test_no_more_than_three_nameservers_are_asked_as_in_the_c_library() -> None:
    assert len(nameservers([f"nameserver 9.9.9.{n}" for n in range(5)])) == 3


class Nameserver(asyncio.DatagramProtocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.transport.sendto(b"answer to " + data, addr)  # type: ignore[attr-defined]


@contextlib.asynccontextmanager
async def relayed(*, answering: bool = True) -> AsyncIterator[tuple[socket.socket, socket.socket]]:
    """A nameserver, and the relay's two sockets in front of it."""
    loop = asyncio.get_running_loop()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"long answer to " + await reader.read(100))
        await writer.drain()
        writer.close()

    # TCP chooses: its ports are taken by everybody's connections, while those of UDP are free.
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    real, _ = await loop.create_datagram_endpoint(Nameserver, local_addr=("127.0.0.1", port))
    if not answering:
        real.close()
        server.close()
    datagrams, streams = socket.socket(type=socket.SOCK_DGRAM), socket.socket()
    for each in (datagrams, streams):
        each.bind(("127.0.0.1", 0))
        each.setblocking(False)
    streams.listen()
    relay = Relay(port)
    await relay.serve(HERE, datagrams, streams)
    yield datagrams, streams
    await relay.close()
    real.close()
    server.close()
    await asyncio.sleep(0)


def test_a_question_in_a_datagram_is_answered_to_whoever_asked() -> None:
    async def ask() -> list[bytes]:
        loop = asyncio.get_running_loop()
        found = []
        async with relayed() as (datagrams, _):
            for question in (b"one", b"two"):
                with socket.socket(type=socket.SOCK_DGRAM) as asking:
                    asking.setblocking(False)
                    await loop.sock_sendto(asking, question, datagrams.getsockname())
                    found.append(await asyncio.wait_for(loop.sock_recv(asking, 100), 10))
        return found

    assert asyncio.run(ask()) == [b"answer to one", b"answer to two"]


@pytest.mark.parametrize(("answering", "answer"), [(True, b"long answer to one"), (False, b"")])
def test_a_question_over_tcp_is_answered_or_its_connection_closed(answering: bool, answer: bytes) -> None:
    async def ask() -> bytes:
        async with relayed(answering=answering) as (_, streams):
            reader, writer = await asyncio.open_connection(*streams.getsockname())
            writer.write(b"one")
            found = await asyncio.wait_for(reader.read(), 10)
            writer.close()
            return found

    assert asyncio.run(ask()) == answer
