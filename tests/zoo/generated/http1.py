"""Generates HTTP/1.1 responses that break rules of RFC 9112, in the ways in which servers break them."""

import asyncio
import contextlib
import dataclasses
import itertools
from typing import Any

from hypothesis import strategies as st

from localweb.serving.handler import Reply


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """The bytes of a response, in parts."""

    method: str
    header: bytes
    """Interim responses, anything before the status line, status line and fields, with the empty line."""
    content: bytes
    """Body as it is sent, perhaps in chunks."""
    chunk_data_bytes: int
    """Bytes of body if the content is read as chunks; 0 if it has none."""
    after: bytes
    cuts: tuple[int, ...] = ()
    """Offsets at which it is sent in parts."""

    @property
    def wire(self) -> bytes:
        return self.header + self.content + self.after

    async def send(self, reply: Reply) -> None:
        """Send it, and end the connection; what of it is body is the browser's to say."""
        with contextlib.suppress(OSError):  # the browser may have gone
            for start, stop in itertools.pairwise((0, *sorted(self.cuts), len(self.wire))):
                await reply.write(self.wire[start:stop], end=True)
                await asyncio.sleep(0.002 * bool(self.cuts))
            await reply.close()

    def sizes(self, saw: dict[str, Any]) -> tuple[int, int, int]:
        """Bytes of header and framing, of body and of what follows, given what the browser saw of it."""
        body = saw["body_bytes"]
        if not saw["has_header"]:
            return len(self.wire) - body, body, 0
        if body and body == self.chunk_data_bytes:
            return len(self.header) + len(self.content) - body, body, len(self.after)
        return len(self.header), body, len(self.wire) - len(self.header) - body


def _of(*choices: bytes, plain: bytes) -> st.SearchStrategy[bytes]:
    """The plain choice most of the time."""
    return st.one_of(st.just(plain), st.just(plain), st.sampled_from((plain, *choices)))


PLAIN = (b"hello world\n", 0)
"""Body without chunks. As a chunk it is invalid, not cut off,
which Chromium takes if a Content-Length agrees."""
SLOP = _of(
    b"\r\n",
    b"\r\n\r\n",
    b"\n\n",
    b"\n",
    b" ",
    b"abcd",
    b"\xff\xfe",
    b"HTT",
    b"\r\n\r\n\n",
    b"abcdefgh",
    plain=b"",
)
INTERIM = _of(
    b"HTTP/1.1 100\r\n\r\n",
    b"\r\nhttp/1.0 103 Early\nLink: </x>\n\n",
    b"HTTP/1.1 199 Odd\r\nContent-Length: 3\r\n\r\n",
    b"HTTP/1.1 101 Switching\r\nTransfer-Encoding: chunked\r\n\r\n",
    plain=b"",
)
VERSION = _of(
    *(
        b"http/1.1",
        b"hTtP/1.0",
        b"HTTP/1.0",
        b"HTTP/1.2",
        b"HTTP/2.0",
        b"HTTP/0.9",
        b"HTTP/9.9",
        b"HTTP/01.1",
    ),
    *(b"HTTP/1.x", b"HTTP/1", b"HTTP", b"HTTPS/1.1", b"HTTP /1.1", b"HTTP/11.1", b"HTTP/ 1.1", b"http:/1.1"),
    plain=b"HTTP/1.1",
)
STATUS = _of(
    *(
        b" 204",
        b" 205",
        b" 404",
        b" 299",
        b" 500",
        b" 600",
        b" 999",
        b" 20",
        b" 0",
        b" 2000",
        b" 0404",
        b" 099",
    ),
    *(b"  200", b"\t200", b"", b" abc", b" 404x", b" +200", b" -1", b"   404", b" 99999999999"),
    plain=b" 200",
)
REASON = _of(b"", b" ", b" \xc3\xa9", b" .9 OK", b" a\tb", b" 404", plain=b" OK")
LENGTH_VALUE = st.sampled_from(
    [
        *b'12|12|11|5|0|0011|+11|-11|-0|11, 11|11,|,11||eleven|0xb|11 |1 1|11;|"11"'.split(b"|"),
        b"9223372036854775807",
        b"9223372036854775808",
        b"9" * 30,
    ]
)
CODING_VALUE = st.sampled_from(
    b"chunked|chunked|Chunked|CHUNKED |gzip, chunked|chunked, "
    b"gzip|x-chunked|identity|chunked;q=1||,chunked".split(b"|")
    + b"""chunked chunked|"chunked"|"a, chunked"|'a, chunked, b'|"a\\", chunked""".split(b"|")
    + b"\r\n chunked|\n\tchunked|gzip,\r\n  chunked|\r\n \r\n chunked|chun\r\n ked".split(b"|")
)
COLON = _of(b":", b" : ", b"\t:\t", b":\t", b" :", plain=b": ")
LINE_END = _of(b"\n", b"\r", b"\r\r\n", b"\n\r", plain=b"\r\n")
LAST_LINE_END = _of(b"\n", b"\r\r\n", plain=b"\r\n")
OTHER_LINE = st.sampled_from(
    b"X-Odd: 1|no colon|: no name| Folded: 1|\tchunked|X Odd: chunked|X-Odd: "
    b"\xff\xfe|a:|Connection: close".split(b"|")
    + b"X-Odd: Transfer-Encoding: chunked| Content-Length: 3|Content-Length 3".split(b"|")
)


