"""TCP connections whose round trips the kernel tells;
each function is called in a network namespace of its own."""

import contextlib
import socket
import struct
import time
from collections.abc import Iterator

from crawler.capture.capture import HANDED_OVER_MS, capture_loopback
from crawler.capture.packets import pack_end
from crawler.capture.tcp_info import MIN_RTT_AT, SmallestRoundTrips, open_tcp_info
from tests.crawler.capture.loopback import SETTLED_S


@contextlib.contextmanager
def open_round_trips() -> Iterator[SmallestRoundTrips]:
    with open_tcp_info() as kernel:
        yield SmallestRoundTrips(kernel)


class Pair:
    """A connection over loopback on which some bytes were sent and acknowledged."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.create_server((host, port), family=family) as listening:
            self.since_ns = time.monotonic_ns()
            self.client = socket.create_connection(listening.getsockname()[:2])
            self.handshake_us = (time.monotonic_ns() - self.since_ns) // 1000
            self.server, _ = listening.accept()
        self.local, self.remote = self.client.getsockname()[:2], self.client.getpeername()[:2]
        self.ends = pack_end(*self.local), pack_end(*self.remote)
        for _ in range(3):
            self.client.sendall(b"asked")
            self.server.recv(5)
            self.server.sendall(b"told")
            self.client.recv(4)

    @property
    def own_us(self) -> int:
        info = self.client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        return int(struct.unpack_from("=I", info, MIN_RTT_AT)[0])

    def close(self) -> None:
        """End the connection from the client's end, whose socket is then destroyed in favour of TIME_WAIT."""
        self.client.close()
        self.server.close()


def living(host: str) -> dict[str, int | None]:
    with open_round_trips() as trips:
        pair = Pair(host)
        connection = trips.take(*pair.ends, since_ns=pair.since_ns)
        return {"asked": connection, "own": pair.own_us, "handshake_us": pair.handshake_us}


def ended(host: str) -> list[int | None]:
    with open_round_trips() as trips:
        pair = Pair(host)
        own = pair.own_us
        pair.close()
        time.sleep(SETTLED_S)
        return [own, *(trips.take(*pair.ends, since_ns=pair.since_ns) for _ in range(2))]


def earlier() -> int | None:
    with open_round_trips() as trips:
        pair = Pair()
        pair.close()
        time.sleep(SETTLED_S)
        trips.drain()
        return trips.take(*pair.ends, since_ns=time.monotonic_ns())


def unknown() -> list[int | None]:
    with open_round_trips() as trips:
        return [
            trips.take(pack_end(host, 4711), pack_end(host, 80), since_ns=0)
            for host in ("198.18.0.1", "2001:db8::1")
        ]


def many(count: int, *, drained_every: int) -> dict[str, int | None]:
    """Reports that are kept of both ends of `count` connections,
    and the round trip of a connection after them."""
    with open_round_trips() as trips:
        for number in range(1, count + 1):
            Pair().close()
            if not number % drained_every:
                time.sleep(SETTLED_S)
                trips.drain()
        pair = Pair()
        return {"kept": len(trips._destroyed), "after": trips.take(*pair.ends, since_ns=pair.since_ns)}


def kept(count: int) -> dict[str, int | None]:
    return many(count, drained_every=100)


def lost(count: int) -> dict[str, int | None]:
    return many(count, drained_every=count)


def captured() -> list[int | None]:
    with capture_loopback() as capture:
        assert capture is not None
        pair = Pair()
        own = pair.own_us
        pair.close()
        time.sleep(HANDED_OVER_MS / 1000)
        connection = capture.take(pair.local, pair.remote)
        return [own, None if connection is None else connection.min_rtt_us]
