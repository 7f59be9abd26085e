"""The DNS relay passes questions to the nameserver and answers back, and nothing else."""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator

import dns.message
import dns.rrset
import pytest

from crawler.egress import nameservers as relaying
from crawler.egress.nameservers import Relay, parse_nameservers

HERE = ipaddress.ip_address("127.0.0.1")
WITHIN_S = 60
GARBAGE = [b"GET / HTTP/1.1\r\n\r\n", b"\0" * 12, b"\xff" * 300]


def test_a_machine_that_names_no_nameserver_has_one_on_loopback() -> None:
    assert parse_nameservers(["# nothing", "nameserver nonsense", "options edns0"]) == [HERE]


def test_at_most_three_nameservers_are_asked_as_in_the_c_library() -> None:
    assert len(parse_nameservers([f"nameserver 9.9.9.{n}" for n in range(5)])) == 3


def asked(name: str) -> bytes:
    return dns.message.make_query(name, "TXT").to_wire()


def answer_to(wire: bytes, way: str) -> bytes:
    question = dns.message.from_wire(wire)
    response = dns.message.make_response(question)
    response.answer.append(dns.rrset.from_text(question.question[0].name, 1, "IN", "TXT", way))
    return response.to_wire()


def parse_reply(wire: bytes) -> tuple[str, str]:
    (record,) = dns.message.from_wire(wire).answer
    return str(record.name), str(record[0]).strip('"')


class Nameserver(asyncio.DatagramProtocol):
    """A nameserver over UDP and TCP; it records questions, and sends `first` before each answer."""

    def __init__(self) -> None:
        self.came: list[bytes] = []
        self.connections = 0
        self.first = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.came.append(data)
        for wire in (self.first, answer_to(data, "datagram")):
            self.transport.sendto(wire, addr)  # type: ignore[attr-defined]

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(EOFError):
            data = await reader.readexactly(int.from_bytes(await reader.readexactly(2), "big"))
            self.came.append(data)
            if self.first:
                writer.write(self.first)
            else:
                response = answer_to(data, "stream")
                writer.write(len(response).to_bytes(2, "big") + response)
            await writer.drain()
        writer.close()


