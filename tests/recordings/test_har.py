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


MAIN = {"Sec-Fetch-Dest": "worker", "Sec-Fetch-Mode": "same-origin"}
IMPORT = {"Sec-Fetch-Dest": "worker", "Sec-Fetch-Mode": "cors"}
SCRIPT = {"Sec-Fetch-Dest": "script"}
AGAIN = {"If-None-Match": "1"}
LONG = {"Content-Length": "2005"}
GZIP = {"Content-Encoding": "gzip"}
CHUNKED = {"Transfer-Encoding": "chunked"}
KEPT = {"ETag": "1"}
NOT_KEPT = {"Cache-Control": "no-store"}


@pytest.mark.parametrize(
    ("asking", "headers", "version", "total", "decoded", "known"),
    [
        # A worker's script, of which the header alone was counted.
        (MAIN, LONG | NOT_KEPT, "HTTP/2.0", 13, 2005, (2018, "derived", 2005)),
        (MAIN, LONG | KEPT, "HTTP/2.0", 18, 2005, (2023, "derived", 2005)),
        (MAIN, LONG | GZIP, "HTTP/2.0", 18, 9000, (2023, "derived", 2005)),
        (MAIN, GZIP, "HTTP/2.0", 17, 2005, (None, None, None)),
        (MAIN, NOT_KEPT, "HTTP/2.0", 12, 2005, (None, None, None)),
        (MAIN, {"Content-Length": "40"}, "HTTP/2.0", 60, 40, (None, None, None)),
        ({}, LONG | NOT_KEPT, "HTTP/1.1", 97, 2005, (2102, "derived", 2005)),
        ({}, LONG, "HTTP/1.1", 97, 2005, (2102, "derived", 2005)),
        ({}, GZIP | CHUNKED, "HTTP/1.1", 97, 2005, (None, None, None)),
        ({}, NOT_KEPT, "HTTP/2.0", 33, 2005, (None, None, None)),
        # What a worker imports is counted whole.
        (IMPORT, LONG | NOT_KEPT, "HTTP/2.0", 2036, 2005, (2036, "counted", 2005)),
        (IMPORT, GZIP, "HTTP/2.0", 80, 300, (80, "counted", None)),
        # A 304, which the browser shows as 200.
        (MAIN | AGAIN, KEPT, "HTTP/2.0", 12, 2005, (12, "counted", 0)),
        (SCRIPT | AGAIN, KEPT, "HTTP/2.0", 12, 2005, (12, "counted", 0)),
        ({}, LONG | KEPT, "HTTP/2.0", 12, 2005, (12, "counted", 0)),
        # Neither: a script of the page itself is counted whole.
        (SCRIPT, LONG | KEPT, "HTTP/2.0", 12, 2005, (None, None, None)),
    ],
)
def test_a_total_without_room_for_the_body_is_a_304_only_where_one_was_possible(
    asking: dict[str, str],
    headers: dict[str, str],
    version: str,
    total: int,
    decoded: int,
    known: tuple[int | None, str | None, int | None],
) -> None:
    raw = entry(
        "https://a.example/w.js",
        asking=asking,
        headers={"Content-Type": "text/javascript", **headers},
        version=version,
        header_size=97 if version == "HTTP/1.1" else -1,
        body=0,
        size=decoded,
        mime="text/javascript",
        response={"_transferSize": total},
    )
    sizes = read(log(raw))[0].sizes
    assert (sizes.wire_bytes, sizes.size_basis, sizes.body_bytes) == known


@pytest.mark.parametrize(("asking", "headers"), [({"Accept-Encoding": "br"}, {}), ({}, NOT_KEPT)])
def test_an_image_that_cannot_have_been_confirmed_has_no_size_below_its_body(
    asking: dict[str, str], headers: dict[str, str]
) -> None:
    raw = entry(
        "https://a.example/a.png",
        asking=asking,
        headers=LONG | headers,
        size=2005,
        mime="image/png",
        response={"_transferSize": 300},
    )
    assert read(log(raw))[0].sizes.wire_bytes_unknown == "contradictory"


@pytest.mark.parametrize(
    ("total", "length", "known"),
    [(5, "5", None), (178, "178", None), (7, "0", None), (19, "5", 24), (19, "0", 19)],
)
def test_a_redirect_whose_header_was_not_counted_has_no_size(
    total: int, length: str, known: int | None
) -> None:
    (exchange,) = read(
        log(
            entry(
                "https://a.example/",
                status=302,
                headers={"Location": "/x", "Content-Length": length},
                version="HTTP/2.0",
                header_size=0,
                body=total,
                response={"_transferSize": total},
            )
        )
    )
    assert exchange.sizes.wire_bytes == known


@pytest.mark.parametrize("creator", ["Firefox 47.0", "Firefox 120.0"])
@pytest.mark.parametrize("length", ["", "0", "150"])
def test_firefox_gives_a_redirect_the_size_of_its_target(creator: str, length: str) -> None:
    headers = {"Location": "/x", **({"Content-Length": length} if length else {})}
    raw = entry("http://a.example/", status=302, headers=headers, body=1000, size=1000)
    (exchange,) = read(log(raw, creator=creator))
    assert exchange.sizes.wire_bytes is None


@pytest.mark.parametrize("length", ["6,219", "6.219", "6 219", "6\u202f219", "6219"])
def test_a_body_that_exceeds_its_content_length_however_written_is_no_size(length: str) -> None:
    (exchange,) = read(
        log(entry("http://a.example/", headers={"Content-Length": length}, body=23_640, size=23_640))
    )
    assert (exchange.sizes.wire_bytes, exchange.sizes.wire_bytes_unknown) == (None, "contradictory")


DOCUMENT: dict[str, Any] = {"_resourceType": "document", "_frameref": "1"}
TOP = {"Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "same-origin"}
WANTED = TOP | {"Sec-Fetch-Site": "none"}
FRAME = {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Site": "none"}


@pytest.mark.parametrize(
    ("second", "begins"),
    [
        (DOCUMENT, True),
        (DOCUMENT | {"_frameref": "2"}, False),
        (DOCUMENT | {"_frameref": ""}, False),
        (DOCUMENT | {"_resourceType": "fetch"}, False),
        ({"asking": WANTED}, True),
        ({"asking": TOP | {"Sec-Fetch-User": "?1"}}, True),
        (DOCUMENT | {"asking": FRAME}, False),
        # The page itself goes elsewhere: the user still waits.
        (DOCUMENT | {"asking": TOP}, False),
        # A page that is fetched ahead.
        ({"asking": WANTED | {"Sec-Purpose": "prefetch"}}, False),
        ({"asking": WANTED, "_resourceType": "prefetch"}, False),
    ],
)
def test_a_tab_that_is_sent_elsewhere_begins_a_load(second: dict[str, Any], begins: bool) -> None:
    first = entry("https://a.example/", **DOCUMENT)
    exchanges = read(log(first, entry("https://b.example/", 9, **second)))
    assert exchanges[1].begins_load == begins


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
