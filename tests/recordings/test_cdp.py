"""Small made-up logs of Network events, wrapped as real recorders wrap them."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from recordings import cdp
from recordings.exchange import RecordedExchange


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
    params = {"requestId": key, "type": "Image", "response": {**response, **other}}
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
