"""A capture has each connection of its namespace, for several threads at a time."""

from crawler.capture.capture import capturing
from tests.zoo.serving.namespace import in_namespace

SOCKETS = "tests.crawler.capture.sockets"


def test_several_threads_take_their_connections_from_one_capture() -> None:
    assert in_namespace(f"{SOCKETS}:at_once", 8, 4_000_000) == [4_000_000] * 8


def test_a_connection_can_be_taken_once_and_others_are_unknown() -> None:
    assert in_namespace(f"{SOCKETS}:taken_twice") == [1000, None, None]


def test_without_a_socket_there_is_no_capture() -> None:
    with capturing(None) as capture:
        assert capture is None
