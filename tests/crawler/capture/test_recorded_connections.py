"""Connections that were recorded: servers that think, with tickets, losses and BBR,
whose initial windows are known.

Headers alone, of Linux servers on a path of 40 or 100 ms, which a busy machine lengthens for some packets.
The initial window was set by route.
"""

import csv
from pathlib import Path

import pytest

from crawler.capture.first_flight import CapturedFlight, measure_first_flight
from crawler.capture.packets import TCP, Packet, pack_end

FOLDER = Path(__file__).with_name("connections")
CLIENT, SERVER = pack_end("192.0.2.1", 50_000), pack_end("192.0.2.2", 443)
INITIAL_WINDOW = 10


def recorded(name: str) -> list[Packet]:
    with (FOLDER / f"{name}.csv").open(newline="") as file:
        return [packet(row) for row in csv.DictReader(file)]


def packet(row: dict[str, str]) -> Packet:
    ends = (CLIENT, SERVER) if row["from"] == "client" else (SERVER, CLIENT)
    size = int(row["payload_bytes"])
    numbers = (int(row[name]) for name in ("sequence", "acknowledgment", "flags", "window"))
    sequence, acknowledgment, flags, window = numbers
    options = bytes.fromhex(row["options"])
    return Packet(
        int(row["us"]) * 1000, TCP, *ends, size, size, sequence, acknowledgment, flags, window, options
    )


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("full-handshake", (10, 11)),
        ("ticket-acknowledged-in-flight", (10, 11)),
        ("ticket-then-thought", (10, 11)),
        ("http2", (10, 11)),
        ("http2-again", (10, 11)),
        ("http2-three-tickets", (10, 13)),
        ("http2-100-ms", (10, 17)),
        ("nginx-bbr", (10, 14)),
        ("loss", (10, None)),
        ("http2-loss", (2, None)),
        ("bbr-iw-4", (4, 7)),
        ("probe-on-a-busy-machine", (10, None)),
        ("timed-out", (1, None)),  # what was sent again after a timeout was lost too
    ],
)
def test_the_bounds_hold_the_window_whichever_request_was_the_first(
    name: str, bounds: tuple[int, int | None]
) -> None:
    packets = recorded(name)
    window = 4 if name in ("bbr-iw-4", "timed-out") else INITIAL_WINDOW
    assert bounds[0] <= window <= (bounds[1] or window)
    asked = [packet.time_ns for packet in packets if packet.source == CLIENT and packet.payload_bytes]
    for time_ns in asked[2:6] or asked:  # TLS sends two handshake messages before the first request
        flight = measure_first_flight(packets, client=CLIENT, request_ns=time_ns)
        assert isinstance(flight, CapturedFlight)
        assert (flight.window_segments, flight.window_most_segments) == bounds
        assert flight.unknown
        assert flight.bytes >= flight.packets > 0
