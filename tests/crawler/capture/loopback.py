"""TCP over loopback, captured; each function is called in a network namespace of its own."""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from crawler.capture.connections import CapturedConnection, CapturedConnections
from crawler.capture.packets import pack_end
from crawler.capture.ring import BLOCK_BYTES, Ring, open_socket

MIB = 1024 * 1024
WAIT_S = 60.0
SETTLED_S = 0.2
"""Time after which all blocks are handed over."""
DATA_SEGMENTS_IN = 152
"""Where `tcpi_data_segs_in` is in `struct tcp_info` (linux/tcp.h)."""
PATTERN = b"never in a ring" * (MIB // 15)


@contextlib.contextmanager
def captured(*, blocks: int | None = None) -> Iterator[Ring]:
    with open_socket("lo") as capture:
        ring = Ring(capture) if blocks is None else Ring(capture, blocks=blocks)
        yield ring
        ring.close()


class Download:
    """`size` bytes sent and read by threads."""

    def __init__(self, host: str, size: int) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.size = size
        with socket.create_server((host, 0), family=family) as listening:
            self.client = socket.create_connection(listening.getsockname()[:2])
            self.server, _ = listening.accept()
        local, remote = self.client.getsockname()[:2], self.client.getpeername()[:2]
        self.ends = pack_end(*local), pack_end(*remote)
        self._threads = [threading.Thread(target=target) for target in (self._send, self._receive)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        for thread in self._threads:
            thread.join(WAIT_S)
        info = self.client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        self.segments: int = struct.unpack_from("=I", info, DATA_SEGMENTS_IN)[0]
        """Segments with payload that the client's kernel received."""
        self.client.close()

    def _send(self) -> None:
        with self.server:
            for at in range(0, self.size, len(PATTERN)):
                self.server.sendall(PATTERN[: self.size - at])

    def _receive(self) -> None:
        buffer = bytearray(MIB)
        while self.client.recv_into(buffer):
            pass


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "late"


def shape(mtu: int, largest: int, segments: int) -> None:
    """Set loopback's MTU, and the most bytes and segments in a packet before segmentation
    (rtnetlink(7), linux/if_link.h).

    iproute2 cannot set the largest of IPv4 before its version 6.3.
    """
    numbers = {
        4: mtu,
        40: segments,
        41: largest,
        63: largest,
    }  # MTU, GSO_MAX_SEGS, GSO_MAX_SIZE, GSO_IPV4_MAX_SIZE
    attributes = b"".join(struct.pack("=HHI", 8, kind, value) for kind, value in numbers.items())
    link = struct.pack("=BxHiII", socket.AF_UNSPEC, 0, socket.if_nametoindex("lo"), 0, 0) + attributes
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
        kernel.send(struct.pack("=IHHII", 16 + len(link), 16, 5, 1, 0) + link)  # RTM_NEWLINK; REQUEST, ACK
        (error,) = struct.unpack_from("=i", kernel.recv(4096), 16)
    assert not error, f"loopback cannot be shaped: error {-error}"


def download(host: str, size: int, *shaped: int) -> dict[str, Any]:
    shape(*shaped)
    connections = CapturedConnections()
    largest = segments = 0
    with captured() as ring:
        began_ns = time.monotonic_ns()
        going = Download(host, size)
        going.end()
        time.sleep(SETTLED_S)
        for packet in ring.packets():
            connections.feed(packet)
            if packet.source == going.ends[1]:
                largest = max(largest, packet.payload_bytes)
                segments += packet.segments if packet.payload_bytes else 0
        connection = connections.take(*going.ends)
        assert connection is not None
        return {
            "bytes": connection.received_bytes,
            "largest": largest,
            "segments": segments,
            "received": going.segments,
            "mss": connection.packets[0].mss,
            "flags": [packet.flags for packet in connection.packets[:3]],
            "in time": began_ns <= connection.began_ns <= (connection.last_ns or 0) <= time.monotonic_ns(),
            "dropped": ring.count_dropped(),
        }


def protocols() -> list[str]:
    """IP versions and protocols in a capture while UDP, ICMP and TCP were sent."""
    with captured() as ring:
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            with socket.socket(family, socket.SOCK_DGRAM) as datagrams:  # nobody listens: ICMP answers
                datagrams.sendto(b"datagram", (host, 9))
            Download(host, 1).end()
        time.sleep(SETTLED_S)
        return sorted(
            {f"{len(packet.source)}/{packet.protocol}/{packet.payload_bytes}" for packet in ring.packets()}
        )


def content() -> bool:
    with captured() as ring:
        Download("127.0.0.1", 10 * MIB).end()
        Download("::1", 10 * MIB).end()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            datagrams.sendto(PATTERN[:1000], ("127.0.0.1", 9))
        time.sleep(SETTLED_S)
        return PATTERN[:4] in bytes(ring.memory)


def latency() -> list[float]:
    """Seconds between a client's read of a byte and its arrival in the ring."""
    collected = []
    with captured() as ring:
        for _ in range(20):
            Download("127.0.0.1", 1).end()
            read = time.monotonic()
            until(lambda: any(packet.payload_bytes for packet in ring.packets()))
            collected.append(time.monotonic() - read)
            time.sleep(0.05)
            list(ring.packets())
    return collected


def overflow() -> dict[str, Any]:
    shape(1500, 65_536, 1)

    def drain(ring: Ring) -> CapturedConnections:
        time.sleep(SETTLED_S)
        connections = CapturedConnections()
        for packet in ring.packets():
            connections.feed(packet)
        return connections

    def fetch(ring: Ring, size: int) -> tuple[int, CapturedConnection | None]:
        download = Download("127.0.0.1", size)
        download.end()
        connection = drain(ring).take(*download.ends)
        return ring.count_dropped(), connection

    with captured(blocks=2) as ring:
        before = ring.count_dropped()
        dropped, broken = fetch(ring, 5 * MIB)
        again, whole = fetch(ring, 1000)
    assert broken is not None
    assert whole is not None
    received = broken.received_bytes
    broken.is_lost = True
    return {
        "before": before,
        "dropped": dropped,
        "fewer": received is not None and received < 5 * MIB,
        "lost": broken.received_bytes,
        "again": again,
        "whole": whole.received_bytes,
    }


def too_large() -> dict[str, Any]:
    """A download in packets larger than a block of the ring."""
    return download("127.0.0.1", 20 * MIB, 65_536, 500_000, 65_535) | {"block": BLOCK_BYTES}
