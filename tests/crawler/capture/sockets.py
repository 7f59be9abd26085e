"""Capture sockets that are passed on, closed and renewed;
each function is called in a network namespace of its own."""

import contextlib
import select
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from crawler.browser.logstream import now_ms
from crawler.capture.capture import HANDED_OVER_MS, Capture, capture_loopback
from crawler.capture.packets import pack_end
from crawler.capture.ring import Ring, open_socket, renew_ring
from tests.crawler.capture.loopback import SETTLED_S, Download


def handling() -> dict[str, Any]:
    """Iterations that are broken off, a ring after a ring, and an iteration that outlives its ring."""
    with open_socket("lo") as capture:
        first = Ring(capture)
        Download("127.0.0.1", 1).end()
        time.sleep(SETTLED_S)
        packet, again = next(first.packets()), next(first.packets())
        first.close()
        second = Ring(capture)
        Download("127.0.0.1", 1).end()
        time.sleep(SETTLED_S)
        seen = len(list(second.packets()))
        empty = list(second.packets())
        Download("127.0.0.1", 1).end()
        time.sleep(SETTLED_S)
        held = second.packets()
        first_of_all = next(held)
        second.close()
        return {
            "same": (packet.source, packet.sequence) == (again.source, again.sequence),
            "seen": seen,
            "empty": empty,
            "held": first_of_all.flags,
            "inheritable": capture.get_inheritable(),
        }


def without_capability() -> str:
    """Output of a process without CAP_NET_RAW that is passed a socket."""
    drop = ["setpriv", "--inh-caps=-all", "--ambient-caps=-all", "--no-new-privs"]
    with open_socket("lo") as capture:
        number = str(capture.fileno())
        call = [*drop, sys.executable, "-m", "tests.crawler.capture.sockets", number]
        return subprocess.run(
            call, pass_fds=[capture.fileno()], capture_output=True, text=True, check=True
        ).stdout


def refusals() -> list[str]:
    """Type and number of the error for an unknown interface."""
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
        print(any(packet.payload_bytes for packet in ring.packets()))
        ring.close()


def renewed() -> list[list[int]]:
    """Flags of packets in the ring: at first, after the interface was removed and made anew,
    and after `renew`."""
    commands = [
        "link add near type veth peer far",
        "link set far up",
        "address add 198.18.0.1/31 dev near",
        "link set near up",
    ]
    commands.append("neighbour add 198.18.0.0 lladdr 02:00:00:00:00:01 dev near")

    def configure(lines: list[str]) -> None:
        subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)

    def packets() -> list[int]:
        with socket.socket() as client:
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                client.connect(("198.18.0.0", 80))
            select.select([ring], [], [], 0.2)
            return [
                packet.flags for packet in ring.packets() if packet.destination == pack_end("198.18.0.0", 80)
            ]

    configure(commands)
    with open_socket("far") as capture:
        ring = Ring(capture)
        flags = [packets()]
        configure(["link delete near", *commands])
        flags.append(packets())
        renew_ring(capture, "far")
        flags.append(packets())
        ring.close()
    return flags


def _received(capture: Capture, download: Download) -> int | None:
    local, remote = download.client.getsockname(), download.client.getpeername()
    download.end()
    time.sleep(HANDED_OVER_MS / 1000)
    connection = capture.take(local, remote)
    return None if connection is None else connection.received_bytes


def at_once(count: int, size: int) -> list[int | None]:
    """Payload of as many connections at a time, each taken by a thread of its own."""
    with capture_loopback() as capture, ThreadPoolExecutor(count) as pool:
        assert capture is not None
        return list(pool.map(lambda _: _received(capture, Download("127.0.0.1", size)), range(count)))


def taken_twice() -> list[int | None]:
    """Payload of a connection at first and again, and of one with an invalid address."""
    with capture_loopback() as capture:
        assert capture is not None
        download = Download("127.0.0.1", 1000)
        local, remote = download.client.getsockname(), download.client.getpeername()
        sizes = [_received(capture, download)]
        for ends in ((local, remote), (local, ("localhost", 80))):
            again = capture.take(*ends)
            sizes.append(None if again is None else again.received_bytes)
        return sizes


def still_to_come() -> dict[str, Any]:
    """Whether packets of more bytes than came are waited for; not of a connection that is unknown."""
    with capture_loopback() as capture:
        assert capture is not None
        download = Download("127.0.0.1", 1000)
        ends = download.client.getsockname(), download.client.getpeername()
        download.end()
        time.sleep(HANDED_OVER_MS / 1000)
        behind = [capture.is_behind(*ends, 1000), capture.is_behind(*ends, 1001)]
        behind.append(capture.is_behind(ends[1], ends[0], 1))
        connection = capture.take(*ends)
        return {"behind": behind, "came": None if connection is None else connection.received_bytes}


def _downloaded() -> tuple[int, str, int]:
    """Ends of a connection that received 1000 bytes."""
    download = Download("127.0.0.1", 1000)
    ends = download.client.getsockname()[1], *download.client.getpeername()
    download.end()
    time.sleep(HANDED_OVER_MS / 1000)
    return ends


def unnamed() -> dict[str, int]:
    collected = {}
    began = now_ms()
    with capture_loopback(is_theirs_alone=True) as capture:
        assert capture is not None
        ends = _downloaded()
        with capture.register_log(lambda: [ends]):
            collected["named by another log"] = capture.unnamed_bytes((), since_ms=began, until_ms=now_ms())
        collected["named by its own log"] = capture.unnamed_bytes(
            [_downloaded()], since_ms=began, until_ms=now_ms()
        )
        _downloaded()
        collected["named by none"] = capture.unnamed_bytes((), since_ms=began, until_ms=now_ms())
        collected["counted before"] = capture.unnamed_bytes((), since_ms=began, until_ms=now_ms())
        _downloaded()
        with capture.register_log(list), capture.register_log(list):
            young = capture.unnamed_bytes((), since_ms=began, until_ms=now_ms())
            collected["too young to be named by another log"] = young
    with capture_loopback() as capture:
        assert capture is not None
        _downloaded()
        collected["among others"] = capture.unnamed_bytes((), since_ms=began, until_ms=now_ms())
    return collected


if __name__ == "__main__":
    _passed(int(sys.argv[1]))
