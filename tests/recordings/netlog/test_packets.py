"""Captures of packets beside a NetLog, in each form of file."""

from __future__ import annotations

import gzip
import itertools
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from crawler.capture.packets import ACK, SYN
from recordings.exchange import RecordingError
from recordings.netlog.packets import ETHERNET, read_captures
from recordings.netlog.release import content_of, read_file
from tests.recordings.netlog.made_up_log import MONDAY_MS, MadeUpLog
from tests.recordings.netlog.test_counting import STATED

CLIENT, SERVER = bytes([192, 0, 2, 1]), bytes([192, 0, 2, 2])
CLIENT_PORT = 50_003
"""That of a made-up log's first connection."""

RAW = 101


def segment(
    *, from_server: bool, sequence: int, acknowledged: int, size: int, flags: int = ACK, options: bytes = b""
) -> bytes:
    ends = (SERVER, CLIENT) if from_server else (CLIENT, SERVER)
    ports = (80, CLIENT_PORT) if from_server else (CLIENT_PORT, 80)
    length = 40 + len(options) + size
    ip = struct.pack("!BxHxxHxBxx4s4s", 0x45, length, 0, 6, *ends)
    tcp = struct.pack(
        "!HHIIBBHxxxx", *ports, sequence, acknowledged, (5 + len(options) // 4) << 4, flags, 60_000
    )
    return ip + tcp + options + bytes(size)


MSS = bytes([2, 4, *struct.pack("!H", 1000)])

PACKETS = [
    segment(from_server=False, sequence=0, acknowledged=0, size=0, flags=SYN, options=MSS),
    segment(from_server=True, sequence=0, acknowledged=1, size=0, flags=SYN | ACK, options=MSS),
    segment(from_server=False, sequence=1, acknowledged=1, size=0),
    segment(from_server=False, sequence=1, acknowledged=1, size=200),
    segment(from_server=True, sequence=1, acknowledged=201, size=2_500),  # three that the kernel merged
    segment(from_server=False, sequence=201, acknowledged=2_501, size=0),
    segment(from_server=True, sequence=2_501, acknowledged=201, size=500),
]
TIMES_NS = [(MONDAY_MS + 1_004 + n) * 1_000_000 + 500_000 for n in range(len(PACKETS))]


def pcap(packets: Sequence[bytes], *, order: str = "<", nano: bool = False, link: int = RAW) -> bytes:
    magic = 0xA1B23C4D if nano else 0xA1B2C3D4
    parts = [struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 262_144, link)]
    for time_ns, packet in zip(TIMES_NS, packets, strict=True):
        seconds, rest = divmod(time_ns, 10**9)
        parts.append(
            struct.pack(f"{order}IIII", seconds, rest if nano else rest // 1000, len(packet), len(packet))
        )
        parts.append(packet)
    return b"".join(parts)


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + size + body + size


def pcapng(
    packets: Sequence[bytes], *, order: str = "<", options: bytes = b"", per_second: int = 10**6
) -> bytes:
    parts = [
        block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(order, 1, struct.pack(f"{order}HHI", RAW, 0, 0) + options),
        block(order, 5, bytes(12)),
    ]
    for time_ns, packet in zip(TIMES_NS, packets, strict=True):
        units = time_ns * per_second // 10**9
        head = struct.pack(f"{order}IIIII", 0, units >> 32, units & 0xFFFFFFFF, len(packet), len(packet))
        parts.append(block(order, 6, head + packet))
    return b"".join(parts)


def framed(header: bytes) -> list[bytes]:
    return [header + packet for packet in PACKETS]


NANO = struct.pack("<HHBxxx", 9, 1, 9)
BINARY = struct.pack(">HHBxxx", 9, 1, 0x80 | 20)

FILES = {
    "little": pcap(PACKETS),
    "big": pcap(PACKETS, order=">"),
    "nanoseconds": pcap(PACKETS, nano=True),
    "ethernet": pcap(framed(bytes(12) + b"\x08\x00"), link=ETHERNET),
    "vlan": pcap(framed(bytes(12) + b"\x81\x00\x00\x05\x08\x00"), link=ETHERNET),
    "cooked": pcap(framed(bytes(16)), link=113),
    "gzip": gzip.compress(pcap(PACKETS)),
    "cut": pcap(PACKETS)[:-3],
    "ng": pcapng(PACKETS),
    "ng nanoseconds": pcapng(PACKETS, options=NANO, per_second=10**9),
    "ng big": pcapng(PACKETS, order=">", options=BINARY, per_second=2**20),
}


def row_of(folder: Path, *captures: bytes) -> dict[str, object]:
    log = MadeUpLog()
    request = log.ask("http://a.example/", frame="main frame")
    log.answer(request, log.connection("a.example"), 3_000)
    for _ in range(3):
        log.event("SOMETHING_ELSE", 99)
    log.end(request)
    (folder / "log.json").write_bytes(log.written())
    paths = []
    for number, content in zip(itertools.count(), captures, strict=False):
        paths.append(folder / f"{number}.pcap")
        paths[-1].write_bytes(content)
    file = read_file(folder / "log.json", tuple(paths))
    (row,) = content_of([file], STATED, month="2026-09").tables["connection"]
    return row


@pytest.mark.parametrize("name", FILES)
def test_each_form_has_the_connections_packets(name: str, tmp_path: Path) -> None:
    row = row_of(tmp_path, FILES[name])
    assert row["first_flight_bytes"] == 2_500
    assert row["first_flight_packets"] == 3
    assert row["segment_bytes"] == 1_000
    assert row["packet_bytes"] == 3_000
    assert 999 <= int(str(row["round_trip_us"])) <= 1_001


def test_packets_of_another_time_or_connection_are_none(tmp_path: Path) -> None:
    later = pcap(PACKETS).replace(struct.pack("<I", TIMES_NS[0] // 10**9), struct.pack("<I", 1_800_000_000))
    for content in (later, FILES["little"][:24], FILES["cooked"][:20]):
        row = row_of(tmp_path, content)
        assert (row["packet_bytes"], row["initial_window_unknown"]) == (None, "not_captured")


def test_what_is_no_capture_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.pcap"
    file.write_bytes(b"hello")
    with pytest.raises(
        RecordingError, match=r"^x.pcap is no capture of packets: a pcap or pcapng file is needed$"
    ):
        read_captures((file,), epoch_ms=0)
