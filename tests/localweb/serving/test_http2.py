"""HTTP/2 of the server, by a client that counts every frame itself."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import ssl

import h2.config
import h2.connection
import h2.events
from hyperframe.frame import ContinuationFrame, DataFrame, Frame, HeadersFrame

from localweb.serving.handler import ServedOrigin
from tests.factories.limited import limited
from tests.zoo.serving.examples import HOSTS, TEXT, endless
from tests.zoo.serving.server import ZooWeb

HOST = "zoo.test"
STREAMS = 100


class Http2Client:
    """Client that keeps stream and size of each DATA in order, and the streams that ended or were reset."""

    def __init__(self, web: ZooWeb) -> None:
        self._web = web
        self._connection = h2.connection.H2Connection(h2.config.H2Configuration())
        self.received: list[tuple[int, int]] = []
        self.ended: set[int] = set()
        self.reset: set[int] = set()
        self.octets = bytearray()

    async def __aenter__(self) -> Http2Client:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        address, port = self._web.endpoint(ServedOrigin("https", HOST))
        self._reader, self._writer = await asyncio.open_connection(
            address, port, ssl=context, server_hostname=HOST
        )
        self._connection.initiate_connection()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    def ask(self, path: str) -> int:
        stream_id = self._connection.get_next_available_stream_id()
        fields = [(":method", "GET"), (":scheme", "https"), (":authority", HOST), (":path", path)]
        self._connection.send_headers(stream_id, fields, end_stream=True)
        return stream_id

    def cancel(self, stream_id: int) -> None:
        self._connection.reset_stream(stream_id)

    def ping(self) -> None:
        self._connection.ping(b"are you?")
        self._writer.write(self._connection.data_to_send())

    async def read(self, *, until: int, data: int = 0) -> None:
        """Read until so many streams have ended and so many DATA frames have come."""
        while len(self.ended | self.reset) < until or len(self.received) < data:
            self._writer.write(self._connection.data_to_send())
            octets = await self._reader.read(65_536)
            assert octets, "the server has closed the connection"
            self.octets += octets
            for event in self._connection.receive_data(octets):
                if isinstance(event, h2.events.DataReceived):
                    self.received.append((event.stream_id, len(event.data)))
                    self._connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    self.ended.add(event.stream_id)
                elif isinstance(event, h2.events.StreamReset):
                    self.reset.add(event.stream_id)

    def frames(self) -> collections.Counter[int]:
        """Return the bytes of response frames by stream, and of all other frames under 0."""
        sizes: collections.Counter[int] = collections.Counter()
        at = 0
        while at < len(self.octets):
            frame, length = Frame.parse_frame_header(memoryview(self.octets[at : at + 9]))
            carries = isinstance(frame, DataFrame | HeadersFrame | ContinuationFrame)
            sizes[frame.stream_id if carries else 0] += 9 + length
            at += 9 + length
        assert at == len(self.octets)
        return sizes


@limited
async def test_a_hundred_streams_take_turns() -> None:
    async with ZooWeb(HOSTS, protocol="h2") as web, Http2Client(web) as client:
        streams = [client.ask("/in-pieces") for _ in range(STREAMS)]
        await client.read(until=STREAMS)
        sizes: collections.Counter[int] = collections.Counter()
        for stream, size in client.received:
            sizes[stream] += size
        assert sizes == dict.fromkeys(streams, 3 + len(TEXT) + 70_000)
        assert [response.body_bytes for response in web.log.responses] == [
            sizes[stream] for stream in streams
        ]
        assert [response.stream_id for response in web.log.responses] == streams
        (connection,) = web.log.connections
        assert len(client.octets) == connection.plaintext_bytes
        assert client.frames() == {
            0: connection.frame_bytes,
            **{response.stream_id: response.wire_bytes for response in web.log.responses},
        }

        order = [stream for stream, _ in client.received]
        begun = max(order.index(stream) for stream in streams)
        done = min(len(order) - order[::-1].index(stream) for stream in streams)
        assert begun < done, "a stream was done before another had begun"


@limited
async def test_a_client_that_sends_a_ping_with_its_close_is_answered() -> None:
    async with ZooWeb(HOSTS, protocol="h2") as web:
        async with Http2Client(web) as client:
            client.ask("/plain")
            await client.read(until=1)
            client.ping()  # in the same read of the server's as close_notify
        assert web.log.connections[0].closed_us


@limited
async def test_a_stream_that_is_reset_leaves_the_others() -> None:
    async with ZooWeb(HOSTS, protocol="h2") as web, Http2Client(web) as client:
        broken, whole = client.ask("/broken-off"), client.ask("/plain")
        await client.read(until=2)
        assert (client.reset, client.ended) == ({broken}, {whole})
        first, second = web.log.responses
        assert (first.body_bytes, first.is_complete) == (3000, False)
        assert (second.body_bytes, second.is_complete) == (len(TEXT), True)
        (connection,) = web.log.connections
        sizes = {broken: first.wire_bytes, whole: second.wire_bytes, 0: connection.frame_bytes}
        assert client.frames() == sizes
        assert len(client.octets) == connection.plaintext_bytes


@limited
async def test_a_client_that_resets_a_stream_stops_who_writes_to_it() -> None:
    stopped: list[str] = []
    async with ZooWeb({HOST: endless(stopped)}, protocol="h2") as web, Http2Client(web) as client:
        endless_id = client.ask("/endless")
        await client.read(until=0, data=1)
        client.cancel(endless_id)
        client.ask("/other")
        await client.read(until=1)
        assert stopped == ["/endless"]
        assert [response.is_complete for response in web.log.responses] == [False, True]
        assert web.log.failures == []
