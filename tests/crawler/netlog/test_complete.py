"""A stream that ends short of its Content-Length is incomplete,
where the Content-Length is that of its body."""

import re
from typing import Any

import pytest

from crawler.netlog.assembler import assemble
from crawler.netlog.event import Event
from crawler.netlog.exchange import Exchange
from crawler.netlog.http1 import MessageReader
from crawler.netlog.http2 import FrameReader, Http2Stream
from crawler.netlog.tcp import TcpTransport
from tests.crawler.netlog.logs import recorded

HEADERS = {"h2-bodies": "HTTP2_SESSION_RECV_HEADERS", "h3": "HTTP3_HEADERS_DECODED"}
"""Events that hold the header sections of responses, by log."""

LENGTH = re.compile(r"(?i)content-length: ?(\d+)")


def longer(event: Event[Any], more: int) -> Event[Any]:
    """Make a header section state a Content-Length that is larger by `more`."""
    stated = [
        LENGTH.sub(lambda match: f"content-length: {int(match[1]) + more}", line)
        for line in event.params["headers"]
    ]
    return event._replace(params={**event.params, "headers": stated})


def exchanges(name: str, more: int) -> list[Exchange]:
    log = recorded(name)
    return assemble(longer(event, more) if event.name == HEADERS[name] else event for event in log).exchanges


@pytest.mark.parametrize("name", HEADERS)
def test_a_stream_is_complete_with_as_much_body_as_was_stated_and_with_a_byte_less_it_is_not(
    name: str,
) -> None:
    as_it_was, short = exchanges(name, 0), exchanges(name, 1)
    assert [exchange.is_complete for exchange in as_it_was] == [exchange.has_ended for exchange in as_it_was]
    assert [exchange.has_ended for exchange in short] == [exchange.has_ended for exchange in as_it_was]
    incomplete = [exchange for exchange in short if exchange.has_ended and not exchange.is_complete]
    assert len(incomplete) > 5
    assert "HEAD" not in {exchange.method for exchange in incomplete}


@pytest.mark.parametrize(
    ("method", "status", "content_length", "body_bytes", "is_complete"),
    [
        ("GET", 200, None, 10, True),
        ("GET", 200, 10, 10, True),
        ("GET", 200, 11, 10, False),
        ("GET", 200, 9, 10, True),
        ("GET", 404, 11, 10, False),
        ("GET", 200, 11, 0, False),
        ("HEAD", 200, 11, 0, True),
        ("GET", 204, 11, 0, True),
        ("GET", 304, 11, 0, True),
        ("CONNECT", 200, 11, 0, True),
        ("CONNECT", 403, 11, 10, False),
    ],
)
def test_only_the_length_of_a_body_makes_its_response_incomplete(
    method: str, status: int, content_length: int | None, body_bytes: int, is_complete: bool
) -> None:
    stream = Http2Stream(50 + body_bytes, body_bytes, is_whole=True, content_length=content_length)
    transport = TcpTransport(0, "h2", frames=FrameReader())
    transport.frames.streams[1] = stream  # type: ignore[union-attr]
    exchange = Exchange(
        "https://a.test/", method, "other", 0, transport=transport, stream_id=1, status=status
    )
    assert (exchange.has_ended, exchange.is_complete) == (True, is_complete)
    stream.is_whole = False
    assert not exchange.is_complete


def test_over_http1_the_body_ends_by_the_length_itself() -> None:
    exchange = Exchange("http://a.test/", "GET", "other", 0, message=MessageReader(), status=200)
    assert exchange.message is not None
    exchange.message.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
    exchange.message.end(clean=True)
    assert not exchange.is_complete
    exchange.message.feed(b"b")
    assert exchange.is_complete
