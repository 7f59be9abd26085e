"""HTTP/2: streams answered side by side, frames counted by stream as they are handed to TCP.

HEADERS, CONTINUATION and DATA count for their stream's response; all other frames,
including RST_STREAM, count for the connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings

from localweb.serving import frames
from localweb.serving.channel import Channel, Gone, ProtocolViolation
from localweb.serving.handler import ALPN_H2, Fields, Reply, ServedRequest, ServedSite
from localweb.serving.log import SentResponse

TURNS = 2
"""Turns of the event loop in which a handler with an answer at hand has sent it, together with what the
connection owes, such as the acknowledgement of SETTINGS: a packet less of the first window.
"""


class Http2Session:
    """One connection."""

    def __init__(self, channel: Channel, site: ServedSite, scheme: str) -> None:
        config = h2.config.H2Configuration(client_side=False, header_encoding="latin-1")
        self.connection = h2.connection.H2Connection(config)
        self.connection.local_settings = h2.settings.Settings(
            client=False, initial_values={h2.settings.SettingCodes.ENABLE_CONNECT_PROTOCOL: 1}
        )
        self.channel = channel
        self.turns = asyncio.Lock()
        """Held from the making of a frame until TCP has it, so that frames keep their order; fair, so streams
        take turns.
        """
        self._site = site
        self._scheme = scheme
        self._replies: dict[int, Http2Reply] = {}
        self._answering: set[asyncio.Task[None]] = set()
        self._windows = asyncio.Event()
        """Set, and then replaced, when a window may have grown."""
        self._position = 0
        self._headers = frames.RequestHeaders()

    async def serve(self) -> None:
        self.connection.initiate_connection()
        try:
            await self.flush()
            while octets := await self.channel.receive():
                self._receive(octets)
                for _ in range(TURNS):
                    await asyncio.sleep(0)
                await self.flush()
        finally:
            self._wake()
            for task in self._answering:
                task.cancel()
            await asyncio.gather(*self._answering, return_exceptions=True)

    def _receive(self, octets: bytes) -> None:
        self._headers.feed(octets)
        try:
            events = self.connection.receive_data(octets)
        except h2.exceptions.ProtocolError as exc:
            raise ProtocolViolation(str(exc)) from exc
        for event in events:
            if isinstance(event, h2.events.RequestReceived):
                self._on_request(event)
            elif isinstance(event, h2.events.DataReceived):
                if reply := self._replies.get(event.stream_id):
                    reply.received += event.data
                self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                self._on_stream_end(self._replies.get(event.stream_id))
            elif isinstance(event, h2.events.StreamReset) and event.stream_id in self._replies:
                self._replies[event.stream_id].is_reset = True
            elif isinstance(event, h2.events.ConnectionTerminated):
                for reply in self._replies.values():
                    reply.is_reset = True
        self._wake()

    def _on_request(self, event: h2.events.RequestReceived) -> None:
        self._position += 1
        fields = frames.fields(event.headers)
        stated = event.priority_updated
        entry = SentResponse(
            connection_id=self.channel.entry.id,
            position=self._position,
            stream_id=event.stream_id,
            protocol=ALPN_H2,
            method=fields[":method"],
            scheme=self._scheme,
            host=fields.get(":authority", "").partition(":")[0],
            path=fields[":path"],
            request_header_bytes=self._headers.take(event.stream_id),
            priority=fields.get("priority"),
            h2_priority=[stated.weight or 0, stated.depends_on or 0, int(bool(stated.exclusive))]
            if stated
            else None,
        )
        self._site.log.responses.append(entry)
        reply = self._replies[event.stream_id] = Http2Reply(self, entry, fields)
        if reply.is_tunnel:
            self._answer(reply)

    def _on_stream_end(self, reply: Http2Reply | None) -> None:
        if reply is not None and reply.is_tunnel:
            reply.is_reset = True
        elif reply is not None:
            self._answer(reply)

    def _answer(self, reply: Http2Reply) -> None:
        reply.entry.request_received_us = self.channel.came_us
        task = self._site.answer(reply.request(), reply)
        self._answering.add(task)
        task.add_done_callback(functools.partial(self._finish_answer, reply.stream_id))

    def _finish_answer(self, stream_id: int, task: asyncio.Task[None]) -> None:
        self._answering.discard(task)
        del self._replies[stream_id]

    def _wake(self) -> None:
        self._windows.set()
        self._windows = asyncio.Event()

    async def window(self) -> None:
        """Wait until a window may have grown, or the stream or the client may have gone."""
        await self._windows.wait()

    async def flush(self) -> None:
        async with self.turns:
            await self.hand_over()

    async def hand_over(self, stream_id: int | None = None, entry: SentResponse | None = None) -> None:
        """Do what `flush` does, for a caller that holds `turns`."""
        await self.count(self.connection.data_to_send(), stream_id, entry)

    async def count(self, octets: bytes, stream_id: int | None, entry: SentResponse | None) -> None:
        """Hand whole frames to TCP; the stream's count for its response until it is complete."""
        handed = await self.channel.send(octets)
        for frame in frames.scan(octets):
            is_of_stream = frame.stream_id == stream_id and frame.is_of_response
            if entry is not None and is_of_stream and not entry.is_complete:
                header, body = frame.wire_bytes - frame.data_bytes, frame.data_bytes
                entry.wrote(header=header, body=body, first_us=handed.first_us, last_us=handed.last_us)
            else:
                self.channel.entry.frame_bytes += frame.wire_bytes