_CUTS = st.lists(st.integers(1, 15), max_size=4)


@st.composite
def _line(draw: st.DrawFn) -> bytes:
    kind = draw(st.sampled_from(("length", "coding", "other")))
    if kind == "other":
        return draw(OTHER_LINE)
    name = draw(
        _of(b"content-length", b"CONTENT-LENGTH", plain=b"Content-Length")
        if kind == "length"
        else _of(b"transfer-encoding", b"TRANSFER-Encoding", plain=b"Transfer-Encoding")
    )
    return name + draw(COLON) + draw(LENGTH_VALUE if kind == "length" else CODING_VALUE)


@st.composite
def _chunks(draw: st.DrawFn) -> tuple[bytes, int]:
    wire, size = b"", 0
    ends = _of(b"\n", plain=b"\r\n")
    # The first chunk is longer than any Content-Length,
    # so that the browser's count says how it read the body.
    for data in (b"x" * 26, *draw(st.lists(st.sampled_from((b"hello", b"0\r\n\r\n", b"\n")), max_size=2))):
        digits = draw(st.sampled_from((b"%x", b"%X", b"000%x", b"%016x", b"%x  ")))
        extension = draw(_of(b";a", b";a=b", b" ;a", b";" + b"a" * 300, plain=b""))
        wire += digits % len(data) + extension + draw(ends) + data + draw(ends)
        size += len(data)
    wire += draw(_of(b"00000", b"0;a", b"0 ", b"g", b"", b"-0", plain=b"0")) + draw(ends)
    for trailer in draw(st.lists(st.sampled_from((b"X-Trailer: 1", b"no colon", b"5")), max_size=2)):
        wire += trailer + draw(ends)
    return wire + draw(ends), size


@st.composite
def messages(draw: st.DrawFn) -> Message:
    slop = draw(SLOP)
    header = draw(INTERIM) + slop + draw(VERSION) + draw(STATUS) + draw(REASON)
    for line in draw(st.lists(_line(), max_size=4)):
        header += draw(LINE_END) + line
    cuts = draw(_CUTS) if draw(st.booleans()) else []
    if cuts:  # or the rest of this message might be taken for the next on the connection
        header += draw(LINE_END) + b"Connection: close"
    header += draw(LINE_END) + b"X-Seen: 1"
    if draw(st.integers(0, 15)) == 0:
        return Message(method="GET", header=header, content=b"", chunk_data_bytes=0, after=b"")
    header += draw(LAST_LINE_END) + draw(_of(b"\n", plain=b"\r\n"))
    content, data_bytes = draw(st.one_of(st.just(PLAIN), _chunks()))
    after = draw(_of(b"late", b"\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", plain=b""))
    return Message(
        method="HEAD" if not slop and draw(st.integers(0, 7)) == 0 else "GET",
        header=header,
        content=content,
        chunk_data_bytes=data_bytes,
        after=after,
        cuts=tuple(len(header + content + after) * cut // 16 for cut in cuts),
    )
