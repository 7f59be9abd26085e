"""Packet capture of loopback: a second truth, independent of the server."""

import contextlib
import dataclasses
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.zoo.serving.pcap import Carried, read_payload

HEADERS = 160
"""Bytes kept of a packet: Ethernet, and IPv4 and TCP with all their options."""
BUFFER_KIB = 65_536
WAIT_S = 60.0
DISCARD = 9
DROPPED = re.compile(r"(\d+) packets? dropped by kernel")


@dataclasses.dataclass(slots=True)
class Captured:
    """What was captured; filled in after the block."""

    carried: Carried = dataclasses.field(default_factory=lambda: Carried({}, {}))


@contextlib.contextmanager
def run_tcpdump(folder: Path) -> Iterator[Captured]:
    """Capture all TCP and UDP on `lo` while in the block; raises AssertionError if a packet was missed.

    Needs CAP_NET_RAW: of the machine, or of a network namespace of one's own.
    """
    program = shutil.which("tcpdump")
    assert program, "tcpdump is missing: apt-get install tcpdump"
    path, errors = folder / "loopback.pcap", folder / "tcpdump.txt"
    path.unlink(missing_ok=True)
    command = [program, "-i", "lo", "-n", "-U", "--immediate-mode"]
    command += ["-Z", "root"] if os.geteuid() == 0 else []  # else it becomes a user who may not write here
    command += ["-s", str(HEADERS), "-B", str(BUFFER_KIB), "-w", str(path), "ip and (tcp or udp)"]
    captured = Captured()
    with errors.open("w") as stderr, subprocess.Popen(command, stderr=stderr) as tcpdump:
        try:
            _until(lambda: "listening on" in errors.read_text(), tcpdump, errors)
            yield captured
            _await_sentinel(path, tcpdump, errors)
        finally:
            tcpdump.send_signal(signal.SIGINT)
            tcpdump.wait(WAIT_S)
    dropped = DROPPED.search(errors.read_text())
    assert dropped, f"tcpdump does not say what it missed: {errors.read_text()}"
    assert dropped[1] == "0", f"tcpdump missed packets: {errors.read_text()}"
    captured.carried = read_payload(path.read_bytes())


def _await_sentinel(path: Path, tcpdump: subprocess.Popen[bytes], errors: Path) -> None:
    """Send a datagram and wait for it in the file, which then has all earlier packets too."""
    token = os.urandom(16)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(token, ("127.0.0.1", DISCARD))
    _until(lambda: token in _tail(path), tcpdump, errors)


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 65_536))
        return file.read()


def _until(condition: Callable[[], bool], tcpdump: subprocess.Popen[bytes], errors: Path) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert tcpdump.poll() is None, f"tcpdump ended: {errors.read_text()}"
        assert time.monotonic() < deadline, f"tcpdump is late: {errors.read_text()}"
        time.sleep(0.01)
