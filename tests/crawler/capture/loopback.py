"""TCP over loopback, captured; each function is called in a network namespace of its own."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import select
import socket
import struct
import threading
import time
from typing import TYPE_CHECKING, Any

from crawler.capture.ring import BLOCK_BYTES, RETURN, SO_ATTACH_FILTER, Ring, open_socket
from crawler.capture.segments import flow, segment
from crawler.capture.tcp_reassembly import TcpReassembler, TcpStream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MIB = 1024 * 1024
WAIT_S = 10.0
SETTLED_S = 0.2
"""Time after which all blocks are handed over."""
HEAD_BYTES = 80
"""First bytes of a packet, with the timestamp (RFC 7323) that tells it from its repetitions."""
PATTERN = b"".join(struct.pack("!I", n) for n in range(MIB // 4))
"""Bytes without repetition, cheap to send."""


@contextlib.contextmanager
def captured(*, blocks: int | None = None) -> Iterator[Ring]:
    with open_socket("lo") as capture:
        ring = Ring(capture) if blocks is None else Ring(capture, blocks=blocks)
        yield ring
        ring.close()


class Download:
    """`size` bytes sent and read by threads; `room` counts the MiB that the ring can take."""

    def __init__(self, host: str, size: int) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.size = size
        self.read = hashlib.sha256()
        self.room = threading.Semaphore(32)
        with socket.create_server((host, 0), family=family) as listening:
            self.client = socket.create_connection(listening.getsockname()[:2])
            self.server, _ = listening.accept()
        local, remote = self.client.getsockname()[:2], self.client.getpeername()[:2]
        self.flow = flow(local, remote)
        self._threads = [threading.Thread(target=one) for one in (self._send, self._receive)]
        for thread in self._threads:
            thread.start()

    @property
    def is_going_on(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    def end(self) -> None:
        for thread in self._threads:
            thread.join(WAIT_S)
        self.client.close()

    def _send(self) -> None:
        with self.server:
            for at in range(0, self.size, MIB):
                self.room.acquire()
                self.server.sendall(PATTERN[: min(MIB, self.size - at)])

    def _receive(self) -> None:
        buffer = bytearray(MIB)
        while size := self.client.recv_into(buffer):
            self.read.update(memoryview(buffer)[:size])


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "late"


def shape(mtu: int, largest: int, segments: int) -> None:
    """Set loopback's MTU, and the most bytes and segments in a packet before segmentation (rtnetlink(7), linux/if_link.h).

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
    """A download as the client reads it, and as the capture has it, at the same time."""
    shape(*shaped)
    streams, taken = TcpReassembler(), hashlib.sha256()
    heads: list[bytes] = []
    largest = total = 0
    stream: TcpStream | None = None
    with captured() as ring:
        going = Download(host, size)
        while total < size and select.select([ring], [], [], WAIT_S)[0]:
            for packet in ring.packets():
                found = segment(packet)
                assert found is not None
                streams.feed(found)
                if found.flow == going.flow and found.payload:
                    heads.append(bytes(packet[:HEAD_BYTES]))
                    largest = max(largest, len(packet))
            stream = stream or streams.claim(going.flow)
            if stream and stream.unread:
                before, total = total, total + stream.unread
                taken.update(stream.take(stream.unread) or b"")
                for _ in range(total // MIB - before // MIB):
                    going.room.release()
        going.end()
        dropped = ring.dropped()
    return {
        "read": going.read.hexdigest(),
        "captured": taken.hexdigest(),
        "bytes": total,
        "packets": len(heads),
        "different": len(set(heads)),
        "largest": largest,
        "dropped": dropped,
    }


def protocols() -> list[str]:
    """IP versions and protocols in a capture while UDP, ICMP and TCP were sent."""
    with captured() as ring:
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            with socket.socket(family, socket.SOCK_DGRAM) as datagrams:  # nobody listens: ICMP answers
                datagrams.sendto(b"datagram", (host, 9))
            Download(host, 1).end()
        time.sleep(SETTLED_S)
        return sorted({f"{one[0] >> 4}/{one[9 if one[0] >> 4 == 4 else 6]}" for one in ring.packets()})


def latency() -> list[float]:
    """Seconds between a client's read of a byte and its arrival in the ring."""
    found = []
    with captured() as ring:
        for _ in range(20):
            Download("127.0.0.1", 1).end()
            read = time.monotonic()
            until(lambda: any((one := segment(packet)) and one.payload for packet in ring.packets()))
            found.append(time.monotonic() - read)
            time.sleep(0.02)
            list(ring.packets())
    return found


def overflow() -> dict[str, Any]:
    """A ring that is emptied too late."""
    streams = TcpReassembler()

    def drain(ring: Ring) -> int:
        time.sleep(SETTLED_S)
        packets = 0
        for one in map(segment, ring.packets()):
            if one:
                streams.feed(one)
                packets += 1
        return packets

    with captured(blocks=2) as ring:
        before = drain(ring), ring.dropped()
        first = Download("127.0.0.1", 5 * MIB)
        first.end()
        dropped, kept = ring.dropped(), drain(ring)
        again = ring.dropped()
        second = Download("127.0.0.1", 1000)
        second.end()
        drain(ring)
        broken, whole = streams.claim(first.flow), streams.claim(second.flow)
    assert broken
    assert whole
    return {
        "before": before,
        "dropped": dropped,
        "again": again,
        "kept": kept,
        "broken": broken.take(5 * MIB) is None,
        "whole": whole.take(1000) == PATTERN[:1000],
    }


def too_large() -> dict[str, Any]:
    """Packets larger than a block."""
    shape(65_536, 500_000, 65_535)
    with captured() as ring:
        Download("127.0.0.1", 20 * MIB).end()
        time.sleep(SETTLED_S)
        found = [one for one in map(segment, ring.packets()) if one]
        return {
            "largest": max(len(one.payload) for one in found),
            "missing": 20 * MIB - sum(len(one.payload) for one in found),
            "block": BLOCK_BYTES,
        }


def snapped() -> list[int]:
    """Sizes of a download's packets, from a socket whose filter keeps 100 bytes of each."""
    with open_socket("lo") as capture, contextlib.closing(Ring(capture)) as ring:
        keep = ctypes.create_string_buffer(struct.pack("=HBBI", RETURN, 0, 0, 100))
        program = struct.pack("@HP", 1, ctypes.addressof(keep))
        capture.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
        Download("127.0.0.1", MIB).end()
        time.sleep(SETTLED_S)
        return [len(packet) for packet in ring.packets()]
