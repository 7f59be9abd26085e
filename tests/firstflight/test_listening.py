import socket

import pytest

from firstflight.listening import listen

WITHIN_S = 60


def test_a_client_that_takes_nothing_of_what_is_sent_is_let_go_of_by_the_kernel() -> None:
    with (
        listen("127.0.0.1", 0, stalled_ms=300) as listening,
        socket.create_connection(listening.getsockname()),
    ):
        connection, _ = listening.accept()
        connection.settimeout(WITHIN_S)
        with connection, pytest.raises((TimeoutError, ConnectionError)) as caught:
            connection.sendall(bytes(100_000_000))
    assert caught.value.errno is not None  # the kernel's, not that of our own patience
