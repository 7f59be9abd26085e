"""What the page says of its requests."""

from __future__ import annotations

from typing import Any

from crawler.page import Asked, PageFacts
from crawler.rows import text


def asks(number: int, url: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return "Network.requestWillBeSent", {"requestId": str(number), "request": {"url": url}, **fields}


def test_who_asked_for_what_comes_from_parsers_and_stacks() -> None:
    facts = PageFacts()
    stack = {"callFrames": [{"url": ""}], "parent": {"callFrames": [{"url": "https://a.test/b.js"}]}}
    for method, params in (
        asks(1, "https://a.test/#top", type="Document", initiator={"type": "other"}),
        asks(2, "https://a.test/i", type="Image", initiator={"type": "parser", "url": "https://a.test/"}),
        asks(3, "https://a.test/x", type="XHR", initiator={"type": "script", "stack": stack}),
        asks(4, "data:text/plain,x", type="Image", initiator={}),
        ("Network.requestServedFromCache", {"requestId": "2"}),
        ("Network.loadingFinished", {"requestId": "2"}),
        ("Network.loadingFailed", {"requestId": "3", "errorText": "net::ERR_FAILED"}),
        ("Network.loadingFinished", {"requestId": "99"}),
    ):
        facts.feed(method, params)
    assert facts.asked == [
        Asked("https://a.test/", None, None),
        Asked("https://a.test/i", "https://a.test/", "image", in_memory=True),
        Asked("https://a.test/x", "https://a.test/b.js", "fetch", failure="net::ERR_FAILED"),
    ]
    assert facts.outstanding == 1


def test_text_from_the_network_can_be_stored() -> None:
    assert text("a\0b\ud800" + "c" * 1000) == "a\ufffdb\ufffd" + "c" * 251
