"""A client that shares no code with the server: it counts what really arrives, by hand and by hyperframe."""

import asyncio
import dataclasses
import ssl
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias

import h2.config
import h2.connection
import h2.events
import hyperframe.frame
import pytest

from localweb.recipes import Page, RecipeSource, WebObject
from localweb.server import LocalWeb
from localweb.serving.handler import ServedOrigin

SOURCE = RecipeSource(
    repository="a/b", commit="c0ffee", licence="MIT", file="x.har", tool="by hand", date="2020-02-02"
)


async def settled(web: LocalWeb) -> None:
    while any(connection.closed_us is None for connection in web.log.connections):
        await asyncio.sleep(0.01)


@dataclasses.dataclass
class Arrived:
    """One response as the client saw it."""

    status: int
    headers: dict[str, str]
    body: bytes
    wire_bytes: int
    stream_id: int | None = None


@dataclasses.dataclass
class Seen:
    """One connection as the client saw it."""

    client_port: int = 0
    protocol: str = ""
    tcp_bytes: int = 0
    handshake_bytes: int = 0
    ticket_bytes: int = 0
    plaintext_bytes: int = 0
    frame_bytes: int = 0
    arrived: dict[str, Arrived] = dataclasses.field(default_factory=dict)


class Wire:
    """Reads one connection, through TLS record by record."""

    def __init__(self, seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.seen, self.reader, self.writer = seen, reader, writer
        self.records = b""
        self.tls: ssl.SSLObject | None = None

    async def secure(self, host: str, alpn: Sequence[str]) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(list(alpn))
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname=host)
        while True:
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                self.writer.write(self.outgoing.read())
                self.incoming.write(await self.receive_some())
                continue
            break
        self.writer.write(self.outgoing.read())
        self.seen.handshake_bytes = self.seen.tcp_bytes
        self.seen.protocol = self.tls.selected_alpn_protocol() or "http/1.1"

    async def receive_some(self) -> bytes:
        octets = await self.reader.read(65_536)
        self.seen.tcp_bytes += len(octets)
        return octets

    async def plaintext(self) -> bytes:
        """Return the next plaintext; empty at the end."""
        while True:
            octets = await self.receive_some()
            if not octets:
                return b""
            plaintext = self.opened(octets) if self.tls else octets
            self.seen.plaintext_bytes += len(plaintext)
            if plaintext:
                return plaintext

    def opened(self, octets: bytes) -> bytes:
        assert self.tls is not None
        self.records += octets
        plaintext = b""
        while len(self.records) >= 5 and len(self.records) >= (
            size := 5 + int.from_bytes(self.records[3:5], "big")
        ):
            self.incoming.write(self.records[:size])
            self.records = self.records[size:]
            before = len(plaintext)
            try:
                while piece := self.tls.read(65_536):
                    plaintext += piece
            except ssl.SSLWantReadError:
                pass
            if len(plaintext) == before:  # a record without data, after the handshake: a ticket
                self.seen.ticket_bytes += size
        return plaintext

    def send(self, plaintext: bytes) -> None:
        if self.tls:
            self.tls.write(plaintext)
            plaintext = self.outgoing.read()
        self.writer.write(plaintext)


