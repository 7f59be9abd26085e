"""A capture has each connection of its namespace, for several threads at a time."""

from crawler.capture.capture import open_capture
from tests.zoo.serving.namespace import in_namespace

SOCKETS = "tests.crawler.capture.sockets"


def test_several_threads_take_their_connections_from_one_capture() -> None:
    assert in_namespace(f"{SOCKETS}:at_once", 8, 4_000_000) == [4_000_000] * 8


def test_a_connection_can_be_taken_once_and_others_are_unknown() -> None:
    assert in_namespace(f"{SOCKETS}:taken_twice") == [1000, None, None]


def test_packets_that_are_still_to_come_are_known_to_be() -> None:
    assert in_namespace(f"{SOCKETS}:still_to_come") == {"behind": [False, True, False], "came": 1000}


def test_a_connection_that_no_browsers_log_names_is_counted_where_only_browsers_are() -> None:
    assert in_namespace(f"{SOCKETS}:unnamed") == {
        "named by its own log": 0,
        "named by another log": 0,
        "named by none": 1000,
        "counted before": 0,
        "too young to be named by another log": 0,
        "among others": 0,
    }


def test_without_a_socket_there_is_no_capture() -> None:
    with open_capture(None) as capture:
        assert capture is None
