"""A path in real time between this network namespace and a server's, with the rates,
delay and queue of a network.

The machine's own TCP is on both sides, set as in the lab: initial window by route, no pacing,
receive windows that do not limit.
"""

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from replay.lab.player import COMPILE
from replay.networks.profiles import Profile

SHAPER = Path(__file__).with_name("shaper.c")
CLIENT_DEVICE, SERVER_DEVICE = "client0", "server0"
CLIENT = "10.78.0.1"
SERVERS = "10.79.0.0/16"
"""Addresses of the server's namespace, all local there."""
SERVERS_BASE = "10.79.1.0"
RECEIVE_SEGMENTS = 11_000
"""Initial receive window of the client (`initrwnd`): 16 MB, as the lab's."""
SETTINGS = (
    "net.ipv4.tcp_no_metrics_save=1",
    "net.ipv4.tcp_slow_start_after_idle=1",
    "net.ipv4.tcp_rmem=4096 33554432 67108864",
    "net.ipv4.tcp_wmem=4096 16777216 67108864",
    "net.ipv4.tcp_fastopen=0",
)
"""Settings of TCP in both namespaces: those of the lab (replay/lab/guest/network/namespaces.c)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """What the shaper did since it was last asked."""

    dropped: int
    """Packets that the queue of the way down dropped."""
    late_us: int
    """Most by which the shaper delivered a packet after it was due, either way."""


class ShapedPath:
    """A path to the network namespace of a process."""

    def __init__(self, shaper: subprocess.Popen[str], server: int) -> None:
        self.is_first = bool(_answer(shaper)["is_first"])
        """True if the shaper runs before all ordinary processes."""
        self._shaper = shaper
        self._server = server
        inside(server, f"ip address add {SERVERS_BASE}/16 dev lo")  # which makes all of the network local
        for namespace, device in ((None, CLIENT_DEVICE), (server, SERVER_DEVICE)):
            if namespace:
                inside(None, f"ip link set {device} netns {namespace}")
            inside(namespace, "ip link set lo up", f"ip link set {device} up")
            inside(namespace, f"tc qdisc replace dev {device} root pfifo limit 100000")
            for setting in SETTINGS:
                inside(namespace, ["sysctl", "-q", "-w", setting])
        inside(None, f"ip address add {CLIENT}/32 dev {CLIENT_DEVICE}")
        inside(None, f"ip route add {SERVERS} dev {CLIENT_DEVICE} src {CLIENT} initrwnd {RECEIVE_SEGMENTS}")
        self.use(10)

    def be(self, network: Profile) -> None:
        """Take the rates, the delay and the queue of a network; packets on the way are lost."""
        self._tell(f"path {network.down_bps} {network.up_bps} {network.rtt_us // 2} {network.queue_bytes}")

    def use(self, window: int) -> None:
        """Set the servers' initial window, in segments, for connections from now on."""
        inside(self._server, f"ip route replace {CLIENT}/32 dev {SERVER_DEVICE} initcwnd {window}")

    def passed(self) -> Passage:
        """Return what has happened since the last call."""
        totals = self._tell("report")
        return Passage(
            dropped=totals["down"]["dropped"],
            late_us=max(totals["down"]["latest_us"], totals["up"]["latest_us"]),
        )

    def _tell(self, line: str) -> dict[str, Any]:
        assert self._shaper.stdin
        self._shaper.stdin.write(line + "\n")
        self._shaper.stdin.flush()
        return _answer(self._shaper)


@contextlib.contextmanager
def shaped_path(server: int) -> Iterator[ShapedPath]:
    """Open a path from this network namespace to that of the process `server`, while the block runs.

    It needs /dev/net/tun, the right to configure both namespaces, and gcc.
    """
    with tempfile.TemporaryDirectory(prefix="ff-path-") as folder:
        program = str(Path(folder, "shaper"))
        subprocess.run([*COMPILE, "-o", program, str(SHAPER)], check=True)
        with subprocess.Popen(
            [program, CLIENT_DEVICE, SERVER_DEVICE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as shaper:
            try:
                yield ShapedPath(shaper, server)
            finally:
                shaper.terminate()


def inside(server: int | None, *commands: str | list[str]) -> None:
    """Run commands in this network namespace, or in that of the process `server`;
    one that fails ends the path."""
    entrance = ["nsenter", f"--net=/proc/{server}/ns/net"] if server else []
    for command in commands:
        words = command.split() if isinstance(command, str) else command
        subprocess.run([*entrance, *words], check=True)


def _answer(shaper: subprocess.Popen[str]) -> dict[str, Any]:
    stdout: IO[str] | None = shaper.stdout
    assert stdout
    line = stdout.readline()
    if not line:
        raise ChildProcessError("the shaper ended: is there a /dev/net/tun, and may this process use it?")
    answer: dict[str, Any] = json.loads(line)
    return answer
