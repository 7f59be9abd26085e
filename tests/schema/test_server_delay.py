"""Server delays from recorded times, with a server 30 ms away."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema.server_delay import FLIGHT_BYTES, Arrivals, fastest, server_delays, tcp_round_trips

Row = dict[str, Any]

TRIP_US = 30_000


def connection(id_: int = 1, *, trip_us: int = TRIP_US, opened_us: int = 0, **values: Any) -> Row:
    standard = {"protocol": "http/1.1", "remote_address": "192.0.2.1"}
    return {
        "id": id_,
        "opened_us": opened_us,
        "connected_us": opened_us + trip_us,
        **standard,
        **values,
    }


def response(
    id_: int,
    sent_us: int | None,
    first_us: int | None,
    last_us: int | None = None,
    connection_id: int | None = 1,
) -> Row:
    return {
        "id": id_,
        "connection_id": connection_id,
        "request_sent_us": sent_us,
        "first_byte_us": first_us,
        "last_byte_us": first_us if last_us is None else last_us,
    }


def delays_of(*responses: Row, connections: tuple[Row, ...] = (connection(),)) -> list[int | None]:
    return list(server_delays(connections, responses, tcp_round_trips(connections)).values())


def test_the_first_request_on_a_connection_waits_a_round_trip_and_the_server() -> None:
    assert delays_of(response(1, 30_000, 160_000)) == [100_000]


def test_connecting_and_tls_are_no_server_delay() -> None:
    after_tls = connection(opened_us=5_000, tls_version="TLS 1.3", secured_us=65_000)
    assert delays_of(response(1, 66_000, 116_000), connections=(after_tls,)) == [20_000]


def test_a_request_on_a_connection_in_use_waits_the_same_way() -> None:
    assert delays_of(response(1, 30_000, 60_000, 90_000), response(2, 90_000, 130_000)) == [0, 10_000]


def test_a_redirect_and_its_target_have_a_time_each() -> None:
    assert delays_of(response(1, 30_000, 65_000), response(2, 66_000, 126_000)) == [5_000, 30_000]


def test_the_quickest_handshake_with_an_address_is_its_round_trip() -> None:
    slow, quick = connection(1, trip_us=1_030_000), connection(2, opened_us=10_000)
    elsewhere = connection(3, trip_us=2_000, remote_address="192.0.2.2")
    responses = (
        response(1, 1_030_000, 1_080_000, connection_id=1),
        response(2, 40_000, 70_000, connection_id=2),
    )
    assert delays_of(*responses, connections=(slow, quick, elsewhere)) == [20_000, 0]


def test_an_answer_sooner_than_a_round_trip_has_no_delay() -> None:
    assert delays_of(response(1, 30_000, 59_000)) == [0]


def test_over_http2_streams_of_an_idle_connection_have_known_delays() -> None:
    h2 = connection(protocol="h2")
    responses = (response(1, 30_000, 160_000, 170_000), response(2, 30_000, 180_000, 190_000))
    assert delays_of(*responses, connections=(h2,)) == [100_000, 120_000]


@pytest.mark.parametrize("ended_us", [160_000, 200_000, None])
def test_over_http2_the_delay_of_a_response_that_began_during_another_is_unknown(
    ended_us: int | None,
) -> None:
    h2 = connection(protocol="h2")
    other = {**response(1, 30_000, 100_000), "last_byte_us": ended_us}
    assert delays_of(other, response(2, 40_000, 160_000), connections=(h2,)) == [40_000, None]


def test_responses_on_another_connection_do_not_matter() -> None:
    two = (connection(1, protocol="h2"), connection(2, protocol="h2"))
    responses = (response(1, 30_000, 100_000, 200_000), response(2, 40_000, 160_000, connection_id=2))
    assert delays_of(*responses, connections=two) == [40_000, 90_000]


def test_the_delay_of_a_request_of_more_than_a_flight_is_unknown() -> None:
    responses = [
        {**response(number, 30_000, 160_000, connection_id=number), "request_body_bytes": size}
        for number, size in enumerate((None, FLIGHT_BYTES, FLIGHT_BYTES + 1), start=1)
    ]
    assert delays_of(*responses, connections=tuple(map(connection, (1, 2, 3)))) == [
        100_000,
        100_000,
        None,
    ]


def test_the_handshake_of_quic_is_no_tcp_round_trip() -> None:
    assert delays_of(response(1, 30_000, 160_000), connections=(connection(protocol="h3"),)) == [None]


def test_round_trips_of_tcp_and_quic_to_one_address_are_kept_apart() -> None:
    connections = (connection(1), connection(2, protocol="h3"), connection(3, protocol="h3"), connection(4))
    trips = fastest(connections, {1: 9_000, 2: 30_000, 3: 20_000, 4: None})
    assert trips == {1: 9_000, 2: 20_000, 3: 20_000, 4: 9_000}
    assert server_delays(connections, [response(1, 0, 50_000, connection_id=2)], trips) == {1: 30_000}


@pytest.mark.parametrize(
    "lacking",
    [response(1, None, 160_000), response(1, 30_000, None), response(1, 30_000, 160_000, None, None)],
)
def test_without_times_or_a_connection_it_is_unknown(lacking: Row) -> None:
    assert delays_of(lacking) == [None]


@given(
    st.lists(st.tuples(st.none() | st.integers(0, 20), st.none() | st.integers(0, 20))), st.integers(0, 20)
)
def test_a_response_is_arriving_between_its_first_and_its_last_byte(
    times: list[tuple[int | None, int | None]], at_us: int
) -> None:
    responses = [{"first_byte_us": first, "last_byte_us": last} for first, last in times]
    by_definition = any(
        first is not None and first < at_us and (last is None or at_us <= last) for first, last in times
    )
    assert Arrivals(responses).any_at(at_us) == by_definition
