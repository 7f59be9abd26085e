"""Header and body of HTTP/1.x responses are told apart, however the bytes are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.netlog.http1 import MessageReader

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"

MESSAGES = [
    (OK + b"hello", 5),
    (OK, 0),
    (b"HTTP/1.1 200 OK\n\nhello", 5),
    (b"HTTP/1.1 204 No Content\r\n\r\n", 0),
    (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 0),
    (HINTS + OK + b"hello", 5),
    (b"HTTP/1.1 100 Continue\r\n\r\n" + HINTS + OK + b"hello", 5),
    (CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", 5),
    (CHUNKED + b"5;x=1\r\nhello\r\nA\r\n0123456789\r\n000\r\nX-Trailer: 1\r\n\r\n", 15),
    (CHUNKED + b"5\r\nhel", 3),
    (CHUNKED + b"no size\r\nhello", 0),
    (CHUNKED + b"5\r\nhello, world\r\n", 5),
    (CHUNKED + b"F" * 17 + b"\r\nhello", 0),
    (b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + OK + b"hello", 5),
    (b"just text\r\n\r\nwithout a header", 29),
    (b"HTTP/1.1 200 OK\r\nContent-Len", 0),
    (b"\r\n\r\n" + OK + b"hello", 5),
    (b"\r\n\r\n\n" + OK + b"hello", 5 + len(OK) + 5),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\tchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 5),
    (b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello", 8),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: x-chunked\r\n\r\n5\r\nhello", 8),
    (b'HTTP/1.1 200 OK\r\nTransfer-Encoding: "a, chunked"\r\n\r\n5\r\nhello', 8),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello", 5),
]


def count(message: bytes, *cuts: int, head: bool = False) -> tuple[int, int]:
    reader = MessageReader(head=head)
    at = 0
    for cut in [*sorted(cuts), len(message)]:
        piece = message[at:cut]
        if reader.needs_bytes:
            reader.feed(piece)
        else:
            reader.count(len(piece))
        at = max(at, cut)
    return reader.wire_bytes, reader.body_bytes


@pytest.mark.parametrize(("message", "body"), MESSAGES)
def test_header_framing_and_body_are_told_apart(message: bytes, body: int) -> None:
    assert count(message) == (len(message), body)


@given(st.sampled_from(MESSAGES), st.lists(st.integers(0, 120), max_size=8))
def test_it_does_not_matter_how_the_bytes_are_cut(message: tuple[bytes, int], cuts: list[int]) -> None:
    cuts = [min(cut, len(message[0])) for cut in cuts]
    assert count(message[0], *cuts) == (len(message[0]), message[1])


def test_a_response_to_head_has_no_body() -> None:
    assert count(OK, head=True) == (len(OK), 0)


@pytest.mark.parametrize(
    "message",
    [
        OK + b"hello",
        CHUNKED + b"5\r\nhello\r\n0\r\n\r\n",
        CHUNKED + b"5\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 205 Reset Content\r\nContent-Length: 5\r\n\r\n",
    ],
)
@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_what_follows_a_response_is_no_part_of_it(message: bytes, piece: int) -> None:
    reader = MessageReader()
    wire = message + b"HTTP/1.1 200 OK\r\n\r\n"
    for at in range(0, len(wire), piece):
        part = wire[at : at + piece]
        reader.feed(part) if reader.needs_bytes else reader.count(len(part))
    assert (reader.wire_bytes, reader.surplus_bytes, reader.is_whole) == (len(message), 19, True)


def test_a_websocket_begins_after_101() -> None:
    reader = MessageReader(websocket=True)
    reader.feed(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x05hello")
    assert (reader.status, reader.body_bytes) == (101, 7)


@pytest.mark.parametrize(("wire", "body"), [(b"HTT", 3), (b"short", 5), (b"HTTP/1", 0)])
def test_a_few_bytes_before_the_end_of_the_connection_are_a_body_without_a_header(
    wire: bytes, body: int
) -> None:
    reader = MessageReader()
    reader.feed(wire)
    reader.end(clean=True)
    assert (reader.wire_bytes, reader.body_bytes) == (len(wire), body)


def test_a_header_without_end_does_not_fill_the_memory() -> None:
    reader = MessageReader()
    for _ in range(40):
        reader.feed(b"x" * 65_536)
    assert not reader.needs_bytes
    assert reader.wire_bytes == 40 * 65_536


@pytest.mark.parametrize(
    ("wire", "whole"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", False),
        (b"HTTP/1.1 204 No Content\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\n\r\nto the end", False),
        (b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Le", False),
    ],
)
def test_a_response_is_whole_when_all_of_it_came(wire: bytes, whole: bool) -> None:
    reader = MessageReader()
    for n in range(len(wire)):
        reader.feed(wire[n : n + 1])
    assert reader.is_whole is whole


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize(
    ("wire", "by_close"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\nto the end", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", False),
    ],
)
def test_a_clean_close_ends_a_response_without_a_length_alone(
    wire: bytes, by_close: bool, clean: bool
) -> None:
    reader = MessageReader()
    reader.feed(wire)
    reader.end(clean=clean)
    assert reader.is_whole is (by_close and clean)


def test_the_status_is_that_of_the_final_response() -> None:
    reader = MessageReader()
    reader.feed(b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n")
    assert reader.status == 404


PIECES = st.sampled_from(
    [
        *b"HTTP/1.1 200 OK\r\n"
        b"|http|\r\n"
        b"|\n"
        b'|\r| |"|\\|,|Content-Length: 5|0|F|;|\x00|\xff|HTTP/1.1 103 a\n'
        b"\n".split(b"|"),
        b"Transfer-Encoding: chunked\r\n\r\n",
        b"5\r\nhello\r\n",
        b"9" * 5000,
    ]
)


@given(st.lists(PIECES, max_size=12), st.booleans())
def test_every_byte_of_any_message_counts_once(pieces: list[bytes], head: bool) -> None:
    reader = MessageReader(head=head)
    for piece in pieces:
        reader.feed(piece) if reader.needs_bytes else reader.count(len(piece))
    reader.end(clean=True)
    assert reader.wire_bytes + reader.surplus_bytes == sum(map(len, pieces))
    assert 0 <= reader.body_bytes <= reader.wire_bytes
