"""TCP over loopback, captured; each function is called in a network namespace of its own."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import select
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.capture.ring import BLOCK_BYTES, RETURN, SO_ATTACH_FILTER, Ring, open_socket, renew
from crawler.capture.segments import flow, segment
from crawler.capture.tcp_reassembly import TcpReassembler, TcpStream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MIB = 1024 * 1024
WAIT_S = 10.0
SETTLED_S = 0.2
"""After which all blocks are handed over."""
HEAD_BYTES = 80
"""Of a packet, its timestamp (RFC 7323) included, by which it differs from what it repeats."""
PATTERN = b"".join(struct.pack("!I", n) for n in range(MIB // 4))
"""No part of it is like another, and it is cheap to send for long."""


@contextlib.contextmanager
def captured(*, blocks: int | None = None) -> Iterator[Ring]:
    with open_socket("lo") as capture:
        ring = Ring(capture) if blocks is None else Ring(capture, blocks=blocks)
        yield ring
        ring.close()


class Download:
    """`size` bytes sent to a client that reads them, both in threads; `room` for MiB that the ring can hold meanwhile."""

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
    """Set loopback's MTU, and of how many bytes and segments TCP gives it a packet to cut (rtnetlink(7), linux/if_link.h).

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
    """What the client read and what the capture saw of it, while both go on."""
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
    """Of what a capture saw, while more than TCP was spoken."""
    with captured() as ring:
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            with socket.socket(family, socket.SOCK_DGRAM) as datagrams:  # nobody listens: ICMP answers
                datagrams.sendto(b"datagram", (host, 9))
            Download(host, 1).end()
        time.sleep(SETTLED_S)
        return sorted({f"{one[0] >> 4}/{one[9 if one[0] >> 4 == 4 else 6]}" for one in ring.packets()})


def latency() -> list[float]:
    """Seconds from a client's having read a byte to its being in the ring."""
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
    """A ring that nobody empties in time, and then somebody does."""
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
    """Packets that no block can hold."""
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
    """Sizes of the packets seen of a download, by a socket whose filter keeps 100 bytes of each."""
    with open_socket("lo") as capture, contextlib.closing(Ring(capture)) as ring:
        keep = ctypes.create_string_buffer(struct.pack("=HBBI", RETURN, 0, 0, 100))
        program = struct.pack("@HP", 1, ctypes.addressof(keep))
        capture.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
        Download("127.0.0.1", MIB).end()
        time.sleep(SETTLED_S)
        return [len(packet) for packet in ring.packets()]


def handling() -> dict[str, Any]:
    """Iterations broken off, a ring after a ring, and views held too long."""
    with open_socket("lo") as capture:
        first = Ring(capture)
        Download("127.0.0.1", 1).end()
        time.sleep(SETTLED_S)
        packet, again = bytes(next(first.packets())), bytes(next(first.packets()))
        first.close()
        second = Ring(capture)
        Download("127.0.0.1", 1).end()
        time.sleep(SETTLED_S)
        seen = [len(one) for one in second.packets()]
        empty = list(second.packets())
        Download("127.0.0.1", 1).end()
        time.sleep(SETTLED_S)
        held = next(second.packets())
        second.close()
        return {
            "same": packet == again,
            "seen": seen,
            "empty": empty,
            "held": len(bytes(held)),
            "inheritable": capture.get_inheritable(),
        }


def without_capability() -> str:
    """What a process that may not capture does with a socket that was passed to it."""
    drop = ["setpriv", "--inh-caps=-all", "--ambient-caps=-all", "--no-new-privs"]
    with open_socket("lo") as capture:
        number = str(capture.fileno())
        call = [*drop, sys.executable, "-m", "tests.crawler.capture.loopback", number]
        return subprocess.run(
            call, pass_fds=[capture.fileno()], capture_output=True, text=True, check=True
        ).stdout


def refusals() -> list[str]:
    """Of an interface that is not there."""
    try:
        open_socket("eth7")
    except OSError as exc:
        return [type(exc).__name__, str(exc.errno)]
    return []


def _passed(number: int) -> None:
    status = Path("/proc/self/status").read_text()
    print(next(line for line in status.splitlines() if line.startswith("CapEff")))
    try:
        open_socket("lo")
    except PermissionError:
        print("may not capture")
    with socket.socket(fileno=number) as capture:
        ring = Ring(capture)
        Download("::1", 1).end()
        time.sleep(SETTLED_S)
        print(any(one.payload for one in map(segment, ring.packets()) if one))
        ring.close()


if __name__ == "__main__":
    _passed(int(sys.argv[1]))


def renewed() -> list[list[int]]:
    """How many packets are in one ring for each that was sent: as it is, after its interface was removed, and renewed."""
    made = [
        "link add near type veth peer far",
        "link set far up",
        "address add 198.18.0.1/31 dev near",
        "link set near up",
    ]
    made.append("neighbour add 198.18.0.0 lladdr 02:00:00:00:00:01 dev near")

    def configure(lines: list[str]) -> None:
        subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)

    def packets() -> list[int]:
        with socket.socket() as client:
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                client.connect(("198.18.0.0", 80))
            select.select([ring], [], [], 0.2)
            return [len(packet) for packet in ring.packets()]

    configure(made)
    with open_socket("far") as capture:
        ring = Ring(capture)
        found = [packets()]
        configure(["link delete near", *made])
        found.append(packets())
        renew(capture, "far")
        found.append(packets())
        ring.close()
    return found
