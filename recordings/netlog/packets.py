"""Packets of a capture file beside a NetLog: pcap and pcapng, with merged segments cut.

A capture on the client holds what its kernel merged (GRO), and files do not say of how many segments: a
payload larger than the receiver's maximum segment size is cut to it (RFC 9293 §3.7.1, less the option of
timestamps that the packet has).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from crawler.capture.connections import CapturedConnection, CapturedConnections
from crawler.capture.packets import SYN, TCP, Packet, pack_end, parse_packet
from crawler.netlog.exchange import Transport
from recordings.containers import unpack
from recordings.exchange import RecordingError

MOST_BYTES = 1024 * 1024 * 1024
"""Most bytes of a capture after decompression."""

MAGICS = {
    b"\xd4\xc3\xb2\xa1": ("<", 1_000),
    b"\xa1\xb2\xc3\xd4": (">", 1_000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
"""Byte order of a pcap file, and nanoseconds of its unit, by its first bytes."""

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6

LITTLE = b"\x4d\x3c\x2b\x1a"

TIME_RESOLUTION = 9

LINK_HEADERS = {0: 4, 1: 14, 12: 0, 14: 0, 101: 0, 108: 4, 113: 16, 228: 0, 229: 0, 276: 20}
"""Bytes before the IP header, by link type."""

ETHERNET, VLAN = 1, (b"\x81\x00", b"\x88\xa8")

NEAR_NS = 2_000_000_000
"""Longest time between the browser's connecting and the first packet: ends are used again."""


class CapturedFrame(NamedTuple):
    """A captured frame."""

    time_ns: int
    """Time of the capture, since the epoch."""
    link: int
    data: bytes
    size: int
    """Bytes of the frame, of which `data` may be the beginning."""


class Captured:
    """The connections in capture files."""

    def __init__(self, *, epoch_ms: int) -> None:
        """`epoch_ms` is the zero of the log's clock, on which the packets' times are put."""
        self._offset_ns = epoch_ms * 1_000_000
        self._connections = CapturedConnections()
        self._most: dict[bytes, int] = {}
        """Maximum segment size by the address and port of a SYN."""

    def feed(self, frame: CapturedFrame) -> None:
        """Take a frame; any but a TCP segment or UDP datagram is left out."""
        packet = self._packet(frame, 0)
        if packet is None:
            return
        if packet.protocol == TCP:
            if packet.flags & SYN and packet.mss:
                self._most[packet.source] = packet.mss
            most = self._most.get(packet.destination, 0) - (12 if packet.timestamps else 0)
            if 0 < most < packet.payload_bytes:
                packet = self._packet(frame, most) or packet
        self._connections.feed(packet)

    def _packet(self, frame: CapturedFrame, segment_bytes: int) -> Packet | None:
        at = LINK_HEADERS.get(frame.link)
        if at is None:
            return None
        while frame.link == ETHERNET and frame.data[at - 2 : at] in VLAN:
            at += 4
        time_ns = frame.time_ns - self._offset_ns
        return parse_packet(frame.data[at:], time_ns=time_ns, size=frame.size - at, gso_size=segment_bytes)

    def take(self, transport: Transport) -> CapturedConnection | None:
        """Return a connection's packets; None without its beginning."""
        try:
            client = pack_end(transport.local_address, transport.local_port)
            server = pack_end(transport.remote_address, transport.remote_port)
        except ValueError:
            return None
        connection = self._connections.take(client, server)
        if connection is None or abs(connection.began_ns - transport.opened_ms * 1_000_000) > NEAR_NS:
            return None
        return connection


def read_captures(paths: tuple[Path, ...], *, epoch_ms: int) -> Captured:
    """Return the connections in these files; RecordingError if one is no capture."""
    captured = Captured(epoch_ms=epoch_ms)
    for path in paths:
        try:
            content = unpack(path.read_bytes(), path.name, most_bytes=MOST_BYTES)
        except OSError as exc:
            raise RecordingError(f"{path.name} cannot be read: {exc.strerror}") from exc
        for frame in frames(content, path.name):
            captured.feed(frame)
    return captured


def frames(content: bytes, name: str) -> Iterator[CapturedFrame]:
    """Yield the frames, up to where the file is cut; RecordingError if it is no capture."""
    if content[:4] in MAGICS:
        yield from pcap_frames(content)
    elif content.startswith(struct.pack("<I", SECTION)):
        yield from pcapng_frames(content)
    else:
        raise RecordingError(f"{name} is no capture of packets: a pcap or pcapng file is needed")


def pcap_frames(content: bytes) -> Iterator[CapturedFrame]:
    order, unit_ns = MAGICS[content[:4]]
    head, record = struct.Struct(f"{order}20xI"), struct.Struct(f"{order}IIII")
    if len(content) < head.size:
        return
    (link,) = head.unpack_from(content)
    at = head.size
    while at + record.size <= len(content):
        seconds, fraction, kept, size = record.unpack_from(content, at)
        at += record.size
        yield CapturedFrame(
            seconds * 10**9 + fraction * unit_ns, link & 0xFFFF, content[at : at + kept], size
        )
        at += kept


def pcapng_frames(content: bytes) -> Iterator[CapturedFrame]:
    """Yield the frames of a pcapng file (draft-ietf-opsawg-pcapng)."""
    at, order = 0, "<"
    interfaces: list[tuple[int, int]] = []
    while at + 12 <= len(content):
        if content[at : at + 4] == struct.pack("<I", SECTION):
            order = "<" if content[at + 8 : at + 12] == LITTLE else ">"
            interfaces = []
        kind, length = struct.unpack_from(f"{order}II", content, at)
        body = content[at + 8 : at + length - 4]
        if length < 12 or at + length > len(content):
            return
        at += length
        if kind == INTERFACE and len(body) >= 8:
            interfaces.append((struct.unpack_from(f"{order}H", body)[0], units(body[8:], order)))
        elif kind == PACKET and len(body) >= 20:
            number, high, low, kept, size = struct.unpack_from(f"{order}IIIII", body)
            if number < len(interfaces):
                link, per_second = interfaces[number]
                yield CapturedFrame(
                    (high << 32 | low) * 10**9 // per_second, link, body[20 : 20 + kept], size
                )


def units(options: bytes, order: str) -> int:
    at = 0
    while at + 4 <= len(options):
        kind, length = struct.unpack_from(f"{order}HH", options, at)
        if kind == TIME_RESOLUTION and length:
            value = options[at + 4]
            return 1 << (value & 0x7F) if value & 0x80 else int(10 ** min(value, 12))
        at += 4 + length + -length % 4
    return 10**6
