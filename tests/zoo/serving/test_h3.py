"""HTTP/3 of the server by a client that counts too: many streams, resets, a path that loses and delays."""

import asyncio
import collections
import contextlib
import ssl
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from aioquic.asyncio.client import connect
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import ErrorCode, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import QuicEvent, StreamDataReceived, StreamReset

from localweb.serving.handler import Reply, ServedOrigin, ServedRequest
from localweb.serving.log import SentConnection
from tests.factories.limited import LIMIT_S, limited
from tests.zoo.serving.examples import HOST, HOSTS, TEXT, endless
from tests.zoo.serving.packets import CLEAN, LATE_S, Path
from tests.zoo.serving.server import ZooWeb

STREAMS = 100
PIECES, PIECE = 3, 2000
LIMIT = 1 << 18
"""Bytes that the client allows on a stream."""


class Client(QuicConnectionProtocol):
    """Counts what its streams received."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.http = H3Connection(self._quic)
        self.wire: collections.Counter[int] = collections.Counter()
        self.body: collections.Counter[int] = collections.Counter()
        self.udp_bytes = 0
        self.ended: set[int] = set()
        self.reset: set[int] = set()
        self.heard = asyncio.Event()

    def datagram_received(self, data: bytes | str, addr: Any) -> None:
        self.udp_bytes += len(data)
        super().datagram_received(data, addr)

    def quic_event_received(self, event: QuicEvent) -> None:
        self.heard.set()
        if isinstance(event, StreamDataReceived):
            self.wire[event.stream_id] += len(event.data)
        elif isinstance(event, StreamReset):
            self.reset.add(event.stream_id)
        for http_event in self.http.handle_event(event):
            if isinstance(http_event, DataReceived):
                self.body[http_event.stream_id] += len(http_event.data or b"")
            if isinstance(http_event, DataReceived | HeadersReceived) and http_event.stream_ended:
                self.ended.add(http_event.stream_id)

    def ask(self, path: str) -> int:
        stream_id = self._quic.get_next_available_stream_id()
        fields = [(":method", "GET"), (":scheme", "https"), (":authority", HOST), (":path", path)]
        self.http.send_headers(stream_id, [(name.encode(), value.encode()) for name, value in fields], True)
        return stream_id

    async def read(self, *, until: int, data: int = 0) -> None:
        self.transmit()
        while len(self.ended | self.reset) < until or self.body.total() < data:
            self.heard.clear()
            await self.heard.wait()

    async def receive_all(self, connection: SentConnection) -> None:
        """Wait until acknowledgements and late datagrams are sent,
        and until all that was sent has arrived."""
        await asyncio.sleep(2 * LATE_S)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LIMIT_S / 2):
                while self.udp_bytes < connection.sent_bytes:
                    await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def connected(web: ZooWeb) -> AsyncIterator[Client]:
    address, port = web.endpoint(ServedOrigin("https", HOST))
    configuration = QuicConfiguration(alpn_protocols=["h3"], verify_mode=ssl.CERT_NONE, server_name=HOST)
    configuration.max_data, configuration.max_stream_data = 8 * LIMIT, LIMIT
    async with connect(address, port, configuration=configuration, create_protocol=Client) as client:
        yield cast("Client", client)


@pytest.mark.parametrize(
    "path", [CLEAN, Path(lost=13, late=17, doubled=11, retry=True)], ids=["clean", "rough"]
)
@limited
async def test_a_hundred_streams_are_open_at_once(path: Path) -> None:
    begun = 0
    all_begun = asyncio.Event()

    async def pieces(request: ServedRequest, reply: Reply) -> None:
        nonlocal begun
        await reply.head(200, [])
        await reply.body(bytes(PIECE))
        begun += 1
        if begun == STREAMS:
            all_begun.set()
        await all_begun.wait()
        for _ in range(PIECES - 1):
            await reply.body(bytes(PIECE))
        await reply.end([("x-checksum", "1")])

    async with ZooWeb({HOST: pieces}, protocol="h3", path=path) as web, connected(web) as client:
        streams = [client.ask("/") for _ in range(STREAMS)]
        await client.read(until=STREAMS)
        assert [client.body[stream] for stream in streams] == [PIECES * PIECE] * STREAMS
        by_stream = sorted(web.log.responses, key=lambda response: response.stream_id or 0)
        assert [response.stream_id for response in by_stream] == streams
        assert [response.body_bytes for response in by_stream] == [client.body[stream] for stream in streams]
        assert [response.wire_bytes for response in by_stream] == [client.wire[stream] for stream in streams]
        assert all(response.is_complete for response in by_stream)
        (connection,) = web.log.connections
        assert connection.plaintext_bytes == client.wire.total()
        assert connection.frame_bytes == sum(size for stream, size in client.wire.items() if stream % 4)


@limited
async def test_udp_payload_is_counted_as_it_arrives() -> None:
    async with ZooWeb(HOSTS, protocol="h3", path=Path(doubled=3, retry=True)) as web:
        async with connected(web) as client:
            client.ask("/plain")
            await client.read(until=1)
            (connection,) = web.log.connections
            await client.receive_all(connection)
            assert connection.sent_bytes == client.udp_bytes
        assert 1200 < connection.tls_handshake_bytes < 6000


@limited
async def test_what_ends_a_connection_comes_once_and_nothing_after_it() -> None:
    async def close(request: ServedRequest, reply: Reply) -> None:
        await reply.head(200, [])
        await reply.close()

    path = Path(late=2, doubled=3)
    async with ZooWeb({HOST: close}, protocol="h3", path=path) as web, connected(web) as client:
        client.ask("/")
        client.transmit()
        await client.wait_closed()
        received = client.udp_bytes
        (connection,) = web.log.connections
        await client.receive_all(connection)
        assert connection.sent_bytes == client.udp_bytes == received


@limited
async def test_a_stream_that_is_reset_leaves_the_others() -> None:
    async with ZooWeb(HOSTS, protocol="h3") as web, connected(web) as client:
        broken, whole = client.ask("/broken-off"), client.ask("/plain")
        await client.read(until=2)
        assert (client.reset, client.ended) == ({broken}, {whole})
        sizes = {
            response.stream_id: (response.body_bytes, response.is_complete) for response in web.log.responses
        }
        assert sizes == {broken: (3000, False), whole: (len(TEXT), True)}


@limited
async def test_a_client_that_stops_a_stream_stops_who_writes_to_it() -> None:
    stopped: list[str] = []
    async with ZooWeb({HOST: endless(stopped)}, protocol="h3") as web, connected(web) as client:
        endless_id = client.ask("/endless")
        await client.read(until=0, data=1)
        client._quic.stop_stream(endless_id, ErrorCode.H3_REQUEST_CANCELLED)
        client.ask("/other")
        await client.read(until=2)
        assert stopped == ["/endless"]
        assert [response.is_complete for response in web.log.responses] == [False, True]
        assert web.log.failures == []


@limited
async def test_no_more_is_written_than_the_client_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    written = 0

    async def large(request: ServedRequest, reply: Reply) -> None:
        nonlocal written
        await reply.head(200, [])
        for _ in range(64):
            await reply.body(bytes(65_536))
            written += 65_536
        await reply.end()

    async with ZooWeb({HOST: large}, protocol="h3") as web, connected(web) as client:
        # A client that never allows more than it did at first.
        for name in ("_write_connection_limits", "_write_stream_limits"):
            monkeypatch.setattr(client._quic, name, lambda **_: None)
        client.ask("/")
        client.transmit()
        while client.wire[0] < LIMIT:
            client.heard.clear()
            await client.heard.wait()
        await asyncio.sleep(0.1)
        (response,) = web.log.responses
        assert response.wire_bytes == client.wire[0] == LIMIT
        assert response.body_bytes == client.body[0] > written