async def over_http1(wire: Wire, host: str, paths: Sequence[str]) -> None:
    buffered = b""
    for path in paths:
        wire.send(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        while b"\r\n\r\n" not in buffered:
            buffered += await more(wire)
        head, _, buffered = buffered.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        status = int(first.split()[1])
        # Without a length, a body goes on to the connection's end.
        length = int(headers.get("content-length", 0 if status == 204 else sys.maxsize))
        while len(buffered) < length:
            buffered += await more(wire)
        body, buffered = buffered[:length], buffered[length:]
        arrived = Arrived(status, headers, body, len(head) + 4 + length)
        wire.seen.arrived[path] = arrived
    assert buffered == b""


async def over_http2(wire: Wire, host: str, paths: Sequence[str]) -> None:
    http = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding=None))
    http.initiate_connection()
    http.increment_flow_control_window(2**30)
    asked = {}
    for number, path in enumerate(paths):
        stream = 1 + 2 * number
        asked[stream] = path
        wire.seen.arrived[path] = Arrived(0, {}, b"", 0, stream)
    waiting = list(asked)
    open_streams: set[int] = set()
    frames = b""
    while waiting or open_streams:
        while waiting and len(open_streams) < 50:
            stream = waiting.pop(0)
            fields = [
                (":method", "GET"),
                (":scheme", "https"),
                (":authority", host),
                (":path", asked[stream]),
            ]
            http.send_headers(stream, fields, end_stream=True)
            open_streams.add(stream)
        wire.send(http.data_to_send())
        plaintext = await more(wire)
        frames = count_frames(frames + plaintext, wire.seen, asked)
        for event in http.receive_data(plaintext):
            if isinstance(event, h2.events.ResponseReceived):
                headers = {name.decode(): value.decode() for name, value in event.headers}
                wire.seen.arrived[asked[event.stream_id]].status = int(headers.pop(":status"))
                wire.seen.arrived[asked[event.stream_id]].headers = headers
            elif isinstance(event, h2.events.DataReceived):
                wire.seen.arrived[asked[event.stream_id]].body += event.data
                http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                open_streams.discard(event.stream_id)
    assert frames == b""


def count_frames(octets: bytes, seen: Seen, asked: dict[int, str]) -> bytes:
    """Count each frame for its response or for the connection;
    return the part of a frame that is cut short."""
    while len(octets) >= 9:
        frame, length = hyperframe.frame.Frame.parse_frame_header(memoryview(octets[:9]))
        if len(octets) < 9 + length:
            break
        kinds = (
            hyperframe.frame.DataFrame,
            hyperframe.frame.HeadersFrame,
            hyperframe.frame.ContinuationFrame,
        )
        if isinstance(frame, kinds):
            seen.arrived[asked[frame.stream_id]].wire_bytes += 9 + length
        else:
            seen.frame_bytes += 9 + length
        octets = octets[9 + length :]
    return octets


async def more(wire: Wire) -> bytes:
    plaintext = await wire.plaintext()
    if not plaintext:
        raise EOFError
    return plaintext


Fetch: TypeAlias = Callable[..., Coroutine[Any, Any, Seen]]


@pytest.fixture
def fetch() -> Fetch:
    async def call(
        origin: ServedOrigin,
        endpoint: tuple[str, int],
        paths: Sequence[str],
        *,
        alpn: Sequence[str] = ("h2", "http/1.1"),
    ) -> Seen:
        seen = Seen(protocol="http/1.1")
        reader, writer = await asyncio.open_connection(*endpoint, limit=2**20)
        seen.client_port = writer.get_extra_info("sockname")[1]
        wire = Wire(seen, reader, writer)
        try:
            if origin.scheme == "https":
                await wire.secure(origin.host, alpn)
            await (over_http2 if seen.protocol == "h2" else over_http1)(wire, origin.host, paths)
        finally:
            writer.close()
        return seen

    return call


def thing(kind: str, parent: int | None, **other: Any) -> WebObject:
    """Return an object, by default of 2,000 bytes on one host."""
    values: dict[str, Any] = {
        "scheme": "https",
        "host": "site.example",
        "kind": kind,
        "mime_type": "",
        "status": 200,
        "body_bytes": 2000,
        "protocol": "h2",
        "method": "GET",
        "parent": parent,
        "found_by": "start" if parent is None else "initiator",
    }
    return WebObject(**{**values, **other})


@pytest.fixture
def make_object() -> Callable[..., WebObject]:
    return thing


@pytest.fixture
def make_page() -> Callable[..., Page]:
    def call(*objects: WebObject, number: int = 1) -> Page:
        return Page(number=number, objects=objects, source=SOURCE, repairs={})

    return call
