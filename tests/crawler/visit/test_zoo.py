"""Every case of the zoo in every protocol: what the crawler stores is what the server sent and the wire carried."""

from __future__ import annotations

import concurrent.futures
import statistics
from typing import TYPE_CHECKING, TypeAlias

import pytest

from schema.http_caching import COLUMNS
from tests.zoo import table
from tests.zoo.caching import HELD
from tests.zoo.case import PROTOCOLS
from tests.zoo.comparing import Visited
from tests.zoo.pages import PAGES
from tests.zoo.serving.namespace import in_namespace

if TYPE_CHECKING:
    from collections.abc import Iterable

pytestmark = [pytest.mark.browser, pytest.mark.slow]

AT_ONCE = 2
"""Protocols that are visited at a time, each in a namespace of its own with a server and a browser."""

LEAST_COVERAGE = 0.999
TOLERANCE_US = 2000
LEAST_CAPTURED = 0.8
"""Share of connections of which no packet was dropped, on a machine that does other things beside."""

GROWN_KIB = 50 * 1024
"""Most memory that a body of 200 MB may add to the crawler."""

Zoo: TypeAlias = dict[str, list[Visited]]
"""All visits, by protocol."""


@pytest.fixture(scope="module")
def zoo() -> Zoo:
    """Visit all pages by every protocol."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        found = dict(zip(PROTOCOLS, pool.map(visit_all, PROTOCOLS), strict=True))
    table.save(result_of(found))
    return found


def visit_all(protocol: str) -> list[Visited]:
    pages = {page.host: page for page in PAGES}
    told = in_namespace("tests.zoo.visiting:visit_all", protocol, timeout_s=240)
    return [Visited(pages[seen["host"]], protocol, seen) for seen in told]


def result_of(zoo: Zoo) -> table.Result:
    return table.result(one for visits in zoo.values() for one in visits)


@pytest.fixture(params=PROTOCOLS)
def visits(request: pytest.FixtureRequest, zoo: Zoo) -> list[Visited]:
    """All visits by one protocol."""
    return zoo[request.param]


def told(wrong: Iterable[str]) -> str:
    return "\n".join(sorted(wrong))


def test_every_page_is_visited_to_its_end(visits: list[Visited]) -> None:
    for one in visits:
        outcome, stop_reason = one.seen["visit"]["outcome"], one.seen["visit"]["stop_reason"]
        assert (outcome, stop_reason in one.page.stop_reasons) == ("ok", True), f"{one}: {one.seen['visit']}"


def test_every_response_is_what_the_server_sent(visits: list[Visited]) -> None:
    assert not told(wrong for one in visits for wrong in one.wrong_responses())


def test_a_response_is_complete_if_all_that_the_server_sent_arrived(visits: list[Visited]) -> None:
    assert not told(wrong for one in visits for wrong in one.wrong_completeness())


def test_every_route_of_every_case_was_asked_for(visits: list[Visited]) -> None:
    for one in visits:
        asked = {(row["host"], row["path"]) for row in one.seen["responses"]}
        for case in one.cases.values():
            wanted = {case.place(key, one.page.host) for key in case.routes}
            assert wanted - asked <= {("unused.test", "/preconnect/x")}, f"{one} {case.id}"


def test_every_connection_is_what_the_server_and_the_capture_say(visits: list[Visited]) -> None:
    assert not told(wrong for one in visits for wrong in one.wrong_connections())


def test_packets_and_the_log_agree_on_connections_that_are_read_to_their_end(visits: list[Visited]) -> None:
    assert not told(wrong for one in visits for wrong in one.wrong_packets())
    rows = [row for one in visits for row in one.seen["connections"]]
    assert sum(row["packet_bytes"] is not None for row in rows) >= LEAST_CAPTURED * len(rows)


def test_all_bytes_that_came_are_accounted_for(visits: list[Visited]) -> None:
    for one in visits:
        for kind in ("coverage", "decrypted_coverage"):
            assert LEAST_COVERAGE <= one.seen["visit"][kind] <= 1, f"{one}: {kind} {one.seen['visit'][kind]}"


def test_an_initiator_is_right_or_unknown(visits: list[Visited]) -> None:
    assert not told(wrong for one in visits for wrong in one.wrong_initiators())


def test_nothing_comes_before_what_caused_it(visits: list[Visited]) -> None:
    assert not told(wrong for one in visits for wrong in one.wrong_order())


def test_caching_columns_are_those_of_the_header(visits: list[Visited]) -> None:
    (caching,) = (one for one in visits if one.page.host == "caching.test")
    found = {
        row["path"].rpartition("/")[2]: tuple(row[name] for name in COLUMNS)
        for row in caching.received.values()
        if caching.case_of(row) == "freshness"
    }
    assert found == {name: columns for name, (_, columns) in HELD.items()}


def test_a_requests_body_has_its_length_and_other_requests_have_none(visits: list[Visited]) -> None:
    (bodies,) = (one for one in visits if one.page.host == "bodies.test")
    found = {bodies.case_of(row): row["request_body_bytes"] for row in bodies.received.values()}
    assert {case: length for case, length in found.items() if length is not None} == {"upload": 40_000}


def test_times_are_the_servers_where_nothing_queues(visits: list[Visited]) -> None:
    (calm,) = (one for one in visits if one.page.host == "calm.test")
    delays = [
        calm.delays(row, calm.sent[where])
        for where, row in calm.received.items()
        if calm.case_of(row) == "one-by-one"
    ]
    for name, these in zip(("request", "first byte", "last byte"), zip(*delays, strict=True), strict=True):
        print(f"{calm} {name}: {sorted(these)} us")
        # Not the largest: some wait for a machine that does other things beside.
        assert abs(statistics.median(these)) <= TOLERANCE_US, name


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_large_body_takes_no_memory(protocol: str, zoo: Zoo) -> None:
    (large,) = (one for one in zoo[protocol] if one.page.host == "large.test")
    assert large.seen["grown_kib"] < GROWN_KIB


def test_sessions_are_resumed_where_there_are_tickets(visits: list[Visited]) -> None:
    for one in visits:
        if one.page.host in ("resumed.test", "old.test"):
            resumed = [row["tls_resumed"] for row in one.seen["connections"] if row["host"] == "other.test"]
            assert True in resumed, f"{one}: {resumed}"


def test_the_table_in_the_methods_is_what_was_found(zoo: Zoo) -> None:
    found = result_of(zoo)
    assert table.markdown(found) == table.committed(), "run python -m tests.zoo.table"
