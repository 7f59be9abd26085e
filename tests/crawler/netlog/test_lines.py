"""Lines become the wanted events, broken lines are counted, and no input raises."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.netlog.event import NO_SOURCE, Encoded, Event
from crawler.netlog.lines import LineReader, LineSplitter

CONSTANTS = (
    json.dumps(
        {
            "constants": {
                "logEventTypes": {"URL_REQUEST_START_JOB": 7, "SOCKET_BYTES_RECEIVED": 8, "BORING": 9},
                "logEventPhase": {"PHASE_NONE": 0, "PHASE_BEGIN": 1, "PHASE_END": 2},
                "netError": {"ERR_ABORTED": -3},
            }
        }
    )[:-1].encode()
    + b","
)


START = {"url": "https://a.test/", "method": "GET", "request_type": "main frame"}


def line(kind: int, params: dict[str, Any] | None = None, end: bytes = b",", *, phase: int = 1) -> bytes:
    fields: dict[str, object] = {"params": params} if params is not None else {}
    fields |= {"phase": phase, "source": {"id": 5, "start_time": "1", "type": 1}, "time": "12", "type": kind}
    return json.dumps(fields, separators=(",", ":")).encode() + end


def reader() -> LineReader:
    log_reader = LineReader(frozenset({"URL_REQUEST_START_JOB", "SOCKET_BYTES_RECEIVED"}))
    assert read(log_reader, CONSTANTS) is None
    return log_reader


def read(log_reader: LineReader, line: bytes) -> Event[Any] | None:
    return next(log_reader.events([line]), None)


def test_a_wanted_line_is_an_event() -> None:
    event = read(reader(), line(7, START))
    assert event == Event("URL_REQUEST_START_JOB", "BEGIN", 5, 12, START)


def test_the_last_line_of_the_log_is_an_event_too() -> None:
    assert read(reader(), line(7, START, end=b"],")) == Event("URL_REQUEST_START_JOB", "BEGIN", 5, 12, START)


def test_an_event_that_is_not_wanted_is_not_parsed() -> None:
    log_reader = reader()
    assert read(log_reader, b'{"params": broken,"type":9},') is None
    assert log_reader.ignored == 0


def test_bytes_are_kept_apart() -> None:
    event = read(reader(), line(8, {"byte_count": 3, "bytes": "YWJj"}, phase=0))
    assert event is not None
    assert (event.data, event.params, event.content()) == ("YWJj", {"byte_count": 3}, b"abc")


def test_a_broken_line_is_counted_and_ignored() -> None:
    log_reader = reader()
    for broken in (
        b'{"params":{"url":"x"},"phase"',
        b'{"params":{,"type":7},',
        line(7, START)[:-9] + b'"x","type":7},',
        line(7, START)[:-1] + line(8),
    ):
        assert read(log_reader, broken) is None
    assert log_reader.ignored == 4


@pytest.mark.parametrize(
    "params",
    [
        None,
        {"url": "https://a.test/"},
        {**START, "url": 1},
        {**START, "method": None},
        {**START, "url": [""]},
        {**START, "bytes": 1},
        {**START, "source_dependency": {"id": "5"}},
    ],
)
def test_an_event_that_lacks_a_required_parameter_is_counted_and_ignored(
    params: dict[str, Any] | None,
) -> None:
    log_reader = reader()
    assert read(log_reader, line(7, params)) is None
    assert read(log_reader, line(7, START).replace(b'"params":{', b'"params":[1],"x":{')) is None
    assert log_reader.ignored == 2


def test_an_event_without_required_parameters_may_have_any() -> None:
    for params in (None, {}, {"net_error": -3}):
        event = read(reader(), line(7, {**params, "other": 1} if params else params, phase=2))
        assert event is not None
        assert (event.params, event.dependency) == (params or {}, NO_SOURCE)
    assert read(reader(), line(7, {"net_error": "-3"}, phase=2)) is None


def test_a_string_cannot_pretend_to_be_bytes_or_a_type() -> None:
    hostile = '","bytes":"QUJD","x":"},"type":8},'
    event = read(reader(), line(7, {**START, "url": hostile}))
    assert event == Event("URL_REQUEST_START_JOB", "BEGIN", 5, 12, {**START, "url": hostile})


def test_events_before_the_constants_are_ignored() -> None:
    assert read(LineReader(frozenset({"BORING"})), line(9)) is None


def test_network_errors_have_their_names() -> None:
    assert (reader().error(-3), reader().error(-99_999)) == ("net::ERR_ABORTED", "net::ERR_99999")


@given(st.binary())
def test_no_bytes_stop_the_reader(junk: bytes) -> None:
    log_reader = reader()
    read(log_reader, junk)
    read(log_reader, b'{"params":' + junk + b',"type":7},')


@given(st.lists(st.binary(max_size=50)), st.integers(1, 20))
def test_lines_are_whole_however_they_arrive(lines: list[bytes], size: int) -> None:
    stream = b"".join(line.replace(b"\n", b"") + b"\n" for line in lines)
    splitter = LineSplitter()
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    assert [replies for piece in pieces for replies in splitter.feed(piece)] == stream.split(b"\n")[:-1]


def test_a_line_without_end_is_dropped_and_the_next_one_read() -> None:
    splitter = LineSplitter(limit=100)
    lines = [
        line for piece in (b"x" * 60, b"x" * 60, b"x" * 60, b"\nab", b"c\n") for line in splitter.feed(piece)
    ]
    assert (lines, splitter.dropped) == ([b"abc"], 1)


@given(st.binary(), st.integers(0, 40), st.integers(0, 40))
def test_encoded_bytes_have_the_slices_of_the_bytes(data: bytes, start: int, stop: int) -> None:
    encoded = Encoded(base64.b64encode(data).decode())
    assert (len(encoded), encoded[start:stop], encoded[start:]) == (len(data), data[start:stop], data[start:])


@given(st.text(max_size=20))
def test_invalid_base64_raises_nothing(junk: str) -> None:
    encoded = Encoded(junk)
    assert len(encoded[0 : len(encoded)]) <= max(0, len(encoded))
