"""Cases of HTTP/1.1 and HTTP/2 messages that break the rules, and that Chromium takes."""

from localweb.serving.handler import Handler, Reply, ServedRequest
from tests.zoo.case import Case, Page
from tests.zoo.replies import CORS, NO_STORE, fields

HTTP1_ALONE = dict.fromkeys(("h2", "h3"), "the syntax is HTTP/1.1's alone")
CLEAR = {"h1tls": "over TLS the browser refuses it"}
HTTP2_ALONE = dict.fromkeys(("h1", "h1tls", "h3"), "the frames are HTTP/2's alone")

HELLO = b"hello world"
LENGTH = b"Content-Length: 11\r\n\r\n"
CHUNKS = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\n"
LATE = b"these bytes come late"

DATA, HEADERS, RST_STREAM, GOAWAY, CONTINUATION, UNKNOWN = 0x0, 0x1, 0x3, 0x7, 0x9, 0xEE
END_STREAM, END_HEADERS, PADDED = 0x1, 0x4, 0x8
STATUS_404 = b"\x8d"
"""`:status: 404` in HPACK (RFC 7541 Appendix A)."""


def message(
    header: bytes,
    content: bytes = b"",
    body: int = 0,
    after: bytes = b"",
    *,
    status: int = 200,
    close: bool = False,
    whole: bool = True,
) -> Handler:
    """The bytes of a response, with `body` bytes of body, and bytes that follow it;
    `close` ends the connection."""

    async def handle(request: ServedRequest, reply: Reply) -> None:
        reply.entry.status = status
        await reply.write(header + content + after, body_bytes=body, after_bytes=len(after), end=True)
        if close:
            await reply.close()
        reply.entry.is_complete = whole

    return handle


def fetch_case(
    case_id: str, handler: Handler, options: str = "{}", apart: dict[str, str] = HTTP1_ALONE
) -> Case:
    return Case(
        id=case_id, routes={"HERE/x": handler}, script=f"await get('HERE/x', {options});", apart=apart
    )


def begin_oddly(case_id: str, begin: bytes) -> Case:
    return fetch_case(case_id, message(begin + LENGTH, HELLO, 11))


STATUS_LINES = (
    begin_oddly("crlf-before-status-line", b"\r\n" + OK),
    begin_oddly("two-crlf-before-status-line", b"\r\n\r\n" + OK),
    begin_oddly("two-lf-before-status-line", b"\n\n" + OK),
    begin_oddly("lower-case-version", b"http/1.1 200 OK\r\n"),
    begin_oddly("no-status-number", b"HTTP/1.1\r\n"),
    fetch_case(
        "zeros-before-status", message(b"HTTP/1.1 000404 Not Found\r\n" + LENGTH, HELLO, 11, status=404)
    ),
    begin_oddly("bare-cr", OK + b"X-Odd: 1\rX-Odd: 2\r"),
    begin_oddly(
        "interim-101", b"HTTP/1.1 101 Switching Protocols\r\nTransfer-Encoding: chunked\r\n\r\n" + OK
    ),
    fetch_case("no-status-line", message(b"", HELLO, 11, close=True)),
    fetch_case("short-no-status-line", message(b"", b"hello", 5, close=True), apart=HTTP1_ALONE | CLEAR),
    fetch_case(
        "cut-header",
        message(OK + b"Content-Length: 11\r\n", close=True, whole=False),
        apart=HTTP1_ALONE | CLEAR,
    ),
)

CHUNK_DETECTION = (
    fetch_case("folded-chunked", message(OK + b"Transfer-Encoding:\r\n chunked\r\n\r\n", CHUNKS, 11)),
    fetch_case("chunked-in-list", message(OK + b"Transfer-Encoding: gzip,\tCHUNKED \r\n\r\n", CHUNKS, 11)),
    fetch_case("x-chunked", message(OK + b"Transfer-Encoding: x-chunked\r\n" + LENGTH, HELLO, 11)),
    fetch_case(
        "chunked-by-http-1.0", message(b"HTTP/1.0 200 OK\r\n" + CHUNKED, CHUNKS, len(CHUNKS), close=True)
    ),
    fetch_case(
        "chunked-in-apostrophes", message(OK + b"Transfer-Encoding: 'a, chunked, b'\r\n\r\n", CHUNKS, 11)
    ),
    # The bytes are as many as the Content-Length says. Chromium ignores that header here,
    # but then takes the body for whole.
    fetch_case(
        "cut-chunks-of-length",
        message(OK + b"Content-Length: 5\r\n" + CHUNKED, b"5\r\nhello\r\n", 5, close=True, whole=False),
    ),
    fetch_case("chunked-and-length", message(OK + b"Content-Length: 3\r\n" + CHUNKED, CHUNKS, 11)),
)

