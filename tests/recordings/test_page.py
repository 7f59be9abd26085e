"""Which exchanges belong to a page's load, and which of them is its document."""

from __future__ import annotations

from typing import Any

import pytest

from recordings.exchange import RecordedExchange, RecordedPage, Recording
from recordings.page import PageLoad, find_page_load, find_parents, resource_types
from recordings.sizes import ResponseSizes

ROOT = "https://site.example/"

SIZED = ResponseSizes(wire_bytes=100, wire_bytes_unknown=None, size_basis="counted")


def exchange(url: str, second: float = 0.0, **other: Any) -> RecordedExchange:
    values: dict[str, Any] = {"method": "GET", "status": 200, "mime_type": "image/png", "sizes": SIZED}
    return RecordedExchange(url=url, started_s=second, **{**values, **other})


def document(url: str = ROOT, second: float = 0.0, **other: Any) -> RecordedExchange:
    return exchange(url, second, **{"mime_type": "text/html", **other})


def load(*exchanges: RecordedExchange, **other: Any) -> PageLoad:
    return find_page_load(Recording(tool="by hand", exchanges=list(exchanges), **other))


PAGES = (
    RecordedPage(id="1", title=ROOT, load_us=5_000),
    RecordedPage(id="2", title="x", load_us=None),
)


@pytest.mark.parametrize(
    "before",
    [
        exchange("http://ocsp.ca.example/", method="POST", mime_type="application/ocsp-response"),
        exchange("http://other.example/favicon.ico", mime_type="image/x-icon", resource_type="other"),
        exchange("http://site.example:443/", method="CONNECT", mime_type=""),
        exchange("https://site.example/early.js", mime_type="text/javascript", referer=ROOT),
        exchange("http://site.example/", status=301, location=ROOT, mime_type="text/html"),
        exchange(ROOT, status=0),
    ],
    ids=["OCSP", "favicon", "CONNECT", "before its document", "redirect", "no response"],
)
def test_the_document_is_not_what_comes_first(before: RecordedExchange) -> None:
    page = load(before, document(second=0.1), exchange(ROOT + "a.png", 0.2))
    assert (page.host, page.document and page.document.url) == ("site.example", ROOT)


@pytest.mark.parametrize("status", [300, 301, 302, 305, 306, 308])
def test_a_3xx_that_leads_nowhere_is_a_document(status: int) -> None:
    page = load(document(status=status, headers={"content-type": "text/html"}))
    assert page.document is not None
    assert (page.document.status, page.main) == (status, 0)


def test_the_strongest_evidence_names_the_document() -> None:
    first = document(ROOT + "frame")
    named = document(second=0.1, is_document=True)
    typed = document(second=0.1, resource_type="document")
    titled = document(second=0.1, page="1")
    assert load(first, named).document is named
    assert load(first, typed).document is typed
    first.page = "1"
    assert load(first, titled, pages=PAGES).document is titled


def test_a_titles_redirects_lead_to_the_document() -> None:
    away = exchange(ROOT, status=302, location=ROOT + "home", page="1")
    page = load(
        away, document(ROOT + "frame", 0.1, page="1"), document(ROOT + "home", 0.2, page="1"), pages=PAGES
    )
    assert page.document is not None
    assert (page.document.url, page.first.url) == (ROOT + "home", ROOT)


def test_a_document_that_is_not_in_the_recording_is_not_made_up() -> None:
    style = exchange(ROOT + "s.css", mime_type="text/css", referer=ROOT)
    frame = document("https://widget.example/", 1.0)
    page = load(style, frame)
    assert (page.document, page.main, page.host) == (None, None, "site.example")


def test_a_blank_page_before_it_is_not_the_page() -> None:
    blank = exchange("data:text/html,hi", page="1", mime_type="text/html")
    page = load(blank, document(second=1.0, page="2"), pages=PAGES)
    assert [each.url for each in page.exchanges] == [ROOT]
    assert page.left_out == {"earlier_page_dropped": 1}


def test_later_pages_are_left_out_and_an_entry_without_a_page_belongs_to_the_one_that_was_loading() -> None:
    page = load(
        exchange(ROOT + "early.js", page=None),
        document(second=0.05, page="1"),
        exchange(ROOT + "a.png", 0.1, page=None),
        document(ROOT + "next", 1.0, page="2"),
        exchange(ROOT + "b.png", 1.1, page=None),
        pages=PAGES,
    )
    assert [each.url for each in page.exchanges] == [ROOT + "early.js", ROOT, ROOT + "a.png"]
    assert (page.left_out, page.load_us) == ({"later_page_dropped": 2}, 5_000)


