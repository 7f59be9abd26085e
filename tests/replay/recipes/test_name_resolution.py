"""The resolver's time for the hosts of a page, from times of connections and responses."""

from typing import Any

from replay.recipes.page_recipe import resolver_delays

TRIP_US = 164_000


def connection(number: int, host: str, opened_us: int | None) -> dict[str, Any]:
    return {"id": number, "host": host, "opened_us": opened_us}


def response(number: int, began_us: int | None, *, first_byte_us: int = 1_000_000) -> dict[str, Any]:
    """A response of its own connection, led to by the first, which begins to arrive after a second."""
    return {
        "id": number,
        "connection_id": number,
        "redirected_from_id": None,
        "initiator_id": None if number == 1 else 1,
        "first_byte_us": first_byte_us,
        "browser_delay_first_byte_us": None if began_us is None else began_us - 1_000_000,
    }


def test_a_resolver_needs_what_goes_beyond_the_shortest_time_of_the_visit() -> None:
    connections = [
        connection(1, "document.test", 300_000),
        connection(2, "near.test", 1_010_000 + TRIP_US),
        connection(3, "far.test", 1_020_000 + TRIP_US + 90_000),
    ]
    responses = [response(1, None), response(2, 1_010_000), response(3, 1_020_000)]
    assert resolver_delays(connections, responses) == {"near.test": 0, "far.test": 90_000}


def test_an_address_is_known_if_the_first_packet_goes_at_once() -> None:
    connections = [connection(1, "document.test", 0), connection(2, "known.test", 1_010_000)]
    assert resolver_delays(connections, [response(1, None), response(2, 1_010_000)]) == {"known.test": None}


def test_the_first_connection_to_a_host_alone_tells() -> None:
    connections = [
        connection(1, "document.test", 0),
        connection(3, "other.test", 1_020_000 + TRIP_US),
        connection(2, "other.test", 1_500_000),
    ]
    responses = [response(1, None), response(2, 1_010_000), response(3, 1_020_000)]
    assert resolver_delays(connections, responses) == {"other.test": 0}


def test_hosts_of_which_nothing_is_known_are_left_out() -> None:
    connections = [
        connection(1, "document.test", 0),
        connection(2, "unseen.test", None),
        connection(3, "idle.test", 5),
    ]
    assert resolver_delays(connections, [response(1, None), response(2, 1_010_000)]) == {}
