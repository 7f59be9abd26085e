"""Opens many connections at once, sends half a request on each,
and waits until all were closed by the other side.

python -m tests.firstflight.commands.besiege NUMBER http://127.0.0.1:PORT/
"""

import contextlib
import resource
import selectors
import socket
import sys
from urllib.parse import urlsplit

HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Half: "
DESCRIPTORS_BESIDES = 100


def main(number: int, address: str) -> None:
    """Say how many were opened, and how many the service has closed."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number + DESCRIPTORS_BESIDES, hard))
    parts = urlsplit(address)
    with selectors.DefaultSelector() as selector:
        for _ in range(number):
            connection = socket.create_connection((parts.hostname, parts.port or 80))
            connection.sendall(HALF)
            selector.register(connection, selectors.EVENT_READ)
        print(f"{number} half-sent", flush=True)
        while selector.get_map():
            for key, _ in selector.select():
                closed = key.fileobj
                assert isinstance(closed, socket.socket)
                with contextlib.suppress(ConnectionResetError):
                    assert closed.recv(1000) == b""
                selector.unregister(closed)
                closed.close()
    print(f"{number} closed")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