def test_what_crossed_no_network_or_cannot_be_replayed_is_left_out_and_counted() -> None:
    cached = ResponseSizes(wire_bytes_unknown="from_cache")
    page = load(
        document(),
        exchange("data:image/png;base64,AA"),
        exchange("about:blank"),
        exchange(ROOT + "x", sizes=cached),
        exchange(ROOT + "y", status=0),
        exchange(ROOT + "ws", status=101),
        exchange(ROOT + "z", status=307, location=ROOT, is_internal=True),
    )
    assert len(page.exchanges) == 1
    assert page.left_out == {
        "not_http_dropped": 2,
        "cached_dropped": 1,
        "no_response_dropped": 1,
        "upgrade_dropped": 1,
        "internal_redirect_dropped": 1,
    }


def test_a_document_from_a_cache_is_the_document_but_no_response() -> None:
    page = load(document(sizes=ResponseSizes(wire_bytes_unknown="from_cache")), exchange(ROOT + "a.png", 0.1))
    assert page.document is not None
    assert (page.document.url, page.main, len(page.exchanges)) == (ROOT, None, 1)


def test_a_second_load_is_cut_off() -> None:
    begun = load(
        document(begins_load=True), exchange(ROOT + "x"), document(begins_load=True), exchange(ROOT + "x")
    )
    quiet = load(document(), exchange(ROOT + "x", 3.9), exchange(ROOT + "x", 8.0), splits_by_silence=True)
    far = load(document(), exchange(ROOT + "x", 86_401.0))
    assert [len(each.exchanges) for each in (begun, quiet, far)] == [2, 2, 1]
    assert [each.left_out["later_load_dropped"] for each in (begun, quiet, far)] == [2, 1, 1]


@pytest.mark.parametrize(
    ("known", "kind"),
    [
        ({"mime_type": "text/html"}, "iframe"),
        ({"resource_type": "document"}, "iframe"),
        ({"resource_type": "document", "frame": "2"}, "iframe"),
        ({"resource_type": "document", "frame": "1"}, "document"),
        ({"resource_type": "document", "destination": "iframe"}, "iframe"),
        ({"resource_type": "document", "destination": "frame"}, "iframe"),
        ({"resource_type": "document", "destination": "object"}, "object"),
        ({"resource_type": "fetch", "mime_type": "text/html"}, "fetch"),
        ({"resource_type": "script", "destination": "worker"}, "worker"),
        ({"resource_type": "other", "destination": "document"}, "document"),
        ({"resource_type": "preflight", "destination": "empty"}, "preflight"),
        ({"resource_type": "manifest"}, "manifest"),
        ({"resource_type": "wasm"}, "other"),
    ],
)
def test_a_type_is_the_destination_of_the_request(known: dict[str, str], kind: str) -> None:
    page = load(document(resource_type="document", frame="1"), exchange(ROOT + "x", 0.1, **known))
    assert resource_types(page) == ["document", kind]


def test_a_redirect_has_the_type_of_its_target() -> None:
    page = load(
        exchange("http://site.example/", status=301, location=ROOT, mime_type="text/html"),
        document(second=0.1),
        exchange(ROOT + "r", 0.2, status=302, location=ROOT + "r2", mime_type="text/html"),
        exchange(ROOT + "r2", 0.3, status=302, location=ROOT + "a.png", mime_type="text/html"),
        exchange(ROOT + "a.png", 0.4),
        exchange(ROOT + "lost", 0.5, status=302, location=ROOT + "unseen", mime_type="text/html"),
    )
    assert resource_types(page) == ["document", "document", "image", "image", "image", "other"]


def test_a_frame_is_not_the_page_whose_document_is_not_recorded() -> None:
    frame = document(ROOT + "frame", resource_type="document", destination="iframe")
    page = load(frame, exchange(ROOT + "a.png"))
    assert (page.document, resource_types(page)) == (None, ["iframe", "image"])


def test_what_comes_before_the_document_has_no_parent_and_a_redirect_leads_to_its_target() -> None:
    page = load(
        exchange("http://ocsp.ca.example/", mime_type="application/ocsp-response"),
        exchange("http://site.example/", status=301, location=ROOT),
        document(),
        exchange(ROOT + "a.png"),
    )
    assert find_parents(page.exchanges, page.main) == [
        (None, "start"),
        (None, "start"),
        (1, "redirect"),
        (2, "guess"),
    ]
