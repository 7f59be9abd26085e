"""Every case of the zoo in every protocol: what the crawler stores is what the
server sent and the wire carried."""

import concurrent.futures
import functools
import itertools
from collections.abc import Callable, Iterable
from typing import TypeAlias

import pytest

from schema.http_caching import COLUMNS
from tests.circles import ALL
from tests.zoo import painting, table
from tests.zoo.bodies import VARIED
from tests.zoo.caching import HELD
from tests.zoo.case import PROTOCOLS
from tests.zoo.comparing import TRUNCATED_US, Visited
from tests.zoo.pages import PAGES
from tests.zoo.serving.namespace import in_namespace
from tests.zoo.serving.pcap import PORTS_USED_TWICE
from tests.zoo.serving.server import ANNOUNCED, MOVING

pytestmark = [pytest.mark.browser, pytest.mark.slow]

VISITED = PROTOCOLS if ALL else PROTOCOLS[1:]
"""Protocols of the visits: HTTP/1.1 in clear text differs from that within TLS by the records alone."""

AT_ONCE = 2
"""Protocols that are visited at a time, each in a namespace of its own with a server and a browser."""

LEAST_COVERAGE = 0.999
TOLERANCE_US = 2000
LEAST_CAPTURED = 0.8
"""Share of connections of which no packet was dropped, on a machine that does other things beside."""

PAINTS = ("first_paint_us", "first_contentful_paint_us", "largest_contentful_paint_us")

GROWN_KIB = 50 * 1024
"""Most memory that a body of 80 MB, or of 200 MB in `scripts/test --all`, may add to the crawler."""

Zoo: TypeAlias = dict[str, list[Visited]]


@pytest.fixture(scope="module")
def zoo() -> Zoo:
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        results = dict(zip(VISITED, pool.map(visit_all, VISITED), strict=True))
    table.save(result_of(results))
    return results


def visit_all(protocol: str) -> list[Visited]:
    """Visit all pages, once more if the kernel gave two connections the same ports, which tell them apart."""
    pages = {page.host: page for page in PAGES}
    visiting = functools.partial(in_namespace, "tests.zoo.visiting:visit_all", protocol, timeout_s=900)
    try:
        result = visiting()
    except AssertionError as exc:
        if PORTS_USED_TWICE not in str(exc):
            raise
        result = visiting()
    return [Visited(pages[seen["host"]], protocol, seen) for seen in result]


def result_of(zoo: Zoo) -> table.Result:
    return table.result(visit for visits in zoo.values() for visit in visits)


@pytest.fixture(params=VISITED)
def visits(request: pytest.FixtureRequest, zoo: Zoo) -> list[Visited]:
    return zoo[request.param]


def test_every_page_is_visited_to_its_end(visits: list[Visited]) -> None:
    for visit in visits:
        outcome, stop_reason = visit.seen["visit"]["outcome"], visit.seen["visit"]["stop_reason"]
        assert (outcome, stop_reason in visit.page.stop_reasons) == ("ok", True), (
            f"{visit}: {visit.seen['visit']}"
        )


@pytest.mark.parametrize(
    "differences",
    [
        Visited.wrong_responses,
        Visited.wrong_completeness,
        Visited.wrong_decoding,
        Visited.wrong_connections,
        Visited.wrong_packets,
        Visited.wrong_requests,
        Visited.wrong_records,
        Visited.wrong_initiators,
        Visited.wrong_order,
    ],
)
def test_a_visit_is_what_the_server_and_the_capture_saw(
    differences: Callable[[Visited], Iterable[str]], visits: list[Visited]
) -> None:
    wrong = sorted(itertools.chain.from_iterable(map(differences, visits)))
    assert not wrong, "\n".join(wrong)


def test_every_route_of_every_case_was_asked_for(visits: list[Visited]) -> None:
    for visit in visits:
        asked = {(row["host"], row["path"]) for row in visit.seen["responses"]}
        for case in visit.cases.values():
            wanted = {case.place(key, visit.page.host) for key in case.routes}
            assert wanted - asked <= {("unused.test", "/preconnect/x")}, f"{visit} {case.id}"


def test_most_connections_are_captured(visits: list[Visited]) -> None:
    rows = [row for visit in visits for row in visit.seen["connections"]]
    assert sum(row["packet_bytes"] is not None for row in rows) >= LEAST_CAPTURED * len(rows)


def test_all_bytes_that_came_are_accounted_for(visits: list[Visited]) -> None:
    for visit in visits:
        for kind in ("coverage", "decrypted_coverage"):
            assert LEAST_COVERAGE <= visit.seen["visit"][kind] <= 1, (
                f"{visit}: {kind} {visit.seen['visit'][kind]}"
            )


def test_caching_columns_are_those_of_the_header(visits: list[Visited]) -> None:
    (caching,) = (visit for visit in visits if visit.page.host == "caching.test")
    cases = {
        row["path"].rpartition("/")[2]: tuple(row[name] for name in COLUMNS)
        for row in caching.received.values()
        if caching.case_of(row) == "freshness"
    }
    assert cases == {name: columns for name, (_, columns) in HELD.items()}


def test_a_requests_body_has_its_length_and_other_requests_have_none(visits: list[Visited]) -> None:
    (bodies,) = (visit for visit in visits if visit.page.host == "bodies.test")
    sizes = {bodies.case_of(row): row["request_body_bytes"] for row in bodies.received.values()}
    assert {case: length for case, length in sizes.items() if length is not None} == {"upload": 40_000}


