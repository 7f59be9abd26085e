"""Requests have the initiators and types that the page reports."""

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.devtools.events import EVENTS, DevToolsEvent, RequestSent, WebSocketCreated
from crawler.devtools.initiators import Initiators, PageRequest
from crawler.visit.row_values import text


def event(method: str, **params: Any) -> DevToolsEvent:
    return msgspec.convert(params, EVENTS[method])


def asks(number: str, url: str, **fields: Any) -> DevToolsEvent:
    return event("Network.requestWillBeSent", requestId=number, request={"url": url}, **fields)


def fed(*events: DevToolsEvent) -> Initiators:
    initiators = Initiators()
    for given_event in events:
        initiators.feed(given_event)
    return initiators


def test_initiators_come_from_parsers_and_stacks() -> None:
    stack = {"callFrames": [{"url": ""}], "parent": {"callFrames": [{"url": "https://a.test/b.js"}]}}
    initiators = fed(
        asks("ABC", "https://a.test/#top", type="Document", initiator={"type": "other"}),
        asks("1.2", "https://a.test/i", type="Image", initiator={"type": "parser", "url": "https://a.test/"}),
        asks("1.3", "https://a.test/x", type="XHR", initiator={"type": "script", "stack": stack}),
        asks("1.4", "data:text/plain,x", type="Image", initiator={}),
        event("Network.requestServedFromCache", requestId="1.2"),
        event("Network.loadingFinished", requestId="1.2"),
        event("Network.loadingFailed", requestId="1.3", errorText="net::ERR_FAILED"),
        event("Network.loadingFinished", requestId="1.99"),
        asks("1.5", "https://a.test/y", type="XHR", initiator={"type": "other"}),
    )
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


def played(name: str) -> list[DevToolsEvent]:
    lines = gzip.decompress((LOGS / f"cdp-{name}.jsonl.gz").read_bytes()).splitlines()
    return [event(message["method"], **message["params"]) for message in map(json.loads, lines)]


@pytest.mark.parametrize("name", REAL)
def test_a_real_pages_requests_are_complete_and_follow_their_initiators(name: str) -> None:
    events = played(name)
    initiators = fed(*events)
    urls = [
        sent.request.url.partition("#")[0]
        for sent in events
        if isinstance(sent, RequestSent) and sent.request.url.startswith("http")
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
    asked = sum(isinstance(asking, RequestSent | WebSocketCreated) for asking in events)
    assert len(fed(*events).requests) <= asked


PARSER = {"type": "parser", "url": "https://a.test/"}
PREFLIGHT = {"type": "preflight", "url": "https://c.test/x", "requestId": "1.2"}


def test_a_redirects_target_has_the_initiator_of_the_request_that_was_redirected() -> None:
    script = {"type": "script", "stack": {"callFrames": [{"url": "https://a.test/b.js"}]}}
    initiators = fed(
        asks("1.2", "https://a.test/x", initiator=script),
        asks("1.2", "https://c.test/x", initiator=PARSER, redirectResponse={"status": 302}),
    )
    assert [request.initiator_url for request in initiators.requests] == ["https://a.test/b.js"] * 2


@pytest.mark.parametrize("order", [1, -1])
def test_a_preflight_has_the_initiator_of_the_request_that_it_is_for(order: int) -> None:
    """Whichever of both is reported first."""
    asking = asks("1.2", "https://c.test/x", initiator=PARSER)
    preflight = asks("ABC", "https://c.test/x", type="Other", initiator=PREFLIGHT)
    initiators = fed(*[asking, preflight][::order])
    assert [request.initiator_url for request in initiators.requests] == ["https://a.test/"] * 2
    assert [request.resource_type for request in initiators.requests][::order] == [None, "preflight"]


def test_the_browsers_own_requests_for_scripts_are_of_workers() -> None:
    initiators = fed(
        asks("ABC", "https://a.test/worker.js", type="Script"),
        asks("1.2", "https://a.test/script.js", type="Script"),
    )
    assert [request.resource_type for request in initiators.requests] == ["worker", "script"]


def test_a_websocket_has_an_initiator() -> None:
    created = event("Network.webSocketCreated", requestId="1.3", url="wss://a.test/s", initiator=PARSER)
    assert fed(created).requests == [PageRequest("wss://a.test/s", "https://a.test/", "websocket")]