AFTERWARDS = (
    fetch_case("after-length", message(OK + LENGTH, HELLO, 11, LATE)),
    fetch_case("after-last-chunk", message(OK + CHUNKED, CHUNKS, 11, LATE)),
    fetch_case("after-204", message(b"HTTP/1.1 204 No Content\r\n\r\n", after=LATE, status=204)),
    fetch_case("after-205", message(b"HTTP/1.1 205 Reset Content\r\n" + LENGTH, after=HELLO, status=205)),
    fetch_case("after-head", message(OK + LENGTH, after=HELLO), "{method: 'HEAD'}"),
)


def frame(kind: int, flags: int, stream_id: int | None, payload: bytes, *, of: int | None) -> bytes:
    """An HTTP/2 frame (RFC 9113 §4.1), on the stream `of` unless it names one."""
    number = stream_id if stream_id is not None else of or 0
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + number.to_bytes(4, "big") + payload


def send_frames(*frames: tuple[int, int, int | None, bytes]) -> Handler:
    """A response amid frames of type, flags, stream (None for the response's own) and payload."""

    async def handle(request: ServedRequest, reply: Reply) -> None:
        await reply.head(200, fields(NO_STORE, CORS))
        ends = next(at for at, (kind, flags, *_) in enumerate(frames) if (kind, flags) in LAST) + 1
        for part in (frames[:ends], frames[ends:]):
            # At once, since nothing may come between a HEADERS frame and its CONTINUATION.
            await reply.write_frames(
                b"".join(frame(*arguments, of=reply.entry.stream_id) for arguments in part), end=True
            )

    return handle


LAST = ((DATA, END_STREAM), (HEADERS, END_STREAM | END_HEADERS), (CONTINUATION, END_HEADERS))
"""Types and flags of the frames that end a response here."""

HALF, WHOLE = (DATA, 0, None, HELLO), (DATA, END_STREAM, None, HELLO)
IDLE, PUSHED = 999, 2
"""Streams on which no request was sent; the second is one that a server opens (RFC 9113 §5.1.1)."""
GOAWAY_OF_FIRST = (1).to_bytes(4, "big") + bytes(4)


def send_on_stream(case_id: str, *frames: tuple[int, int, int | None, bytes], host: str = "") -> Case:
    """Return a case of a response amid frames, on a connection of its own if it names a host."""
    place = f"//{host}/{case_id}" if host else "HERE"
    return Case(
        id=case_id,
        routes={f"{place}/x": send_frames(*frames)},
        script=f"await get('{place}/x');",
        apart=HTTP2_ALONE,
    )


STREAMS = (
    # The browser ends the connection with an error; the response has come before.
    send_on_stream("data-on-stream-0", WHOLE, (DATA, 0, 0, LATE), host="stream0.test"),
    send_on_stream("data-on-idle-stream", HALF, (DATA, 0, IDLE, LATE), (DATA, 0, PUSHED, LATE), WHOLE),
    send_on_stream("header-on-idle-stream", HALF, (HEADERS, END_HEADERS, IDLE, STATUS_404), WHOLE),
    send_on_stream("data-after-end", WHOLE, (DATA, 0, None, LATE), (DATA, END_STREAM, None, LATE)),
    send_on_stream("header-after-end", WHOLE, (HEADERS, END_HEADERS, None, STATUS_404)),
    send_on_stream("unknown-frames", (UNKNOWN, 0, None, LATE), HALF, (UNKNOWN, 0xFF, 0, LATE), WHOLE),
    send_on_stream(
        "padded-data", (DATA, PADDED, None, b"\x05hello12345"), (DATA, PADDED, None, b"\x0512345"), WHOLE
    ),
    send_on_stream("empty-data", (DATA, 0, None, b""), HALF, (DATA, 0, None, b""), WHOLE),
    send_on_stream(
        "split-trailers",
        HALF,
        (HEADERS, END_STREAM, None, b"\0\1x"),
        (CONTINUATION, END_HEADERS, None, b"\1y"),
    ),
    send_on_stream("reset-after-end", WHOLE, (RST_STREAM, 0, None, bytes(4))),
    send_on_stream("goaway-amid", HALF, (GOAWAY, 0, 0, GOAWAY_OF_FIRST), WHOLE, host="goaway.test"),
)

ODD = Page(host="odd.test", cases=(*STATUS_LINES, *CHUNK_DETECTION, *AFTERWARDS, *STREAMS))

PAGES = (ODD,)