def test_bodies_are_decoded_with_the_dictionary_that_the_page_has(visits: list[Visited]) -> None:
    for visit in visits:
        if visit.page.host == "dictionaries.test":
            decoded = {row["content_encoding"]: row["decoded_bytes"] for row in visit.received.values()}
            assert (decoded["dcb"], decoded["dcz"]) == (len(VARIED), len(VARIED)), visit


def test_requests_are_as_urgent_and_as_blocking_as_the_page_says(visits: list[Visited]) -> None:
    (hurried,) = (visit for visit in visits if visit.page.host == "hurried.test")
    rows = {row["path"]: row for row in hurried.received.values()}
    blocking = {name: rows[f"/blocking/{name}"]["render_blocking"] for name in painting.BLOCKING}
    assert blocking == painting.BLOCKING
    assert rows["/"]["render_blocking"] is rows["/priority/high"]["render_blocking"] is None
    signals = {
        name: (rows[f"/priority/{name}"]["urgency"], rows[f"/priority/{name}"]["is_incremental"])
        for name in painting.SIGNALS
    }
    if hurried.protocol in ("h1", "h1tls"):  # without the header, but for the script's own
        assert signals == dict.fromkeys(painting.SIGNALS, (None, None)) | {"own": painting.SIGNALS["own"]}
    else:
        assert signals == painting.SIGNALS


def test_a_page_is_painted_after_what_blocks_it_and_largest_after_its_image(visits: list[Visited]) -> None:
    (hurried,) = (visit for visit in visits if visit.page.host == "hurried.test")
    (waiting,) = (visit for visit in visits if visit.page.host == "waiting.test")
    rows, visit = {row["path"]: row for row in hurried.received.values()}, hurried.seen["visit"]
    times = [rows["/blocking/sheet"]["last_byte_us"] - TRUNCATED_US, *(visit[name] for name in PAINTS)]
    assert times == sorted(times)
    assert rows["/painted/large"]["last_byte_us"] - TRUNCATED_US <= visit["largest_contentful_paint_us"]
    assert {waiting.seen["visit"][name] for name in PAINTS} == {None}


def test_server_delays_are_the_servers_own(visits: list[Visited]) -> None:
    (waiting,) = (visit for visit in visits if visit.page.host == "waiting.test")
    thought = []
    for where, row in waiting.received.items():
        if waiting.case_of(row) == "think-time":
            took_us = waiting.sent[where]["first_byte_us"] - waiting.sent[where]["request_received_us"]
            assert took_us >= int(row["path"].rpartition("/")[2]) * 1000
            assert row["server_delay_us"] + row["round_trip_us"] >= took_us - TRUNCATED_US
            # What a busy machine adds is waited for by the browser too.
            assert row["server_delay_us"] <= row["first_byte_us"] - row["request_sent_us"]
            thought.append(row["path"])
    assert len(thought) == 2 * len(painting.WAIT_MS)


def test_round_trips_are_shorter_than_the_handshakes_that_the_browser_saw(visits: list[Visited]) -> None:
    rows = [row for visit in visits for row in visit.seen["connections"]]
    for row in rows:
        took_us = row["connected_us"] - row["opened_us"] if row["protocol"] != "h3" else 10**6
        assert 0 <= row["round_trip_us"] <= took_us + TRUNCATED_US, row
    assert any(row["round_trip_us"] % 1000 for row in rows if row["protocol"] != "h3")  # by the packets


def test_times_are_the_servers_where_nothing_queues(visits: list[Visited]) -> None:
    (calm,) = (visit for visit in visits if visit.page.host == "calm.test")
    delays = [
        calm.delays(row, calm.sent[where])
        for where, row in calm.received.items()
        if calm.case_of(row) == "one-by-one"
    ]
    for name, these in zip(("request", "first byte", "last byte"), zip(*delays, strict=True), strict=True):
        print(f"{calm} {name}: {sorted(these)} us")
        # Not the largest nor the median: many wait for a machine that does other things beside.
        assert -TRUNCATED_US <= min(these) <= TOLERANCE_US, name


def test_a_large_body_takes_no_memory(zoo: Zoo) -> None:
    large = [visit for visits in zoo.values() for visit in visits if visit.page.host == "large.test"]
    assert large
    for visit in large:
        assert visit.seen["grown_kib"] < GROWN_KIB, f"{visit}"


def test_sessions_are_resumed_where_there_are_tickets(visits: list[Visited]) -> None:
    for visit in visits:
        if visit.page.host in ("resumed.test", "old.test"):
            resumed = [row["tls_resumed"] for row in visit.seen["connections"] if row["host"] == "other.test"]
            assert True in resumed, f"{visit}: {resumed}"


def test_a_refused_ticket_resumes_nothing(visits: list[Visited]) -> None:
    for visit in visits:
        if visit.page.host == "forgotten.test":
            resumed = [row["tls_resumed"] for row in visit.seen["connections"]]
            assert resumed == [False, False, False], visit


def test_a_page_that_learns_of_http3_goes_on_over_it(visits: list[Visited]) -> None:
    for visit in visits:
        if visit.page.host == ANNOUNCED:
            protocols = [row["protocol"] for row in visit.seen["responses"]]
            assert (protocols[0], protocols[-1]) == ("h2", "h3"), f"{visit}: {protocols}"


def test_a_connection_that_migrates_goes_on_from_another_port(visits: list[Visited]) -> None:
    for visit in visits:
        if visit.page.host == MOVING:
            (sent,) = visit.sent_connections.values()
            ports = {
                (port, client)
                for address, port, _, client, _ in visit.seen["truth"]["udp"]
                if address == sent["server_address"]
            }
            assert len(ports) == 2, visit
            (row,) = visit.seen["connections"]
            assert (row["packet_bytes"], row["initial_window_unknown"]) == (None, "not_captured")
