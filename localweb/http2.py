"""The server's side of an H2 connection: frames counted by stream as they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import h2.config
import h2.connection
import h2.events
import h2.exceptions

from localweb import frames
from localweb.modes import ALPN_H2
from localweb.outgoing import CHUNK, Outgoing, ProtocolViolation

if TYPE_CHECKING:
    from collections.abc import Callable

    from localweb.outgoing import Answering


class Http2Session:
    """Streams take turns, a frame each; priorities are not looked at."""

    protocol = ALPN_H2
    wants_close = False

    def __init__(self, answering: Answering, count_frames: Callable[[int], None]) -> None:
        config = h2.config.H2Configuration(client_side=False, header_encoding=None)
        self._connection = h2.connection.H2Connection(config)
        self._connection.initiate_connection()
        self._answering = answering
        self._count_frames = count_frames
        self._requests: dict[int, dict[bytes, bytes]] = {}
        """Header fields, by stream, of requests that have not ended."""
        self._pending: dict[int, Outgoing] = {}
        """By stream, the next to have its turn first."""

    def receive(self, data: bytes) -> None:
        """Take in bytes from the client."""
        try:
            events = self._connection.receive_data(data)
        except h2.exceptions.ProtocolError as exc:
            raise ProtocolViolation(str(exc)) from exc
        for event in events:
            if isinstance(event, h2.events.RequestReceived):
                self._requests[event.stream_id] = dict(event.headers)
            elif isinstance(event, h2.events.DataReceived):
                self._connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                self._answer(event.stream_id)
            elif isinstance(event, h2.events.StreamReset):
                self._requests.pop(event.stream_id, None)
                self._pending.pop(event.stream_id, None)
            elif isinstance(event, h2.events.ConnectionTerminated):
                self._pending.clear()

    def _answer(self, stream_id: int) -> None:
        found = self._requests.pop(stream_id)
        names = (b":method", b":authority", b":path")
        method, authority, path = (found.get(name, b"").decode("latin-1") for name in names)
        outgoing = self._answering(method, authority, path, self.protocol, stream_id)
        if outgoing:
            self._pending[stream_id] = outgoing

    def next_write(self, now: int) -> bytes:
        """The next bytes to write; none if there is nothing to say now."""
        waiting = self._connection.data_to_send()
        if waiting:
            self._count(waiting, {}, now)
            return waiting
        for stream_id, outgoing in list(self._pending.items()):
            if self._advance(stream_id, outgoing, now):
                written = self._connection.data_to_send()
                self._count(written, {stream_id: outgoing}, now)
                if stream_id not in self._pending:
                    outgoing.finish(now)
                return written
        return b""

    def _advance(self, stream_id: int, outgoing: Outgoing, now: int) -> bool:
        """Let a stream write its header or a frame of its body; False if it cannot now."""
        if outgoing.is_new:
            self._connection.send_headers(stream_id, fields(outgoing), end_stream=not outgoing.has_body)
            ended = not outgoing.has_body
        else:
            room = self._connection.local_flow_control_window(stream_id)
            body = outgoing.take(min(room, self._connection.max_outbound_frame_size, CHUNK), now)
            if not body:
                return False
            ended = outgoing.is_exhausted
            self._connection.send_data(stream_id, body, end_stream=ended)
        del self._pending[stream_id]
        if not ended:
            self._pending[stream_id] = outgoing
        return True

    def _count(self, written: bytes, streams: dict[int, Outgoing], now: int) -> None:
        for frame in frames.scan(written):
            if frame.stream_id in streams and frame.is_of_response:
                streams[frame.stream_id].wrote(
                    header=frame.wire_bytes - frame.data_bytes, body=frame.data_bytes, now=now
                )
            else:
                self._count_frames(frame.wire_bytes)

    @property
    def is_waiting(self) -> bool:
        """Whether a response waits for time to pass, or for the client to open its window."""
        return bool(self._pending)

    @property
    def wants_reset(self) -> bool:
        """Whether a response is one that a reset cuts off here."""
        return any(outgoing.is_cut for outgoing in self._pending.values())


def fields(outgoing: Outgoing) -> list[tuple[str, str]]:
    """Header fields of a response."""
    answer = outgoing.answer
    found = [(":status", str(answer.status)), *answer.headers]
    if outgoing.length is not None and answer.status != 204:
        found.append(("content-length", str(outgoing.length)))
    return found
