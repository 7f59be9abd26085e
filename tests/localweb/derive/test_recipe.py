"""The repairs that both kinds of recordings need, and who asked for whom."""

from __future__ import annotations

from typing import Any

import pytest

from localweb.derive import recipe
from localweb.recipes import Page, RecipeError, Source
from recordings.exchange import RecordedExchange, protocol_name

SOURCE = Source(
    repository="a/b", commit="c0ffee", licence="MIT", file="x.har", tool="by hand", date="2020-02-02"
)
ROOT = "http://a.example/"


def one(url: str, **other: Any) -> RecordedExchange:
    values: dict[str, Any] = {"method": "GET", "status": 200, "mime_type": "image/png", "body_bytes": 5}
    return RecordedExchange(url=url, **{**values, **other})


def root(**other: Any) -> RecordedExchange:
    return one(ROOT, **{"mime_type": "text/html", **other})


def page(*exchanges: RecordedExchange, **other: Any) -> Page:
    return recipe.page(exchanges, number=1, source=SOURCE, **other)


@pytest.mark.parametrize(
    ("exchange", "repair"),
    [
        (one("data:image/png;base64,AA"), "not_http_dropped"),
        (one("about:blank"), "not_http_dropped"),
        (one(ROOT + "x", is_cached=True), "cached_dropped"),
        (one(ROOT + "x", status=0), "no_response_dropped"),
        (one("https://a.example/ws", status=101), "upgrade_dropped"),
    ],
)
def test_what_cannot_be_played_is_dropped_and_counted(exchange: RecordedExchange, repair: str) -> None:
    found = page(root(), exchange, one(ROOT + "y"))

    assert [thing.kind for thing in found.objects] == ["document", "image"]
    assert found.repairs == {repair: 1}


def test_a_redirect_that_the_browser_made_up_is_dropped_and_its_target_keeps_who_asked() -> None:
    made_up = one(
        ROOT + "x", status=307, is_internal=True, initiator=ROOT + "s.js", location="https://a.example/x"
    )
    target = one("https://a.example/x", redirected_from=made_up, initiator=ROOT + "s.js")
    found = page(root(), one(ROOT + "s.js", mime_type="text/javascript"), made_up, target)

    assert [thing.parent for thing in found.objects] == [None, 0, 1]
    assert found.objects[2].found_by == "initiator"
    assert found.repairs == {"internal_redirect_dropped": 1}


def test_a_url_asked_twice_is_two_objects() -> None:
    found = page(root(), one(ROOT + "x"), one(ROOT + "x"))

    assert len(found.objects) == 3
    assert found.repairs == {"url_asked_again": 1}


def test_a_parent_is_the_redirect_then_the_initiator_then_the_referer_then_a_guess() -> None:
    redirect = one(ROOT + "old", status=302, location=ROOT + "new", initiator=ROOT + "s.js")
    found = page(
        root(),
        one(ROOT + "s.js", mime_type="text/javascript", referer=ROOT),
        redirect,
        one(ROOT + "new", initiator=ROOT + "s.js", referer=ROOT),
        one(ROOT + "i", initiator=ROOT + "s.js", referer=ROOT),
        one(ROOT + "r", initiator="http://unseen.example/", referer=ROOT + "#here"),
        one(ROOT + "g"),
    )

    assert [(thing.parent, thing.found_by) for thing in found.objects] == [
        (None, "start"),
        (0, "referer"),
        (1, "initiator"),
        (2, "redirect"),
        (1, "initiator"),
        (0, "referer"),
        (0, "guess"),
    ]


def test_an_object_never_has_a_parent_that_comes_after_it() -> None:
    found = page(root(), one(ROOT + "x", initiator=ROOT + "late.js"), one(ROOT + "late.js"))

    assert found.objects[1].parent == 0
    assert found.objects[1].found_by == "guess"


def test_a_redirect_is_asked_for_as_what_stands_at_its_end() -> None:
    hop = one(ROOT + "1", status=302, mime_type="text/html", location=ROOT + "2")
    again = one(ROOT + "2", status=302, mime_type="text/html", location=ROOT + "3")
    found = page(root(), hop, again, one(ROOT + "3"))

    assert [thing.kind for thing in found.objects] == ["document", "image", "image", "image"]


def test_redirects_in_front_lead_to_the_main_document() -> None:
    found = page(
        root(status=301, mime_type=""), root(status=302, mime_type=""), root(), one(ROOT + "x", referer=ROOT)
    )

    assert found.main == 2
    assert [thing.parent for thing in found.objects] == [None, 0, 1, 2]
    assert [thing.kind for thing in found.objects] == ["document", "document", "document", "image"]


def test_a_second_load_is_cut_off() -> None:
    begun = page(root(begins_load=True), one(ROOT + "x"), root(begins_load=True), one(ROOT + "x"))
    later = page(root(), one(ROOT + "x", started_s=3.9), one(ROOT + "x", started_s=8.0), splits_loads=True)

    assert (len(begun.objects), begun.repairs) == (2, {"later_load_dropped": 2})
    assert (len(later.objects), later.repairs) == (2, {"later_load_dropped": 1})


def test_an_unknown_size_stays_unknown() -> None:
    found = page(root(), one(ROOT + "x", body_bytes=None), one(ROOT + "y", body_bytes=0))

    assert [thing.body_bytes for thing in found.objects] == [5, None, 0]
    assert found.repairs == {"size_unknown": 1}


def test_the_browsers_word_for_a_kind_goes_before_the_media_type() -> None:
    html = {"mime_type": "text/html"}
    found = page(
        root(),
        one(ROOT + "1", resource_type="xhr", **html),
        one(ROOT + "2", resource_type="ping", **html),
        one(ROOT + "3", resource_type="texttrack", **html),
        one(ROOT + "4", status=204, **html),
        one(ROOT + "5", **html),
    )

    assert [thing.kind for thing in found.objects[1:]] == ["fetch", "fetch", "other", "fetch", "document"]


def test_a_recording_of_nothing_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"x\.har"):
        page(one("data:,"))


@pytest.mark.parametrize(
    ("recorded", "name"),
    [
        ("HTTP/1.1", "http/1.1"),
        ("http/1.0", "http/1.0"),
        ("1.1", "http/1.1"),
        ("h2", "h2"),
        ("HTTP/2.0", "h2"),
        ("spdy/3.1", "spdy"),
        ("h3-29", "h3"),
        ("http/2+quic/43", "h3"),
        (None, "http/1.1"),
    ],
)
def test_protocols_have_one_name_each(recorded: str | None, name: str) -> None:
    assert protocol_name(recorded) == name
