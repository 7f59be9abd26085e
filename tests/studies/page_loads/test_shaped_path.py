"""Over the shaped path a transfer takes the round trips that its initial window asks for,
and the time of its bytes."""

import socket
import subprocess
import sys
import time

import pytest

from replay.networks.profiles import symmetric
from studies.page_loads.shaped_path import ShapedPath, shaped_path
from tests.zoo.serving.namespace import in_namespace

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

SERVER = "10.79.2.5"
RTT_S, RATE_BPS = 0.1, 10_000_000
NETWORK = symmetric("a-path", bps=RATE_BPS, rtt_us=100_000, source="test", queue_bytes=100_000)
SEGMENT, FRAME = 1448, 1514
"""Payload of a full segment with timestamps, and its Ethernet frame."""
TRIALS = 5
BUSY_S = 0.03
"""What a busy machine may add to the quickest of several trials."""

SERVE = f"""
import socket, sys
print("ready", flush=True)
sys.stdin.readline()
with socket.create_server(("{SERVER}", 80)) as listener:
    print("listens", flush=True)
    while True:
        with listener.accept()[0] as sock:
            sock.sendall(bytes(int(sock.recv(100))))
"""


def measured(sizes: list[list[int]]) -> list[list[float]]:
    """Quickest time of connecting and of the transfer, by initial window and size in segments."""
    command = ["unshare", "--net", sys.executable, "-c", SERVE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin
        assert server.stdout
        server.stdout.readline()
        with shaped_path(server.pid) as path:
            server.stdin.write("\n")
            server.stdin.flush()
            server.stdout.readline()
            path.be(NETWORK)
            quickest_times = [quickest(path, iw, segments) for iw, segments in sizes]
        server.terminate()
    return quickest_times


def quickest(path: ShapedPath, iw: int, segments: int) -> list[float]:
    path.use(iw)
    trials = [transfer(segments * SEGMENT) for _ in range(TRIALS)]
    dropped = path.passed().dropped
    assert dropped == 0
    return [min(times) for times in zip(*trials, strict=True)]


def transfer(size: int) -> tuple[float, float]:
    began = time.monotonic()
    with socket.create_connection((SERVER, 80)) as sock:
        connected = time.monotonic()
        sock.sendall(str(size).encode())
        left = size
        while left:
            left -= len(sock.recv(left))
        return connected - began, time.monotonic() - connected


def test_transfers_take_the_round_trips_of_their_window_and_the_time_of_their_bytes() -> None:
    sizes = [(10, 10, 1), (10, 11, 2), (3, 9, 2), (3, 10, 3), (30, 30, 1)]
    quickest_times = in_namespace(
        "tests.studies.page_loads.test_shaped_path:measured", [size[:2] for size in sizes]
    )
    for (_, segments, flights), (connecting, transferring) in zip(sizes, quickest_times, strict=True):
        assert RTT_S <= connecting <= RTT_S + BUSY_S
        # The bucket lets the first packet pass at once; of several flights the last alone waits for the line.
        serial_s = 8 * FRAME * (segments - 1) / RATE_BPS
        assert flights * RTT_S <= transferring <= flights * RTT_S + serial_s + BUSY_S
        if flights == 1:
            assert transferring >= RTT_S + serial_s - 0.001
