"""HTTP/1.1 of the server, by clients that count every byte themselves."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import pytest

from localweb.serving.handler import Reply, ServedOrigin, ServedRequest
from tests.factories.limited import limited
from tests.zoo.serving.examples import HOSTS, TEXT
from tests.zoo.serving.server import ZooWeb

HOST = "zoo.test"


@contextlib.asynccontextmanager
async def connected(web: ZooWeb) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(*web.endpoint(ServedOrigin("http", HOST)), limit=1 << 20)
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def request_of(path: str = "/plain", *, method: str = "GET", more: str = "") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: {HOST}\r\n{more}\r\n".encode()


@limited
async def test_a_request_may_come_byte_by_byte() -> None:
    async with ZooWeb(HOSTS, protocol="h1") as web, connected(web) as (reader, writer):
        for octet in request_of():
            writer.write(bytes([octet]))
            await writer.drain()
            await asyncio.sleep(0)
        head = await reader.readuntil(b"\r\n\r\n")
        assert await reader.readexactly(len(TEXT)) == TEXT
        (response,) = web.log.responses
        assert (response.path, response.header_bytes, response.body_bytes) == (
            "/plain",
            len(head),
            len(TEXT),
        )
        assert response.wire_bytes == len(head) + len(TEXT)
        assert response.is_complete


@limited
async def test_pipelined_requests_are_answered_in_their_order() -> None:
    paths = ["/plain", "/in-pieces", "/no-content", "/redirect"]

    async with ZooWeb(HOSTS, protocol="h1") as web, connected(web) as (reader, writer):
        for path in paths:
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        octets = await reader.readuntil(b"moved")
        assert [(response.path, response.position) for response in web.log.responses] == list(
            zip(paths, (1, 2, 3, 4), strict=True)
        )
        assert [response.status for response in web.log.responses] == [200, 200, 204, 302]
        assert sum(response.wire_bytes for response in web.log.responses) == len(octets)
        assert web.log.connections[0].sent_bytes == len(octets)


@limited
async def test_a_request_body_is_read_by_its_framing() -> None:
    head = f"POST /echo HTTP/1.1\r\nHost: {HOST}\r\n"
    chunked = f"{head}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-T: 1\r\n\r\n"
    expecting = f"{head}Content-Length: 4\r\nExpect: 100-continue\r\n\r\n"
    interim = b"HTTP/1.1 100 Continue\r\n\r\n"

    async with ZooWeb(HOSTS, protocol="h1") as web, connected(web) as (reader, writer):
        writer.write(chunked.encode())
        assert (await reader.readuntil(b"abcde")).startswith(b"HTTP/1.1 200 OK\r\n")
        writer.write(expecting.encode())
        assert await reader.readexactly(len(interim)) == interim
        writer.write(b"wxyz")
        final = await reader.readuntil(b"wxyz")
        second = web.log.responses[1]
        assert (second.wire_bytes, second.body_bytes) == (len(interim) + len(final), 4)


@limited
async def test_a_request_body_is_not_taken_for_a_request() -> None:
    async with ZooWeb(HOSTS, protocol="h1") as web, connected(web) as (reader, writer):
        body = request_of("/not/a/request")[:20]
        writer.write(request_of("/plain", method="POST", more="Content-Length: 30\r\n") + body)
        writer.write(b"0123456789" + request_of("/redirect"))
        await reader.readuntil(b"moved")
        assert [response.path for response in web.log.responses] == ["/plain", "/redirect"]


@limited
async def test_a_response_to_head_between_others_has_no_body() -> None:
    async def sized(request: ServedRequest, reply: Reply) -> None:
        is_head = request.method == "HEAD"
        await reply.head(200, [("content-length", str(len(TEXT)))], end=is_head)
        if not is_head:
            await reply.body(TEXT, end=True)

    async with ZooWeb({HOST: sized}, protocol="h1") as web, connected(web) as (reader, writer):
        writer.write(request_of("/1") + request_of("/2", method="HEAD") + request_of("/3"))
        octets = b""
        while octets.count(TEXT) < 2:
            octets += await reader.read(65_536)
        assert [response.path for response in web.log.responses] == ["/1", "/2", "/3"]
        assert [response.body_bytes for response in web.log.responses] == [len(TEXT), 0, len(TEXT)]
        assert sum(response.wire_bytes for response in web.log.responses) == len(octets)


@limited
async def test_a_client_that_wants_the_connection_closed_sees_it_end() -> None:
    async with ZooWeb(HOSTS, protocol="h1") as web, connected(web) as (reader, writer):
        writer.write(request_of(more="Connection: close\r\n") + request_of("/redirect"))
        assert (await reader.read()).endswith(TEXT)
        assert [(response.path, response.is_complete) for response in web.log.responses] == [("/plain", True)]


@pytest.mark.parametrize(
    "octets",
    [
        b"\x16\x03\x01\x00\xa5\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/1.1\r\nno field\r\n\r\n",
        request_of(more="Content-Length: -5\r\n"),
        request_of(more="Transfer-Encoding: chunked\r\n") + b"no size\r\n",
        b"a" * 70_000,
    ],
)
@limited
async def test_a_client_that_does_not_speak_http_is_dropped_and_logged(octets: bytes) -> None:
    async with ZooWeb(HOSTS, protocol="h1") as web, connected(web) as (reader, writer):
        writer.write(octets)
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        (connection,) = web.log.connections
        assert connection.error
        assert connection.sent_bytes == 0
        assert "ProtocolViolation" in web.log.failures[0]


@limited
async def test_a_reset_follows_what_was_sent() -> None:
    body = bytes(300_000)

    async def broken(request: ServedRequest, reply: Reply) -> None:
        await reply.head(200, [("content-length", "999999")])
        await reply.body(body)
        await reply.reset()

    async with ZooWeb({HOST: broken}, protocol="h1") as web:
        loop, octets = asyncio.get_running_loop(), bytearray()
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            await loop.sock_connect(client, web.endpoint(ServedOrigin("http", HOST)))
            await loop.sock_sendall(client, f"GET / HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
            with contextlib.suppress(ConnectionResetError):
                while piece := await loop.sock_recv(client, 2048):
                    octets += piece
                    await asyncio.sleep(0)
                pytest.fail("the server has closed the connection in order")
        (response,) = web.log.responses
        assert (response.wire_bytes, response.body_bytes, response.is_complete) == (
            len(octets),
            len(body),
            False,
        )
        assert web.log.connections[0].closed_us


@pytest.mark.parametrize("turns", range(8))
@limited
async def test_a_reset_while_the_client_writes_leaves_the_next_connection_alone(turns: int) -> None:
    clients: list[socket.socket] = []

    async def broken(request: ServedRequest, reply: Reply) -> None:
        if request.path == "/next":
            await reply.head(204, [], end=True)
            return
        clients[0].send(request_of("/more"))
        for _ in range(turns):  # the server has read none, some or all of it when it resets
            await asyncio.sleep(0)
        await reply.reset()

    loop = asyncio.get_running_loop()
    async with ZooWeb({HOST: broken}, protocol="h1") as web:
        with socket.socket() as client:
            clients.append(client)
            client.setblocking(False)
            await loop.sock_connect(client, web.endpoint(ServedOrigin("http", HOST)))
            await loop.sock_sendall(client, request_of("/"))
            while not web.log.connections[-1:] or not web.log.connections[-1].closed_us:
                await asyncio.sleep(0.001)
            # Its descriptors are the next that are free.
            async with asyncio.timeout(30), connected(web) as (reader, writer):
                for _ in range(2):
                    writer.write(request_of("/next"))
                    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 204")


@pytest.mark.parametrize(
    ("declared", "is_complete"),
    [([], True), ([("content-length", "3")], True), ([("content-length", "9")], False)],
)
@limited
async def test_closing_completes_a_body_that_has_what_it_declared(
    declared: list[tuple[str, str]], is_complete: bool
) -> None:
    async def closing(request: ServedRequest, reply: Reply) -> None:
        await reply.head(200, declared)
        await reply.body(b"abc")
        await reply.close()

    async with ZooWeb({HOST: closing}, protocol="h1") as web, connected(web) as (reader, writer):
        writer.write(f"GET / HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        assert (await reader.read()).endswith(b"\r\n\r\nabc")
        assert [response.is_complete for response in web.log.responses] == [is_complete]


@limited
async def test_an_exception_of_a_handler_is_logged_as_a_failure() -> None:
    async def wrong(request: ServedRequest, reply: Reply) -> None:
        raise KeyError(request.path)

    async with ZooWeb({HOST: wrong}, protocol="h1") as web, connected(web) as (_, writer):
        writer.write(f"GET /oh HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        while not web.log.failures:
            await asyncio.sleep(0.01)
        assert "KeyError: '/oh'" in web.log.failures[0]
