"""Recipes from recordings: where they came from, what they keep, and who asked for whom."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from localweb import derive
from localweb.recipes import Page, PageRecipeError
from recordings.exchange import RecordedExchange, Recording
from recordings.page import find_page_load
from recordings.sizes import ResponseSizes
from tests.localweb.conftest import SOURCE

HAR = {
    "log": {
        "creator": {"name": "Firefox", "version": "43.0.4"},
        "entries": [
            {
                "startedDateTime": "2016-01-25T10:00:00.000+01:00",
                "request": {"url": "https://a.example/", "method": "GET", "headers": []},
                "response": {
                    "status": 200,
                    "httpVersion": "HTTP/1.1",
                    "headers": [],
                    "bodySize": 12,
                    "headersSize": 99,
                    "content": {"mimeType": "text/html"},
                },
            }
        ],
    }
}

CDP = [
    {
        "method": "Network.requestWillBeSent",
        "params": {
            "requestId": "1",
            "type": "Document",
            "wallTime": 1_500_000_000.0,
            "request": {"url": "https://b.example/", "method": "GET", "headers": {}},
        },
    },
    {
        "method": "Network.responseReceived",
        "params": {"requestId": "1", "type": "Document", "response": {"status": 200, "headers": {}}},
    },
]

ROOT = "http://a.example/"


@pytest.mark.parametrize(
    ("name", "recording", "site", "tool", "date", "repository", "file"),
    [
        (
            "har/pagexray/test__files__a.har.gz",
            HAR,
            "a.example",
            "Firefox 43.0.4",
            "2016-01-25",
            "sitespeedio/pagexray",
            "test/files/a.har",
        ),
        (
            "cdp/chrome-har-perflogs/test__b.json.gz",
            CDP,
            "b.example",
            "Chrome DevTools Protocol",
            "2017-07-14",
            "sitespeedio/chrome-har",
            "test/b.json",
        ),
    ],
)
def test_a_page_says_which_recording_it_came_from(
    name: str, recording: Any, site: str, tool: str, date: str, repository: str, file: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress(json.dumps(recording).encode()))
    page = derive.derive(path, number=7)

    assert (page.number, page.site) == (7, site)
    source = page.source
    assert (source.tool, source.date, source.repository, source.file) == (tool, date, repository, file)
    assert len(source.commit) == 40
    assert source.licence == "MIT"


def exchange(url: str, **other: Any) -> RecordedExchange:
    sizes = ResponseSizes(wire_bytes_unknown="not_recorded", body_bytes=other.pop("body_bytes", 5))
    values: dict[str, Any] = {"method": "GET", "status": 200, "mime_type": "image/png", "sizes": sizes}
    return RecordedExchange(url=url, **{**values, **other})


def root(**other: Any) -> RecordedExchange:
    return exchange(ROOT, **{"mime_type": "text/html", **other})


def page(*exchanges: RecordedExchange) -> Page:
    load = find_page_load(Recording(tool="by hand", exchanges=list(exchanges)))
    return derive.page(load, number=1, source=SOURCE)


def test_a_redirect_that_the_browser_made_up_is_dropped_and_its_target_keeps_who_asked() -> None:
    made_up = exchange(
        ROOT + "x", status=307, is_internal=True, initiator=ROOT + "s.js", location="https://a.example/x"
    )
    target = exchange("https://a.example/x", redirected_from=made_up, initiator=ROOT + "s.js")
    recipe = page(root(), exchange(ROOT + "s.js", mime_type="text/javascript"), made_up, target)

    assert [thing.parent for thing in recipe.objects] == [None, 0, 1]
    assert recipe.objects[2].found_by == "initiator"
    assert recipe.repairs == {"internal_redirect_dropped": 1}


def test_a_url_asked_twice_is_two_objects() -> None:
    recipe = page(root(), exchange(ROOT + "x"), exchange(ROOT + "x"))

    assert len(recipe.objects) == 3
    assert recipe.repairs == {"url_asked_again": 1}


def test_a_parent_is_the_redirect_then_the_initiator_then_the_referer_then_a_guess() -> None:
    redirect = exchange(ROOT + "old", status=302, location=ROOT + "new", initiator=ROOT + "s.js")
    recipe = page(
        root(),
        exchange(ROOT + "s.js", mime_type="text/javascript", referer=ROOT),
        redirect,
        exchange(ROOT + "new", initiator=ROOT + "s.js", referer=ROOT),
        exchange(ROOT + "i", initiator=ROOT + "s.js", referer=ROOT),
        exchange(ROOT + "r", initiator="http://unseen.example/", referer=ROOT + "#here"),
        exchange(ROOT + "g"),
    )

    assert [(thing.parent, thing.found_by) for thing in recipe.objects] == [
        (None, "start"),
        (0, "referer"),
        (1, "initiator"),
        (2, "redirect"),
        (1, "initiator"),
        (0, "referer"),
        (0, "guess"),
    ]


def test_an_object_never_has_a_parent_that_comes_after_it() -> None:
    recipe = page(root(), exchange(ROOT + "x", initiator=ROOT + "late.js"), exchange(ROOT + "late.js"))

    assert recipe.objects[1].parent == 0
    assert recipe.objects[1].found_by == "guess"


def test_a_redirect_is_asked_for_as_what_stands_at_its_end() -> None:
    hop = exchange(ROOT + "1", status=302, mime_type="text/html", location=ROOT + "2")
    again = exchange(ROOT + "2", status=302, mime_type="text/html", location=ROOT + "3")
    recipe = page(root(), hop, again, exchange(ROOT + "3"))

    assert [thing.kind for thing in recipe.objects] == ["document", "image", "image", "image"]


def test_redirects_in_front_lead_to_the_main_document() -> None:
    recipe = page(
        root(status=301, mime_type="", location=ROOT),
        root(status=302, mime_type="", location=ROOT),
        root(),
        exchange(ROOT + "x", referer=ROOT),
    )

    assert recipe.main == 2
    assert [thing.parent for thing in recipe.objects] == [None, 0, 1, 2]
    assert [thing.kind for thing in recipe.objects] == ["document", "document", "document", "image"]


def test_an_unknown_size_stays_unknown() -> None:
    recipe = page(root(), exchange(ROOT + "x", body_bytes=None), exchange(ROOT + "y", body_bytes=0))

    assert [thing.body_bytes for thing in recipe.objects] == [5, None, 0]
    assert recipe.repairs == {"size_unknown": 1}


def test_the_browsers_word_for_a_kind_goes_before_the_media_type() -> None:
    html = {"mime_type": "text/html"}
    recipe = page(
        root(),
        exchange(ROOT + "1", resource_type="xhr", **html),
        exchange(ROOT + "2", resource_type="ping", **html),
        exchange(ROOT + "3", resource_type="texttrack", **html),
        exchange(ROOT + "4", status=204, **html),
        exchange(ROOT + "5", **html),
    )

    assert [thing.kind for thing in recipe.objects[1:]] == ["fetch", "fetch", "media", "fetch", "document"]


def test_a_recording_of_nothing_is_refused() -> None:
    with pytest.raises(PageRecipeError, match=r"x\.har"):
        page(exchange(ROOT, status=0))
