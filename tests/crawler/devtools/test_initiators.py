"""Requests have the initiators and types that the page reports."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.devtools.initiators import Initiators, PageRequest
from crawler.visit.stored_values import text


def asks(number: str, url: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return "Network.requestWillBeSent", {"requestId": number, "request": {"url": url}, **fields}


def test_initiators_come_from_parsers_and_stacks() -> None:
    initiators = Initiators()
    stack = {"callFrames": [{"url": ""}], "parent": {"callFrames": [{"url": "https://a.test/b.js"}]}}
    for method, params in (
        asks("ABC", "https://a.test/#top", type="Document", initiator={"type": "other"}),
        asks("1.2", "https://a.test/i", type="Image", initiator={"type": "parser", "url": "https://a.test/"}),
        asks("1.3", "https://a.test/x", type="XHR", initiator={"type": "script", "stack": stack}),
        asks("1.4", "data:text/plain,x", type="Image", initiator={}),
        ("Network.requestServedFromCache", {"requestId": "1.2"}),
        ("Network.loadingFinished", {"requestId": "1.2"}),
        ("Network.loadingFailed", {"requestId": "1.3", "errorText": "net::ERR_FAILED"}),
        ("Network.loadingFinished", {"requestId": "1.99"}),
        asks("1.5", "https://a.test/y", type="XHR", initiator={"type": "other"}),
    ):
        initiators.feed(method, params)
    assert initiators.requests == [
        PageRequest("https://a.test/", None, None),
        PageRequest("https://a.test/i", "https://a.test/", "image", in_memory=True),
        PageRequest("https://a.test/x", "https://a.test/b.js", "fetch", failure="net::ERR_FAILED"),
        PageRequest("https://a.test/y", None, "fetch"),
    ]


def test_text_from_the_network_can_be_stored() -> None:
    assert text("a\0b\ud800" + "c" * 1000) == "a\ufffdb\ufffd" + "c" * 251


LOGS = Path(__file__).parents[1] / "logs/devtools"
REAL = ["early-hints", "iframe-not-attached", "canceled-video", "missing-response"]
"""Events of real pages' sessions; logs/README.md has their source."""


def played(name: str) -> list[tuple[str, dict[str, Any]]]:
    lines = gzip.decompress((LOGS / f"cdp-{name}.jsonl.gz").read_bytes()).splitlines()
    return [(event["method"], event["params"]) for event in map(json.loads, lines)]


@pytest.mark.parametrize("name", REAL)
def test_a_real_pages_requests_are_complete_and_follow_their_initiators(name: str) -> None:
    events = played(name)
    initiators = Initiators()
    for method, params in events:
        initiators.feed(method, params)
    urls = [
        params["request"]["url"].partition("#")[0]
        for method, params in events
        if method == "Network.requestWillBeSent" and params["request"]["url"].startswith("http")
    ]
    assert [request.url for request in initiators.requests if request.resource_type != "websocket"] == urls
    known = [request for request in initiators.requests[1:] if request.initiator_url]
    assert len(known) >= len(initiators.requests) * 0.5
    seen = {initiators.requests[0].url}
    for request in initiators.requests[1:]:
        seen.add(request.url)
        assert (
            request.initiator_url is None or request.initiator_url in seen or "*" in request.initiator_url
        ), request


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(REAL), st.data())
def test_events_in_any_order_and_number_raise_nothing(name: str, data: st.DataObject) -> None:
    events = played(name)
    events = events[: data.draw(st.integers(0, len(events)))] * data.draw(st.integers(1, 2))
    data.draw(st.randoms(use_true_random=False)).shuffle(events)
    initiators = Initiators()
    for method, params in events:
        initiators.feed(method, params)
    asked = sum(method == "Network.requestWillBeSent" for method, _ in events)
    assert len(initiators.requests) <= asked + sum(
        method == "Network.webSocketCreated" for method, _ in events
    )


def test_a_redirects_target_has_the_initiator_of_the_request_that_was_redirected() -> None:
    initiators = Initiators()
    stack = {"callFrames": [{"url": "https://a.test/b.js"}]}
    initiators.feed(*asks("1.2", "https://a.test/x", initiator={"type": "script", "stack": stack}))
    at_the_parser = {"type": "parser", "url": "https://a.test/"}
    initiators.feed(
        *asks("1.2", "https://c.test/x", initiator=at_the_parser, redirectResponse={"status": 302})
    )
    assert [request.initiator_url for request in initiators.requests] == ["https://a.test/b.js"] * 2


def test_a_preflight_has_the_initiator_of_the_request_that_it_is_for() -> None:
    initiators = Initiators()
    initiators.feed(*asks("1.2", "https://c.test/x", initiator={"type": "parser", "url": "https://a.test/"}))
    preflight = {"type": "preflight", "url": "https://c.test/x", "requestId": "1.2"}
    initiators.feed(*asks("ABC", "https://c.test/x", type="Other", initiator=preflight))
    (_, request) = initiators.requests
    assert (request.initiator_url, request.resource_type) == ("https://a.test/", "preflight")


def test_a_preflight_reported_before_its_request_has_its_initiator() -> None:
    initiators = Initiators()
    preflight = {"type": "preflight", "url": "https://c.test/x", "requestId": "1.2"}
    initiators.feed(*asks("ABC", "https://c.test/x", type="Other", initiator=preflight))
    initiators.feed(*asks("1.2", "https://c.test/x", initiator={"type": "parser", "url": "https://a.test/"}))
    assert [request.initiator_url for request in initiators.requests] == ["https://a.test/"] * 2


def test_the_browsers_own_requests_for_scripts_are_of_workers() -> None:
    initiators = Initiators()
    initiators.feed(*asks("ABC", "https://a.test/worker.js", type="Script"))
    assert initiators.requests[0].resource_type == "worker"
    initiators.feed(*asks("1.2", "https://a.test/script.js", type="Script"))
    assert initiators.requests[1].resource_type == "script"


def test_a_websocket_has_an_initiator() -> None:
    initiators = Initiators()
    created = {
        "requestId": "1.3",
        "url": "wss://a.test/s",
        "initiator": {"type": "parser", "url": "https://a.test/"},
    }
    initiators.feed("Network.webSocketCreated", created)
    assert initiators.requests == [PageRequest("wss://a.test/s", "https://a.test/", "websocket")]
