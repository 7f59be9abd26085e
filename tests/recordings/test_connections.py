"""Rebuilt connections: who opened them, who shares them, and what times follow."""

from __future__ import annotations

from recordings.connections import COALESCED, OPENED, REUSED, UNSEEN, RebuiltTraffic
from recordings.connections import rebuild as rebuild_of
from studies.recorded_pages.request import RequestFacts
from tests.factories.recorded_pages import document, requests, row

MS = 1000


def rebuild(given: list[RequestFacts]) -> RebuiltTraffic:
    return rebuild_of([request.network_request for request in given if request.crossed_network])


def test_a_connect_time_opens_a_connection_and_the_origin_shares_it_over_h2() -> None:
    traffic = rebuild(requests(document(), row(1, started_ms=300.0), row(2, started_ms=300.0)))
    assert traffic.rules == {0: OPENED, 1: REUSED, 2: REUSED}
    (connection,) = traffic.connections
    assert [request.entry for request in connection.requests] == [0, 1, 2]
    assert (connection.opened_us, connection.connected_us, connection.ready_us) == (5 * MS, 45 * MS, 105 * MS)


def test_a_request_is_sent_when_its_connection_is_ready() -> None:
    opener = row(1, started_ms=300.0, origin=1, address=1, dns_ms=5.0, connect_ms=100.0, ssl_ms=60.0)
    traffic = rebuild(requests(document(), opener, row(2, started_ms=310.0, origin=1, address=1)))
    assert [traffic.times[entry].sent_us for entry in (0, 1, 2)] == [105 * MS, 405 * MS, 405 * MS]
    assert (traffic.times[2].first_us, traffic.times[2].last_us) == (505 * MS, 515 * MS)


def test_another_origin_at_the_same_address_is_coalesced_over_the_same_protocol_only() -> None:
    rows = [
        document(),
        row(1, started_ms=300.0, origin=1),
        row(2, started_ms=300.0, origin=2, protocol="h3", tls="QUIC"),
        row(3, started_ms=300.0, origin=3, address=1),
        row(4, started_ms=300.0, origin=4, address=None),
    ]
    traffic = rebuild(requests(*rows))
    assert traffic.rules == {0: OPENED, 1: COALESCED, 2: UNSEEN, 3: UNSEEN, 4: UNSEEN}
    assert len(traffic.connections) == 4


def test_fonts_have_the_connection_that_was_opened_without_credentials() -> None:
    anonymous = row(1, started_ms=300.0, destination="font", dns_ms=0.0, connect_ms=90.0, ssl_ms=50.0)
    later = [row(2, started_ms=900.0), row(3, started_ms=900.0, destination="font")]
    traffic = rebuild(requests(document(), anonymous, *later))
    assert [[request.entry for request in each.requests] for each in traffic.connections] == [[0, 2], [1, 3]]


def test_over_http1_a_socket_has_one_request_at_a_time_and_the_one_that_was_used_last_is_taken() -> None:
    h1 = {"protocol": "http/1.1"}
    second = row(1, started_ms=300.0, dns_ms=0.0, connect_ms=100.0, ssl_ms=60.0, **h1)
    rows = [document(**h1), second, row(2, started_ms=600.0, **h1), row(3, started_ms=600.0, **h1)]
    traffic = rebuild(requests(*rows))
    assert [[request.entry for request in each.requests] for each in traffic.connections] == [[0, 3], [1, 2]]


def test_over_http1_a_request_waits_for_a_socket_that_is_soon_idle() -> None:
    h1 = {"protocol": "http/1.1"}
    traffic = rebuild(requests(document(**h1), row(1, started_ms=200.0, **h1)))  # the document ends at 215 ms
    assert traffic.rules[1] == REUSED
    assert traffic.times[1].sent_us == 215 * MS


def test_over_http1_six_connections_are_the_most() -> None:
    h1 = {"protocol": "http/1.1", "receive_ms": 5000.0}
    traffic = rebuild(
        requests(document(**h1), *(row(entry, started_ms=210.0, **h1) for entry in range(1, 12)))
    )
    assert len(traffic.connections) == 6


def test_what_a_cache_answered_or_never_came_has_no_connection() -> None:
    cached = row(1, transfer_bytes=None, destination=None, har_body_size=-300, har_headers_size=300)
    failed = row(2, status=None, transfer_bytes=None)
    traffic = rebuild(requests(document(), cached, failed))
    assert traffic.rules.keys() == traffic.times.keys() == {0}
