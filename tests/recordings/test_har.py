"""Small made-up HAR files with the quirks of real producers."""

from typing import Any

import pytest

from recordings import har


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
    one = entry("https://a.example/", method="POST", asking=asking)
    one["request"] |= {} if body is None else {"bodySize": body}
    assert har.read(log(one))[0].request_body_bytes == known


def log(*entries: dict[str, Any], creator: str = "by hand") -> dict[str, Any]:
    return {"creator": {"name": creator, "version": "1"}, "entries": list(entries)}


def test_an_entry_is_read_with_its_initiator() -> None:
    (found,) = har.read(
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

    assert (found.url, found.status, found.mime_type) == ("http://a.example/x#top", 302, "text/html")
    assert (found.initiator, found.referer) == ("http://a.example/", "http://a.example/r")
    assert found.location == "http://a.example/y"
    assert found.body_bytes == 10


def test_only_the_first_page_is_taken() -> None:
    entries = [entry("http://a.example/", pageref="p1"), entry("http://a.example/", pageref="p2")]

    assert len(har.read(log(*entries))) == 1


def test_an_initiator_can_be_on_a_call_stack() -> None:
    detail = '{"type":"script","stack":{"callFrames":[{"url":""}],"parent":{"callFrames":[{"url":"http://a.example/s.js"}]}}}'
    (found,) = har.read(log(entry("http://a.example/x", _initiator_detail=detail)))

    assert found.initiator == "http://a.example/s.js"


def test_hdrgrabs_sizes_are_sums_over_a_connection() -> None:
    entries = [
        entry("http://a.example/", 0, body=100, connection="7"),
        entry("http://a.example/2", 2, body=150, connection="7"),
        entry("http://a.example/1", 1, body=40, connection="8"),
        entry("http://a.example/3", 3, body=150, connection="7"),
        entry("http://a.example/4", 4, body=30, connection="7"),
    ]
    found = har.read(log(*entries, creator="hdrgrab"))

    assert [one.url[-1] for one in found] == ["/", "1", "2", "3", "4"]
    assert [one.body_bytes for one in found] == [100, 40, 50, 0, 30]
    assert [bool(one.repairs) for one in found] == [False, False, True, True, False]


@pytest.mark.parametrize(
    ("total", "decoded", "headers", "body", "repair"),
    [
        (790, 277, {}, 277, "header_taken_off_size"),
        (790, 277, {"Content-Encoding": "gzip"}, 790, "size_includes_header"),
        (790, 2000, {"Content-Encoding": "gzip", "Content-Length": "500"}, 500, "header_taken_off_size"),
        (90_000, 2000, {}, 90_000, "size_includes_header"),
        (790, 900, {"Content-Length": "800"}, 790, "size_includes_header"),
    ],
)
def test_chrome_har_counts_the_header_of_h2_into_the_body(
    total: int, decoded: int, headers: dict[str, str], body: int, repair: str
) -> None:
    response = {"_transferSize": total}
    (found,) = har.read(
        log(
            entry(
                "https://a.example/",
                body=total,
                size=decoded,
                header_size=-1,
                headers=headers,
                response=response,
            )
        )
    )

    assert found.body_bytes == body
    assert found.repairs == {repair}


@pytest.mark.parametrize(
    ("headers", "body"), [({}, None), ({"Content-Length": "42"}, 42), ({"content-length": "x"}, None)]
)
def test_a_negative_size_is_unknown_unless_the_header_has_it(
    headers: dict[str, str], body: int | None
) -> None:
    (found,) = har.read(log(entry("http://a.example/", body=-116, headers=headers)))

    assert found.body_bytes == body


def test_a_redirect_that_the_browser_made_up_is_marked() -> None:
    reason = {"Non-Authoritative-Reason": "HSTS", "Location": "https://a.example/"}
    (found,) = har.read(log(entry("http://a.example/", status=307, headers=reason)))

    assert found.is_internal
    assert found.location == "https://a.example/"
