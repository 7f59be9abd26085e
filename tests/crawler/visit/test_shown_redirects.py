"""A redirect that the browser shows, because it does not follow it, is a document of that status."""

from __future__ import annotations

import asyncio

import pytest

from tests.crawler.visiting import visit_hosts
from tests.zoo.raw import RawWeb, answer, html

pytestmark = pytest.mark.browser

SHOWN = {
    "choices.test": ("300 Multiple Choices", ()),
    "moved.test": ("301 Moved Permanently", ()),
    "empty.test": ("302 Found", ("Location:",)),
    "other.test": ("303 See Other", ()),
    "proxy.test": ("305 Use Proxy", ("Location: http://new.test/",)),
    "unused.test": ("306 Unused", ("Location: http://new.test/",)),
    "temporary.test": ("307 Temporary Redirect", ()),
    "permanent.test": ("308 Permanent Redirect", ()),
}

MARKUP = b"<!doctype html><link rel=icon href=data:,><p>here</p><img src=/x>"


def web() -> RawWeb:
    answers = {
        f"{host}/": answer(MARKUP, "Content-Type: text/html", *lines, status=status)
        for host, (status, lines) in SHOWN.items()
    }
    followed = answer(MARKUP, "Location: http://new.test/", status="301 Moved Permanently")
    unusable = answer(MARKUP, "Location: http://[bad", status="302 Found")
    return RawWeb({**answers, "old.test/": followed, "new.test/": html("new"), "unusable.test/": unusable})


@pytest.mark.outcomes("ok")
def test_a_redirect_without_a_usable_location_is_a_document_of_its_status() -> None:
    for host, observations in zip(SHOWN, asyncio.run(visit_hosts(web(), *SHOWN)), strict=True):
        status = int(SHOWN[host][0][:3])
        visit_ = observations.visit
        assert (visit_["outcome"], visit_["status"], visit_["error"]) == ("ok", status, None), host
        document, image = observations.responses
        assert (visit_["main_response_id"], visit_["final_host"]) == (document["id"], host)
        assert (document["body_bytes"], document["is_complete"]) == (len(MARKUP), True)
        assert image["initiator_id"] == document["id"]


@pytest.mark.outcomes("ok", "bad_response")
def test_a_redirect_that_the_browser_follows_or_refuses_is_no_document() -> None:
    followed, refused = asyncio.run(visit_hosts(web(), "old.test", "unusable.test"))
    assert (followed.visit["status"], followed.visit["main_response_id"]) == (200, 2)
    assert [row["status"] for row in followed.responses] == [301, 200]
    assert (refused.visit["outcome"], refused.visit["status"]) == ("bad_response", None)
    assert refused.visit["error"] == "net::ERR_INVALID_REDIRECT"
