"""A path with a delay between a browser and a server of this machine.

All frames of the path go through a TAP device, whose other end is this process. It holds each for the delay,
exchanges source and destination, and sends it back: so what the browser sends to FAR reaches the server at
NEAR as if it came from FAR, and the other way round. The sums over the addresses, and so all checksums, stay
as they are.
"""

import contextlib
import fcntl
import ipaddress
import os
import select
import struct
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator

from localweb.serving.handler import ServedOrigin
from tests.zoo.serving.server import ZooWeb

DEVICE = "delayed"
TUNSETIFF = 0x400454CA
IFF_TAP_NO_PI = 0x1002
FRAME_BYTES = 65_536
MAC = 6
"""Bytes of an Ethernet address: a frame begins with the destination's and the source's."""
SOURCE, DESTINATION, END = 26, 30, 34
"""Offsets of the addresses of IPv4 (RFC 791 §3.1) in a frame."""
IPV4 = b"\x08\x00"
FAR_MAC = "02:00:00:00:00:01"

NETWORK = ipaddress.IPv4Network("10.77.0.0/16")
NEAR, FAR = str(NETWORK[256]), "10.78.1.0"


class DelayedWeb(ZooWeb):
    """A web of one host, which the browser reaches by the path."""

    network = NETWORK

    def endpoint(self, origin: ServedOrigin) -> tuple[str, int]:
        return FAR, super().endpoint(origin)[1]


@contextlib.contextmanager
def path(delay_s: float, *, initial_window: int = 10) -> Iterator[None]:
    """A path with this delay each way, in a network namespace of its own, while the block runs.

    Servers, and browsers, begin with `initial_window` segments.
    """
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", DEVICE.encode(), IFF_TAP_NO_PI))
    for command in (
        ("addr", "add", f"{NEAR}/{NETWORK.prefixlen}", "dev", "lo"),  # which makes all of the network local
        # An address of IPv6 would come a second later,
        # and Chromium drops its requests when an address appears.
        ("link", "set", DEVICE, "addrgenmode", "none"),
        ("link", "set", DEVICE, "up"),
        ("neigh", "add", FAR, "lladdr", FAR_MAC, "dev", DEVICE),
        ("route", "add", FAR, "dev", DEVICE, "src", NEAR, "initcwnd", str(initial_window)),
    ):
        subprocess.run(("ip", *command), check=True)
    ended = threading.Event()
    carrier = threading.Thread(target=_carry, args=(device, delay_s, ended))
    carrier.start()
    try:
        yield
    finally:
        ended.set()
        carrier.join()
        os.close(device)


def _carry(device: int, delay_s: float, ended: threading.Event) -> None:
    held: deque[tuple[float, bytes]] = deque()
    while not ended.is_set():
        wait_s = max(0.0, held[0][0] - time.monotonic()) if held else 0.1
        if select.select([device], [], [], wait_s)[0]:
            held.append((time.monotonic() + delay_s, os.read(device, FRAME_BYTES)))
        while held and held[0][0] <= time.monotonic():
            frame = held.popleft()[1]
            if frame[2 * MAC : 2 * MAC + 2] == IPV4:  # IPv6 asks for neighbours
                ends = frame[MAC : 2 * MAC] + frame[:MAC]
                addresses = frame[DESTINATION:END] + frame[SOURCE:DESTINATION]
                os.write(device, ends + frame[2 * MAC : SOURCE] + addresses + frame[END:])
