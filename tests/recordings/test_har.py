"""Small made-up HAR files with the quirks of real producers."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from recordings import har
from recordings.exchange import RecordedExchange

NOW = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)


def read(content: dict[str, Any]) -> list[RecordedExchange]:
    return har.read(content, now=NOW).exchanges


def entry(url: str, second: int = 0, **other: Any) -> dict[str, Any]:
    headers = [{"name": name, "value": value} for name, value in other.pop("headers", {}).items()]
    asking = [{"name": name, "value": value} for name, value in other.pop("asking", {}).items()]
    response = {
        "status": other.pop("status", 200),
        "httpVersion": other.pop("version", "HTTP/1.1"),
        "headers": headers,
        "redirectURL": other.pop("redirect", ""),
        "bodySize": other.pop("body", 10),
        "headersSize": other.pop("header_size", 100),
        "content": {"size": other.pop("size", 10), "mimeType": other.pop("mime", "text/html; charset=x")},
        **other.pop("response", {}),
    }
    return {
        "startedDateTime": f"2018-04-20T11:00:{second:02}.000Z",
        "request": {"url": url, "method": other.pop("method", "GET"), "headers": asking},
        "response": response,
        **other,
    }


@pytest.mark.parametrize(
    ("asking", "body", "known"),
    [({"Content-Length": "300"}, 0, 300), ({}, 300, 300), ({}, 0, 0), ({}, -1, None), ({}, None, None)],
)
def test_the_size_of_a_request_body_is_taken_from_its_header_or_else_as_recorded(
    asking: dict[str, str], body: int | None, known: int | None
) -> None:
    raw = entry("https://a.example/", method="POST", asking=asking)
    raw["request"] |= {} if body is None else {"bodySize": body}
    assert read(log(raw))[0].request_body_bytes == known


def log(*entries: dict[str, Any], creator: str = "by hand") -> dict[str, Any]:
    return {"creator": {"name": creator, "version": "1"}, "entries": list(entries)}


def test_an_entry_is_read_with_its_initiator() -> None:
    (exchange,) = read(
        log(
            entry(
                "http://a.example/x#top",
                _initiator="http://a.example/",
                asking={"Referer": "http://a.example/r"},
                redirect="/y",
                status=302,
            )
        )
    )

    assert (exchange.url, exchange.status, exchange.mime_type) == ("http://a.example/x#top", 302, "text/html")
    assert (exchange.initiator, exchange.referer) == ("http://a.example/", "http://a.example/r")
    assert exchange.location == "http://a.example/y"
    assert exchange.sizes.body_bytes == 10


def test_an_initiator_can_be_on_a_call_stack() -> None:
    detail = '{"type":"script","stack":{"callFrames":[{"url":""}],"parent":{"callFrames":[{"url":"http://a.example/s.js"}]}}}'
    (exchange,) = read(log(entry("http://a.example/x", _initiator_detail=detail)))

    assert exchange.initiator == "http://a.example/s.js"


def test_an_initiator_without_a_type_is_read() -> None:
    detail = {"type": None, "url": "http://a.example/s.js"}
    (exchange,) = read(log(entry("http://a.example/x", _initiator_detail=detail)))

    assert exchange.initiator == "http://a.example/s.js"


def test_hdrgrabs_sizes_are_sums_over_a_connection() -> None:
    entries = [
        entry("http://a.example/", 0, body=100, connection="7"),
        entry("http://a.example/2", 2, body=150, connection="7"),
        entry("http://a.example/1", 1, body=40, connection="8"),
        entry("http://a.example/3", 3, body=150, connection="7"),
        entry("http://a.example/4", 4, body=30, connection="7"),
    ]
    exchanges = read(log(*entries, creator="hdrgrab"))

    assert [exchange.url[-1] for exchange in exchanges] == ["/", "1", "2", "3", "4"]
    assert [exchange.sizes.body_bytes for exchange in exchanges] == [100, 40, 50, 0, 30]


def test_a_redirect_that_the_browser_made_up_is_marked() -> None:
    reason = {"Non-Authoritative-Reason": "HSTS", "Location": "https://a.example/"}
    (exchange,) = read(log(entry("http://a.example/", status=307, headers=reason)))

    assert exchange.is_internal
    assert exchange.location == "https://a.example/"


def test_what_cannot_be_true_is_left_out_with_the_field_that_says_so() -> None:
    sound = entry("http://a.example/")
    odd = [
        {**sound, "response": None},
        {**sound, "response": {**sound["response"], "status": None}},
        {**sound, "response": {**sound["response"], "bodySize": 5_000.0}},
        {**sound, "response": {**sound["response"], "content": {"mimeType": "x" * 300}}},
        {**sound, "request": {"url": "http://[object Object]/", "method": "GET", "headers": []}},
        {**sound, "timings": {"send": None, "wait": None, "receive": None}},
        {**sound, "startedDateTime": "0001-01-01T00:00:00Z"},
        {**sound, "startedDateTime": "2999-01-01T00:00:00Z"},
        {**sound, "startedDateTime": "yesterday"},
    ]
    recording = har.read(log(sound, *odd, sound), now=NOW)

    assert len(recording.exchanges) == 2
    assert recording.odd == (
        (1, "malformed response"),
        (2, "malformed response.status"),
        (3, "malformed response.bodySize"),
        (4, "malformed response.content.mimeType"),
        (5, "malformed request.url"),
        (6, "malformed timings"),
        (7, "date before 1990 or in the future"),
        (8, "date before 1990 or in the future"),
        (9, "malformed startedDateTime"),
    )


def test_a_har_without_a_creator_and_with_odd_pages_is_read() -> None:
    recording = har.read(
        {"entries": [entry("http://a.example/")], "pages": [None, {"id": 1, "pageTimings": 7}]}, now=NOW
    )

    assert (recording.tool, recording.browser, len(recording.exchanges)) == ("unknown", "", 1)


def test_a_host_has_one_name() -> None:
    urls = ("http://B\u00fccher.example/", "http://b\u00fccher.example./", "http://xn--bcher-kva.example:80/")
    assert {exchange.host for exchange in read(log(*map(entry, urls)))} == {"xn--bcher-kva.example"}


@pytest.mark.parametrize("version", ["", "unknown", None, "data"])
def test_a_missing_protocol_is_unknown(version: str | None) -> None:
    (exchange,) = read(log(entry("http://a.example/", version=version)))

    assert (exchange.protocol, exchange.sizes.wire_bytes_unknown) == ("", "not_recorded")


def test_a_redirect_status_without_a_target_is_a_document() -> None:
    for status, location, is_redirect in (
        (302, "/x", True),
        (302, "", False),
        (300, "/x", False),
        (308, "", False),
    ):
        raw = entry("http://a.example/", status=status, headers={"Server": "x", "Location": location})
        assert read(log(raw))[0].is_redirect == is_redirect
