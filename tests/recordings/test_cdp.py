"""Small made-up logs of Network events, wrapped as real recorders wrap them."""

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


def only(*events: dict[str, Any]) -> RecordedExchange:
    (found,) = cdp.read(events).exchanges
    return found


URL = "https://a.example/x.png"


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
    fold = cdp.read([wrap(asked("1", URL)), wrap(answered("1")), wrap({"method": "Page.loadEventFired"})])

    assert [one.status for one in fold.exchanges] == [200]
    assert fold.date == "2017-07-14"


@pytest.mark.parametrize(
    ("headers", "header_bytes", "body"),
    [
        ({"Content-Length": "700"}, 1000, 700),  # the header size holds the whole body
        ({}, 1000, 650),  # not compressed: what came is what was decoded
        ({"content-encoding": "br"}, 90, 910),
        ({"content-encoding": "br"}, 1300, 2000 - 1000),  # larger than a header can be: the total stands
    ],
)
def test_the_size_of_the_body_is_taken_from_the_best_evidence(
    headers: dict[str, str], header_bytes: int, body: int
) -> None:
    events = [
        answered("1", headers, encodedDataLength=header_bytes),
        came("1", 600),
        came("1", 50),
        ended("1", 1000),
    ]

    assert only(asked("1", URL), *events).body_bytes == body


def test_the_size_of_a_request_body_is_known_if_the_log_holds_it() -> None:
    posted = {"url": "https://a.example/", "method": "POST", "headers": {}, "hasPostData": True}
    for request, known in ((posted, None), ({**posted, "postData": "\xe9"}, 2)):
        assert only(asked("1", "", request=request)).request_body_bytes == known


def test_a_redirect_is_split_into_two() -> None:
    redirect = {
        "status": 302,
        "mimeType": "text/html",
        "protocol": "http/1.1",
        "headers": {"content-length": "12"},
    }
    first, second = cdp.read(
        [
            asked("1", "https://a.example/old"),
            asked("1", "https://a.example/new", redirectResponse=redirect),
            answered("1", {"content-length": "5"}),
            ended("1", 95),
        ]
    ).exchanges

    assert (first.status, first.body_bytes, first.location) == (302, 12, "https://a.example/new")
    assert second.redirected_from is first
    assert (second.status, second.body_bytes) == (200, 5)


def test_the_body_of_a_redirect_without_content_length_is_unknown() -> None:
    redirect = {"status": 302, "headers": {}}
    first, _ = cdp.read([asked("1", URL), asked("1", URL + "?", redirectResponse=redirect)]).exchanges

    assert first.body_bytes is None


def test_what_came_from_a_cache_is_marked() -> None:
    assert only(asked("1", URL), answered("1", fromDiskCache=True)).is_cached
    assert only(
        asked("1", URL), {"method": "Network.requestServedFromCache", "params": {"requestId": "1"}}
    ).is_cached


def test_a_failed_load_has_only_the_bytes_that_were_counted() -> None:
    failed = {"method": "Network.loadingFailed", "params": {"requestId": "1"}}

    assert only(asked("1", URL), answered("1"), failed).body_bytes is None
    assert only(asked("1", URL), answered("1"), came("1", 900, 400), failed).body_bytes == 400


def test_a_load_begins_with_a_document_without_initiator() -> None:
    other = {"type": "other"}
    script = {"type": "script", "url": "https://a.example/s.js"}
    found = cdp.read(
        [
            asked("1", "https://a.example/", type="Document", initiator=other),
            asked("2", "https://a.example/frame", type="Document", frameId="inner", initiator=script),
            asked("3", "https://a.example/posted", type="Document", frameId="inner", initiator=other),
            asked("4", "https://a.example/left", type="Document", initiator=script),
            asked("5", "https://a.example/", type="Document", frameId="new", initiator=other),
        ]
    ).exchanges

    assert [one.begins_load for one in found] == [True, False, False, False, True]