class Http2Reply(Reply):
    """A reply over one stream of HTTP/2; see `handler.Reply`."""

    def __init__(self, session: Http2Session, entry: SentResponse, fields: dict[str, str]) -> None:
        assert entry.stream_id is not None
        self.entry = entry
        self.received = bytearray()
        self.is_reset = False
        """True if the client has reset the stream, or gone."""
        self._session = session
        self.stream_id = entry.stream_id
        self._fields = fields

    @property
    def is_tunnel(self) -> bool:
        """True if the request is an extended CONNECT (RFC 8441 §4), which is answered before its end."""
        return ":protocol" in self._fields

    def request(self) -> ServedRequest:
        return ServedRequest(
            protocol=ALPN_H2,
            method=self.entry.method,
            scheme=self.entry.scheme,
            host=self.entry.host,
            target=self.entry.path,
            headers={name: value for name, value in self._fields.items() if not name.startswith(":")},
            body=bytes(self.received),
        )

    async def inform(self, status: int, fields: Fields) -> None:
        await self._headers([(":status", str(status)), *fields])

    async def head(self, status: int, fields: Fields, *, end: bool = False) -> None:
        self.entry.status = status
        await self._headers([(":status", str(status)), *fields], end=end)

    async def whole(self, status: int, fields: Fields, content: bytes) -> None:
        self.entry.status = status
        async with self._turn() as connection:
            connection.send_headers(
                self.stream_id, [(":status", str(status)), *fields], end_stream=not content
            )
            size = self._frame(connection, memoryview(content), end=True)
        self.entry.is_complete = size == len(content)
        await self.body(content[size:], end=True)

    async def body(self, content: bytes, *, end: bool = False) -> None:
        """Send DATA, a frame a turn, as far as the windows allow."""
        left = memoryview(content)
        while left:
            left = left[await self._data(left, end=end) :]

    async def end(self, trailers: Fields = ()) -> None:
        if trailers:
            await self._headers(list(trailers), end=True)
            return
        async with self._turn() as connection:
            connection.end_stream(self.stream_id)
        self.entry.is_complete = True

    async def write_frames(self, octets: bytes, *, end: bool = False) -> None:
        async with self._turn():
            await self._session.count(octets, self.stream_id, self.entry)
        self.entry.is_complete |= end

    async def reset(self) -> None:
        async with self._turn() as connection:
            connection.reset_stream(self.stream_id, h2.errors.ErrorCodes.INTERNAL_ERROR)

    async def abort(self) -> None:
        await self._session.channel.reset()

    async def close(self) -> None:
        async with self._turn() as connection:
            connection.close_connection()
        await self._session.channel.finish()

    async def upgrade(self, fields: Fields) -> None:
        self.entry.scheme = self.entry.scheme.replace("http", "ws")
        only_http1 = ("upgrade", "connection", "sec-websocket-accept")
        await self.head(200, [field for field in fields if field[0] not in only_http1])

    async def receive(self) -> bytes:
        while not self.received and not self.is_reset:
            await self._session.window()
        came, self.received = bytes(self.received), bytearray()
        return came

    async def _headers(self, fields: list[tuple[str, str]], *, end: bool = False) -> None:
        async with self._turn() as connection:
            connection.send_headers(self.stream_id, fields, end_stream=end)
        self.entry.is_complete = end

    async def _data(self, left: memoryview, *, end: bool) -> int:
        async with self._turn() as connection:
            size = self._frame(connection, left, end=end)
        if not size:
            await self._session.window()
            return 0
        self.entry.is_complete = end and size == len(left)
        return size

    def _frame(self, connection: h2.connection.H2Connection, left: memoryview, *, end: bool) -> int:
        room = connection.local_flow_control_window(self.stream_id) if left else 0
        size = max(0, min(room, connection.max_outbound_frame_size, len(left)))
        if size:
            connection.send_data(self.stream_id, bytes(left[:size]), end_stream=end and size == len(left))
        return size

    @contextlib.asynccontextmanager
    async def _turn(self) -> AsyncIterator[h2.connection.H2Connection]:
        session = self._session
        await asyncio.sleep(0)  # if TCP takes all at once, no other await lets other streams have a turn
        async with session.turns:
            if self.is_reset or session.channel.is_gone:
                raise Gone
            yield session.connection
            await session.hand_over(self.stream_id, self.entry)
