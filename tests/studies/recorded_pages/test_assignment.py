"""What is assigned to pages that were recorded through a proxy: by rule, and against known protocols."""

import collections
from pathlib import Path

import pytest

from recordings.connections import OPENED, REUSED
from studies.recorded_pages.assignment import (
    CLEAR,
    ELSEWHERE,
    OFFERED,
    SECURE,
    assign,
    assigned_traffic,
    protocols_of,
)
from studies.recorded_pages.facts import PageFacts, read_pages
from studies.recorded_pages.request import RequestFacts, sizes_of
from tests.factories.recorded_pages import document, requests, row

PROXY = {"protocol": "http/1.1", "tls": None}

FIGURES = Path(__file__).parent / "tranco-2025-11"
"""23 pages of Tranco's first 100 of November 2025, whose protocols are known; heavy pages are missing."""


def test_an_origin_speaks_what_its_host_spoke_elsewhere_whatever_it_offers() -> None:
    known = row(1, origin=1, protocol_elsewhere="h2", offers_h3=True, **PROXY)
    assert protocols_of(requests(document(**PROXY), known))[1] == ("h2", ELSEWHERE)


def test_an_origin_that_offers_http3_in_any_response_speaks_it() -> None:
    offering = row(2, origin=1, offers_h3=True, **PROXY)
    protocols = protocols_of(requests(document(**PROXY), row(1, origin=1, **PROXY), offering))
    assert protocols == {0: ("h2", SECURE), 1: ("h3", OFFERED)}


def test_without_tls_an_origin_speaks_http1_whatever_its_host_spoke() -> None:
    clear = row(0, scheme="http", protocol_elsewhere="h2", offers_h3=True, **PROXY)
    assert protocols_of(requests(clear)) == {0: ("http/1.1", CLEAR)}


def test_the_first_request_of_an_origin_opens_its_one_connection() -> None:
    """Through the proxy each of the three opened one."""
    handshakes = {"dns_ms": 5.0, "connect_ms": 100.0, "ssl_ms": 60.0}
    given = requests(
        document(**PROXY),
        row(1, started_ms=300.0, **handshakes, **PROXY),
        row(2, started_ms=301.0, **handshakes, **PROXY),
    )
    traffic = assigned_traffic(given, assign(given))
    assert traffic.rules == {0: OPENED, 1: REUSED, 2: REUSED}
    (connection,) = traffic.connections
    assert (connection.protocol, connection.opener) == ("h2", connection.requests[0])


def test_over_http1_connections_are_those_through_the_proxy() -> None:
    handshakes = {"dns_ms": 5.0, "connect_ms": 100.0, "ssl_ms": 60.0, "protocol_elsewhere": "http/1.1"}
    given = requests(document(**PROXY, protocol_elsewhere="http/1.1"), row(1, **handshakes, **PROXY))
    assert len(assigned_traffic(given, assign(given)).connections) == 2


def test_times_are_those_through_the_proxy_also_without_the_handshakes() -> None:
    handshakes = {"dns_ms": 5.0, "connect_ms": 100.0, "ssl_ms": 60.0}
    given = requests(document(**PROXY), row(1, started_ms=300.0, **handshakes, **PROXY))
    times = assigned_traffic(given, assign(given)).times[1]
    assert (times.sent_us, times.first_us, times.last_us) == (405_000, 505_000, 515_000)


def test_a_response_through_a_proxy_has_its_body_and_the_headers_text_whatever_is_assigned() -> None:
    (request,) = requests(row(0, transfer_bytes=1700, body_bytes=1000, offers_h3=True, **PROXY))
    for of_request in (request, *assign([request])):
        sizes = sizes_of(of_request)
        assert (sizes.wire_bytes, sizes.header_bytes, sizes.body_bytes) == (1700, 700, 1000)


@pytest.fixture(scope="module")
def pages() -> list[PageFacts]:
    return list(read_pages(FIGURES))


def test_the_figures_are_those_that_others_counted(pages: list[PageFacts]) -> None:
    every = [request for page in pages for request in page.requests]
    protocols = collections.Counter(request.protocol for request in every)
    assert (len(pages), protocols["h2"], protocols["h3"], protocols["http/1.1"]) == (23, 604, 118, 158)
    sizes = [request.transfer_bytes for request in every if request.transfer_bytes is not None]
    assert sum(size <= 14_480 for size in sizes) / len(sizes) == pytest.approx(0.615, abs=0.0005)


RIGHT = {ELSEWHERE: 0.67, OFFERED: 0.40, SECURE: 0.93}
"""Share of requests to which the rule's protocol was spoken. Chromium speaks HTTP/3 to many hosts only once
it knows that they offer it, and the pages of August 2025 were loaded elsewhere."""


def test_three_in_four_requests_are_assigned_the_protocol_that_was_spoken(pages: list[PageFacts]) -> None:
    right: dict[str, list[bool]] = collections.defaultdict(list)
    for page in pages:
        protocols = protocols_of(page.requests)
        for request in page.requests:
            if request.crossed_network:
                spoken, rule = protocols[request.origin]
                right[rule].append(spoken == request.protocol)
    for rule, share in RIGHT.items():
        assert sum(right[rule]) / len(right[rule]) == pytest.approx(share, abs=0.01)
    every = [is_right for of_rule in right.values() for is_right in of_rule]
    assert sum(every) / len(every) == pytest.approx(0.75, abs=0.01)


def test_a_page_with_too_many_unanswered_requests_is_not_whole(pages: list[PageFacts]) -> None:
    def share(given: list[RequestFacts]) -> float:
        return sum(request.status is None for request in given) / len(given)

    assert {page.is_whole for page in pages} == {True, False}
    for page in pages:
        assert page.is_whole == (share(page.requests) <= 0.1)