class Relayed:
    """A nameserver, and the relay's two addresses in front of it."""

    def __init__(self, real: Nameserver, datagrams: socket.socket, streams: socket.socket) -> None:
        self.real = real
        self.datagrams = datagrams.getsockname()
        self.streams = streams.getsockname()

    async def ask(self, question: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        with socket.socket(type=socket.SOCK_DGRAM) as asking:
            asking.setblocking(False)
            await loop.sock_sendto(asking, question, self.datagrams)
            return await asyncio.wait_for(loop.sock_recv(asking, 4096), WITHIN_S)

    async def send(self, *datagrams: bytes) -> None:
        """From one port, to which nobody listens."""
        with socket.socket(type=socket.SOCK_DGRAM) as asking:
            for datagram in datagrams:
                asking.sendto(datagram, self.datagrams)
                await asyncio.sleep(0)

    async def say(self, *messages: bytes, prefix: bool = True) -> bytes:
        """Over one connection; all that comes back until it is closed."""
        reader, writer = await asyncio.open_connection(*self.streams)
        for message in messages:
            writer.write((len(message).to_bytes(2, "big") if prefix else b"") + message)
        writer.write_eof()
        try:
            return await asyncio.wait_for(reader.read(), WITHIN_S)
        except ConnectionResetError:
            return b""
        finally:
            writer.close()


@contextlib.asynccontextmanager
async def relayed(*, answering: bool = True) -> AsyncIterator[Relayed]:
    loop = asyncio.get_running_loop()
    real = Nameserver()
    # TCP chooses: its ports are taken by everybody's connections, while those of UDP are free.
    server = await asyncio.start_server(real.connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    transport, _ = await loop.create_datagram_endpoint(lambda: real, local_addr=("127.0.0.1", port))
    if not answering:
        transport.close()
        server.close()
    datagrams, streams = socket.socket(type=socket.SOCK_DGRAM), socket.socket()
    for each in (datagrams, streams):
        each.bind(("127.0.0.1", 0))
    streams.listen()
    relay = Relay(port)
    await relay.serve(HERE, datagrams, streams)
    yield Relayed(real, datagrams, streams)
    await relay.close()
    transport.close()
    server.close()
    await asyncio.sleep(0)


def split(stream: bytes) -> list[bytes]:
    collected = []
    while stream:
        length = int.from_bytes(stream[:2], "big")
        collected.append(stream[2 : 2 + length])
        stream = stream[2 + length :]
    return collected


def test_a_question_in_a_datagram_is_answered_to_its_sender() -> None:
    async def ask() -> list[bytes]:
        async with relayed() as relay:
            return [await relay.ask(asked(name)) for name in ("one.test", "two.test")]

    result = asyncio.run(ask())
    assert [parse_reply(wire) for wire in result] == [("one.test.", "datagram"), ("two.test.", "datagram")]
    assert result[0][:2] != result[1][:2]


@pytest.mark.parametrize("answering", [True, False])
def test_questions_over_tcp_are_answered_or_their_connection_is_closed(answering: bool) -> None:
    async def ask() -> bytes:
        async with relayed(answering=answering) as relay:
            return await relay.say(asked("one.test"), asked("two.test"))

    result = split(asyncio.run(ask()))
    wanted = [("one.test.", "stream"), ("two.test.", "stream")] if answering else []
    assert [parse_reply(wire) for wire in result] == wanted


def test_bytes_that_are_no_question_do_not_reach_the_nameserver() -> None:
    async def ask() -> tuple[list[bytes], int]:
        async with relayed() as relay:
            await relay.send(*GARBAGE)
            for garbage in GARBAGE:
                assert await relay.say(garbage) == b""
                assert await relay.say(garbage, prefix=False) == b""
            assert relay.real.connections == 0
            await relay.ask(asked("one.test"))
            return relay.real.came, relay.real.connections

    (came,), connections = asyncio.run(ask())
    assert connections == 0
    assert str(dns.message.from_wire(came).question[0].name) == "one.test."


def test_bytes_that_are_no_answer_are_not_passed_back() -> None:
    async def ask() -> tuple[bytes, bytes]:
        async with relayed() as relay:
            relay.real.first = b"SSH-2.0-OpenSSH_9.2\r\n"
            return await relay.ask(asked("one.test")), await relay.say(asked("one.test"))

    by_datagram, by_stream = asyncio.run(ask())
    assert parse_reply(by_datagram) == ("one.test.", "datagram")
    assert by_stream == b""


def test_idle_connections_take_no_room_from_datagrams() -> None:
    async def ask() -> tuple[bytes, int]:
        async with relayed() as relay:
            idle = [
                await asyncio.open_connection(*relay.streams) for _ in range(relaying.CONNECTIONS_LIMIT + 5)
            ]
            closed = [reader for reader, _ in idle[relaying.CONNECTIONS_LIMIT :]]
            assert (
                await asyncio.wait_for(asyncio.gather(*(reader.read() for reader in closed)), WITHIN_S)
                == [b""] * 5
            )
            answer = await relay.ask(asked("one.test"))
            for _, writer in idle:
                writer.close()
            return answer, relay.real.connections

    result, connections = asyncio.run(ask())
    assert parse_reply(result) == ("one.test.", "datagram")
    assert connections == 0


def test_questions_in_progress_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relaying, "QUESTIONS_LIMIT", 3)
    monkeypatch.setattr(Nameserver, "datagram_received", lambda self, data, addr: self.came.append(data))

    async def ask() -> int:
        async with relayed() as relay:
            await relay.send(*(asked(f"{number}.test") for number in range(50)))
            while len(relay.real.came) < 3:
                await asyncio.sleep(0.01)
            await relay.send(*(asked(f"{number}.test") for number in range(50)))
            await asyncio.sleep(0.1)
            return len(relay.real.came)

    assert asyncio.run(ask()) == 3


def test_an_idle_connection_is_closed_after_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relaying, "ANSWER_WITHIN_S", 0.1)

    async def ask() -> bytes:
        async with relayed() as relay:
            reader, writer = await asyncio.open_connection(*relay.streams)
            writer.write(b"\0")
            try:
                return await asyncio.wait_for(reader.read(), WITHIN_S)
            finally:
                writer.close()

    assert asyncio.run(ask()) == b""
