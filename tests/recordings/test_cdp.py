"""Small made-up logs of Network events, wrapped as real recorders wrap them."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from recordings import cdp
from recordings.exchange import RecordedExchange, Times
from recordings.page import find_page_load, kind_of


def asked(key: str, url: str, **other: Any) -> dict[str, Any]:
    params = {
        "requestId": key,
        "frameId": "top",
        "type": "Image",
        "timestamp": 1.0,
        "wallTime": 1_500_000_000.0,
        "initiator": {"type": "parser", "url": "https://a.example/"},
        "request": {"url": url, "method": "GET", "headers": {}},
    }
    return {"method": "Network.requestWillBeSent", "params": {**params, **other}}


def answered(key: str, headers: dict[str, str] | None = None, **other: Any) -> dict[str, Any]:
    response = {
        "status": 200,
        "mimeType": "image/png",
        "protocol": "h2",
        "headers": headers or {},
        "encodedDataLength": 90,
    }
    kind = other.pop("type", "Image")
    params = {"requestId": key, "type": kind, "response": {**response, **other}}
    return {"method": "Network.responseReceived", "params": params}


def came(key: str, decoded: int, encoded: int = 0) -> dict[str, Any]:
    params = {"requestId": key, "dataLength": decoded, "encodedDataLength": encoded}
    return {"method": "Network.dataReceived", "params": params}


def ended(key: str, total: int) -> dict[str, Any]:
    return {"method": "Network.loadingFinished", "params": {"requestId": key, "encodedDataLength": total}}


def read(*events: dict[str, Any]) -> list[RecordedExchange]:
    return cdp.read(events, now=NOW).exchanges


def only(*events: dict[str, Any]) -> RecordedExchange:
    (exchange,) = read(*events)
    return exchange


def of(exchange: RecordedExchange) -> tuple[Any, ...]:
    sizes = exchange.sizes
    return sizes.wire_bytes, sizes.size_basis, sizes.header_bytes, sizes.body_bytes


NOW = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)

URL = "https://a.example/x.png"

FAILED = {"method": "Network.loadingFailed", "params": {"requestId": "1"}}


@pytest.mark.parametrize(
    "wrap",
    [
        lambda event: event,
        lambda event: {"message": event},
        lambda event: {"message": {"message": event, "webview": "x"}, "level": "INFO"},
        lambda event: {"message": json.dumps({"message": event})},
    ],
)
def test_events_are_found_however_they_are_wrapped(wrap: Any) -> None:
    recording = cdp.read(
        [wrap(asked("1", URL)), wrap(answered("1")), wrap({"method": "Page.loadEventFired"})], now=NOW
    )

    assert [exchange.status for exchange in recording.exchanges] == [200]
    assert recording.epoch_s == 1_500_000_000.0 - 1.0


def test_the_size_of_a_request_body_is_known_if_the_log_holds_it() -> None:
    posted = {"url": "https://a.example/", "method": "POST", "headers": {}, "hasPostData": True}
    for request, known in ((posted, None), ({**posted, "postData": "\xe9"}, 2)):
        assert only(asked("1", "", request=request)).request_body_bytes == known


def redirect(**other: Any) -> dict[str, Any]:
    return {"status": 302, "mimeType": "text/html", "protocol": "h2", "headers": {}, **other}


@pytest.mark.parametrize(
    ("response", "sizes"),
    [
        ({"encodedDataLength": 296, "headers": {"content-length": "178"}}, (474, "derived", 296, 178)),
        ({"encodedDataLength": 296, "headers": {"content-length": "0"}}, (296, "counted", 296, 0)),
        ({"encodedDataLength": 296}, (296, "counted", None, None)),
        ({"encodedDataLength": 0, "headers": {"content-length": "178"}}, (None, None, None, 178)),
        ({}, (None, None, None, None)),
    ],
)
def test_a_redirect_has_the_size_of_its_header_with_the_body_that_it_states(
    response: dict[str, Any], sizes: tuple[Any, ...]
) -> None:
    first, second = read(
        asked("1", "https://a.example/old"),
        asked("1", "https://a.example/new", redirectResponse=redirect(**response)),
        answered("1", {"content-length": "5"}),
        ended("1", 95),
    )

    assert (first.status, first.location) == (302, "https://a.example/new")
    assert of(first) == sizes
    assert second.redirected_from is first
    assert (second.status, second.sizes.body_bytes) == (200, 5)


@pytest.mark.parametrize(
    ("events", "sizes", "is_complete"),
    [
        # A page sees 200 where the server confirmed what it had by 304.
        ([answered("1", {"content-length": "14139"}), came("1", 14_139), ended("1", 103)], (103, "counted", 103, 0), True),  # noqa: E501
        # Aborted on the way: what had come.
        ([answered("1", {"content-length": "5000000"}), came("1", 60_000, 60_000), FAILED], (60_090, "counted", 90, 60_000), False),  # noqa: E501
        ([answered("1", {"content-length": "5000000"}), came("1", 60_000, 60_000)], (60_090, "counted", 90, 60_000), False),  # noqa: E501
        ([answered("1", status=204), FAILED], (90, "counted", 90, 0), False),
        # The page saw more than was counted.
        ([answered("1"), came("1", 147_456, 49_188), FAILED], (None, None, None, None), None),
        # The log did not count what came on the way.
        ([answered("1"), came("1", 60_000), FAILED], (None, None, None, None), None),
        # The header's size may hold some of the body.
        ([answered("1", encodedDataLength=1_000), came("1", 650), ended("1", 1_000)], (1_000, "counted", 350, 650), True),  # noqa: E501
        ([answered("1", {"content-encoding": "br"}), came("1", 9_000), ended("1", 1_000)], (1_000, "counted", None, None), True),  # noqa: E501
    ],
)  # fmt: skip
def test_a_total_rules_and_only_the_split_may_be_unknown(
    events: list[dict[str, Any]], sizes: tuple[Any, ...], is_complete: bool | None
) -> None:
    exchange = only(asked("1", URL), *events)

    assert of(exchange) == sizes
    assert exchange.sizes.is_complete == is_complete


def sent(key: str, destination: str) -> dict[str, Any]:
    params = {"requestId": key, "headers": {"sec-fetch-dest": destination}}
    return {"method": "Network.requestWillBeSentExtraInfo", "params": params}


def came_as(key: str, status: int) -> dict[str, Any]:
    params = {"requestId": key, "statusCode": status}
    return {"method": "Network.responseReceivedExtraInfo", "params": params}


LONG = {"content-length": "2005"}
GZIP = {"content-encoding": "gzip"}
KEPT = {"etag": "1"}


@pytest.mark.parametrize(
    ("status", "headers", "decoded", "encoded", "sizes"),
    [
        (200, LONG, 2005, 0, (2095, "derived", 90, 2005)),
        (200, LONG | KEPT, 2005, 0, (2095, "derived", 90, 2005)),
        (200, LONG | GZIP, 9000, 0, (2095, "derived", 90, 2005)),
        (None, LONG, 2005, 0, (2095, "derived", 90, 2005)),
        (304, LONG | KEPT, 2005, 0, (90, "counted", 90, 0)),
        # No size of the body is known, or whether it was sent at all.
        (200, GZIP, 9000, 0, (None, None, None, None)),
        (200, {}, 2005, 0, (None, None, None, None)),
        (None, LONG | KEPT, 2005, 0, (None, None, None, None)),
        # Browsers that count all of it.
        (200, LONG, 2005, 2014, (2104, "counted", 99, 2005)),
        (200, GZIP, 9000, 700, (790, "counted", None, None)),
    ],
)
def test_of_a_workers_script_the_header_alone_is_counted(
    status: int | None, headers: dict[str, str], decoded: int, encoded: int, sizes: tuple[Any, ...]
) -> None:
    exchange = only(
        asked("W", "https://a.example/w.js", type="Script"),
        *([] if status is None else [came_as("W", status)]),
        answered("W", headers, type="Script"),
        came("W", decoded, encoded),
        ended("W", 90 + encoded),
    )
    assert of(exchange) == sizes


def test_a_workers_script_that_broke_off_has_no_size() -> None:
    failed = {"method": "Network.loadingFailed", "params": {"requestId": "W"}}
    exchange = only(asked("W", URL, type="Script"), answered("W", LONG, type="Script", status=404), failed)
    assert exchange.sizes.wire_bytes is None


def test_a_total_below_content_length_is_no_304_if_the_server_sent_another_status() -> None:
    events = [asked("1", URL), came_as("1", 200), answered("1", LONG | KEPT), came("1", 2005), ended("1", 90)]
    assert of(only(*events)) == (None, None, None, None)


def test_a_type_is_what_the_request_said_whenever_the_log_tells() -> None:
    exchanges = read(
        sent("1.1", "worker"),
        asked("1.1", URL, type="Script"),
        asked("1.2", URL, type="Prefetch"),
        sent("1.2", "document"),
        asked("W", URL, type="Script", loaderId=""),
        asked("1.3", URL, type="Script", loaderId=""),
    )
    kinds = ["worker", "document", "worker", "script"]
    assert [kind_of(exchange) for exchange in exchanges] == kinds


@pytest.mark.parametrize("timestamp", [-1.0, 1e12, None])
def test_a_document_without_a_true_time_loses_its_times_alone(timestamp: float | None) -> None:
    timing = {"requestTime": 7.0, "sendEnd": 1.0, "receiveHeadersEnd": 2.0}
    events = [
        asked("1", "https://a.example/", type="Document", timestamp=timestamp),
        answered("1", timing=timing, mimeType="text/html"),
        asked("2", URL, timestamp=7.0),
        answered("2", timing=[7.0]),
    ]
    recording = cdp.read(events, now=NOW)
    load = find_page_load(recording)
    assert [(each.started_s, each.times) for each in load.exchanges] == [(7.0, Times())] * 2
    assert load.document is load.exchanges[0]
    assert load.left_out == ({} if timestamp is None else {"malformed timestamp": 1})


def test_a_preflight_has_its_own_figure() -> None:
    request = {"url": URL, "method": "OPTIONS", "headers": {}}
    assert of(
        only(asked("1", URL, request=request), answered("1", {"content-length": "0"}), ended("1", 0))
    ) == (90, "counted", 90, 0)


def test_a_total_of_zero_is_a_caches() -> None:
    exchange = only(
        asked("1", URL), answered("1", {"content-length": "15920"}), came("1", 15_920), ended("1", 0)
    )

    assert (exchange.is_cached, of(exchange)) == (True, (None, None, None, None))


def test_what_a_cache_or_a_service_worker_answered_is_marked() -> None:
    for mark in ("fromDiskCache", "fromServiceWorker", "fromPrefetchCache"):
        marked: dict[str, Any] = {mark: True}
        assert only(asked("1", URL), answered("1", **marked)).is_cached
    memory = {"method": "Network.requestServedFromCache", "params": {"requestId": "1"}}
    assert only(asked("1", URL), memory, answered("1")).is_cached
    # Pushed over HTTP/2: it had come before the page asked.
    assert not only(asked("1", URL), answered("1", fromDiskCache=True), ended("1", 500)).is_cached


def test_odd_events_are_left_out_and_counted() -> None:
    recording = cdp.read(
        [asked("1", URL), 7, None, "{", {"method": "Network.dataReceived", "params": {"requestId": 1}},
         asked("2", "http://[object Object]/"), answered("1", status=10**9)],
        now=NOW,
    )  # fmt: skip
    assert len(recording.exchanges) == 1
    assert recording.odd == (
        (4, "malformed Network.dataReceived"),
        (5, "malformed request.url"),
        (6, "malformed response.status"),
    )


def test_a_request_counts_without_an_initiator_that_can_be_read() -> None:
    stack: dict[str, Any] = {"callFrames": []}
    for _ in range(100_000):
        stack = {"callFrames": [], "parent": stack}
    for odd in ("script", 7, {"type": "script", "stack": {"callFrames": None}}, {"stack": stack}):
        assert only(asked("1", URL, initiator=odd), answered("1"), ended("1", 500)).initiator is None


def test_a_load_begins_with_a_document_without_initiator() -> None:
    other = {"type": "other"}
    script = {"type": "script", "url": "https://a.example/s.js"}
    exchanges = read(
        *[
            asked("1", "https://a.example/", type="Document", initiator=other),
            asked("2", "https://a.example/frame", type="Document", frameId="inner", initiator=script),
            asked("3", "https://a.example/posted", type="Document", frameId="inner", initiator=other),
            asked("4", "https://a.example/left", type="Document", initiator=script),
            asked("5", "https://a.example/", type="Document", frameId="new", initiator=other),
        ]
    )

    assert [exchange.begins_load for exchange in exchanges] == [True, False, False, False, True]
