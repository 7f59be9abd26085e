"""Generates HTTP/2 responses amid frames that RFC 9113 does not allow, or that nobody expects."""

import contextlib
import dataclasses
from typing import TypeAlias

from hypothesis import strategies as st

from localweb.serving.handler import Reply

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = (
    range(10)
)
ALTSVC, ORIGIN, PRIORITY_UPDATE, UNKNOWN = 0xA, 0xC, 0x10, 0xEE
END_STREAM, END_HEADERS, PADDED, HAS_PRIORITY = 0x1, 0x4, 0x8, 0x20
OWN = -1
"""Stands for the response's own stream."""
IDLE, PUSHED = 4001, 2
"""Streams on which no request was sent."""

Frame: TypeAlias = tuple[int, int, int, bytes]
"""Type, flags, stream and payload."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """The frames of a response, those that come amid them, and those that follow."""

    frames: tuple[Frame, ...]
    after: tuple[Frame, ...]
    method: str = "GET"

    async def send(self, reply: Reply) -> None:
        """Send it; the browser ends the connection if it refuses a frame."""
        assert reply.entry.stream_id is not None
        reply.entry.status = 200
        for frames in (self.frames, self.after):
            octets = b"".join(_wire(frame, reply.entry.stream_id) for frame in frames)
            with contextlib.suppress(OSError):  # the browser may have gone
                # At once, since nothing may come between a HEADERS frame and its CONTINUATION.
                await reply.write_frames(octets, end=True)


def _wire(frame: Frame, own: int) -> bytes:
    kind, flags, stream_id, payload = frame
    number = own if stream_id == OWN else stream_id
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + number.to_bytes(4, "big") + payload


def _literal(name: bytes, value: bytes) -> bytes:
    """A field that enters no table (RFC 7541 §6.2.2)."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def _status(status: bytes) -> bytes:
    return b"\x08" + bytes([len(status)]) + status


SEEN = _literal(b"x-seen", b"1")
FIELDS = st.sampled_from(
    (
        *(_literal(b"content-length", value) for value in (b"11", b"5", b"0", b"99", b"x", b"")),
        *(
            _literal(name, b"1")
            for name in (b"X-Upper", b"connection", b"x odd", b":odd", b"", b"x-odd\n", b"te")
        ),
        *(_literal(b"x-odd", value) for value in (b"", b" 1 ", b"\xff", b"a\rb", b"a\0b")),
        _literal(b"transfer-encoding", b"chunked"),
        _literal(b"cache-control", b"no-store"),
    )
)
AMID = st.sampled_from(
    (
        (UNKNOWN, 0, OWN, b"odd"),
        (UNKNOWN, 0xFF, 0, b""),
        (UNKNOWN, 0, IDLE, b"odd"),
        (DATA, 0, IDLE, b"odd"),
        (DATA, 0, PUSHED, b"odd"),
        (DATA, END_STREAM, IDLE, b"odd"),
        (HEADERS, END_HEADERS, IDLE, b"\x88"),
        (HEADERS, END_HEADERS | END_STREAM, PUSHED, b"\x88"),
        (PRIORITY, 0, OWN, bytes(5)),
        (RST_STREAM, 0, IDLE, bytes(4)),
        (SETTINGS, 0, 0, b"\xff\xff" + bytes(4)),
        (SETTINGS, 1, 0, b""),
        (PING, 1, 0, bytes(8)),
        (GOAWAY, 0, 0, (2**31 - 1).to_bytes(4, "big") + bytes(4) + b"soon"),
        (WINDOW_UPDATE, 0, IDLE, (1).to_bytes(4, "big")),
        (WINDOW_UPDATE, 0, OWN, (1).to_bytes(4, "big")),
        (ALTSVC, 0, OWN, b"\0\0"),
        (PRIORITY_UPDATE, 0, 0, (1).to_bytes(4, "big") + b"u=1"),
        (DATA, 0, OWN, b""),
        (DATA, PADDED, OWN, b"\x00"),
    )
)
FATAL = st.sampled_from(
    (
        (DATA, 0, 0, b"odd"),
        (HEADERS, END_HEADERS, 0, b"\x88"),
        (PUSH_PROMISE, END_HEADERS, OWN, b"\0\0\0\2\x88"),
        (CONTINUATION, END_HEADERS, OWN, b"\x88"),
        (ORIGIN, 0, 0, b"\0\1"),
        (WINDOW_UPDATE, 0, 0, bytes(4)),
        (PING, 0, 0, b"short"),
        (SETTINGS, 0, OWN, b""),
        (DATA, PADDED, OWN, b"\x06short"),
        (RST_STREAM, 0, OWN, bytes(4)),
        (RST_STREAM, 0, OWN, (8).to_bytes(4, "big")),
        (DATA, 0, OWN, b"late"),
        (DATA, END_STREAM, OWN, b"late"),
        (HEADERS, END_HEADERS, OWN, b"\x88"),
        (HEADERS, END_HEADERS | END_STREAM, OWN, SEEN),
    )
)
"""Frames after the end of a response, most of which end the connection."""


def _section(draw: st.DrawFn, block: bytes, flags: int) -> list[Frame]:
    how = draw(st.sampled_from(("whole", "whole", "padded", "priority", "parts", "empty")))
    if how == "padded":
        return [(HEADERS, flags | END_HEADERS | PADDED, OWN, b"\x05" + block + bytes(5))]
    if how == "priority":
        return [(HEADERS, flags | END_HEADERS | HAS_PRIORITY, OWN, bytes(5) + block)]
    if how == "whole":
        return [(HEADERS, flags | END_HEADERS, OWN, block)]
    at = 0 if how == "empty" else len(block) // 2
    return [(HEADERS, flags, OWN, block[:at]), (CONTINUATION, END_HEADERS, OWN, block[at:])]


@st.composite
def messages(draw: st.DrawFn) -> Message:
    frames: list[Frame] = draw(st.lists(AMID.filter(_may_lead), max_size=1))
    for status in draw(st.lists(st.sampled_from((b"100", b"103", b"199")), max_size=2)):
        frames += _section(draw, _status(status) + SEEN, 0)
    odd = b"".join(draw(st.one_of(st.just([]), st.lists(FIELDS, max_size=2))))
    status = draw(
        st.sampled_from((b"200", b"200", b"200", b"404", b"204", b"205", b"999", b"600", b"20", b"0200"))
    )
    frames += _section(draw, _status(status) + SEEN + odd, 0)
    for content in draw(st.lists(st.sampled_from((b"hello", b" world", b"")), min_size=1, max_size=3)):
        padding = draw(st.sampled_from((None, None, 0, 7)))
        padded = (DATA, PADDED, OWN, bytes([padding or 0]) + content + bytes(padding or 0))
        frames.append((DATA, 0, OWN, content) if padding is None else padded)
        frames += draw(st.lists(AMID, max_size=1))
    ending = draw(st.sampled_from(("data", "empty", "trailers", "priority")))
    if ending == "trailers":
        frames += _section(draw, _literal(b"x-trailer", b"1"), END_STREAM)
    else:
        frames.append((DATA, END_STREAM, OWN, b"" if ending == "empty" else b"the end"))
    return Message(frames=tuple(frames), after=tuple(draw(st.lists(FATAL, max_size=1))))


def _may_lead(frame: Frame) -> bool:
    """Whether the frame may come before the header: no DATA of the response itself."""
    return frame[0] != DATA or frame[2] != OWN
