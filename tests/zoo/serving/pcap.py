"""A capture file's TCP and UDP payload, by direction (draft-ietf-opsawg-pcap; RFC 791, 768, 9293). No I/O.

Ethernet and IPv4 only, as tcpdump writes them on loopback. Lengths come from the headers,
so packets may be cut short after them.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

FILE_HEADER = 24
PACKET_HEADER = 16
MICROSECONDS, NANOSECONDS = 0xA1B2C3D4, 0xA1B23C4D
MAGIC = {MICROSECONDS, NANOSECONDS}
"""Magic numbers by the unit of the times."""
ETHERNET = 1
ETHERNET_HEADER = 14
IPV4 = 0x0800
TCP, UDP = 6, 17
UDP_HEADER = 8
SYN = 0x02
SEQUENCES = 1 << 32
PORTS_USED_TWICE = "two connections between"
"""Beginning of the error of a capture in which two connections have the same addresses and ports."""


class Ends(NamedTuple):
    """One direction of a connection: source and destination."""

    source: str
    source_port: int
    destination: str
    destination_port: int

    def reversed(self) -> Ends:
        return Ends(self.destination, self.destination_port, self.source, self.source_port)


class Datagram(NamedTuple):
    """One TCP segment or UDP datagram."""

    captured_us: int
    """Microsecond of the wall clock."""
    protocol: int
    ends: Ends
    payload_bytes: int
    sequence: int
    """Sequence number of the first payload byte, or of SYN; 0 for UDP."""
    is_syn: bool


@dataclasses.dataclass(slots=True)
class Stream:
    """Payload of one direction of a TCP connection, each byte once even if it was sent several times."""

    first: int
    """Sequence number of the first byte."""
    runs: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    """Ranges of bytes, relative to the first byte, in order and disjoint."""

    @property
    def payload_bytes(self) -> int:
        return sum(end - start for start, end in self.runs)

    def add(self, sequence: int, size: int) -> None:
        """A segment's payload. Streams of 4 GB and more are not told apart from their own beginning."""
        start = (sequence - self.first) % SEQUENCES
        if not size or start >= SEQUENCES // 2:  # a keep-alive repeats the byte before the first
            return
        end = start + size
        if self.runs and start == self.runs[-1][1]:
            self.runs[-1] = (self.runs[-1][0], end)
        else:
            self.runs = _merge([*self.runs, (start, end)])


@dataclasses.dataclass(slots=True)
class Carried:
    """Payload by direction."""

    tcp: dict[Ends, int]
    """Bytes by direction."""
    udp: dict[Ends, list[tuple[int, int]]]
    """Microsecond of the wall clock and size of each datagram, by direction."""


def read_payload(capture: bytes) -> Carried:
    """Return the payload in a capture file.

    A TCP connection without its beginning is an error, as is a port used twice.
    """
    streams: dict[Ends, Stream] = {}
    udp: dict[Ends, list[tuple[int, int]]] = {}
    for datagram in datagrams(capture):
        ends = datagram.ends
        if datagram.protocol == UDP:
            udp.setdefault(ends, []).append((datagram.captured_us, datagram.payload_bytes))
        elif datagram.is_syn:
            first = (datagram.sequence + 1) % SEQUENCES
            if streams.setdefault(ends, Stream(first)).first != first:
                raise ValueError(f"{PORTS_USED_TWICE} {ends}")
        elif datagram.payload_bytes:
            if ends not in streams:
                raise ValueError(f"the capture began after {ends}")
            streams[ends].add(datagram.sequence, datagram.payload_bytes)
    return Carried({ends: stream.payload_bytes for ends, stream in streams.items()}, udp)


def datagrams(capture: bytes) -> Iterator[Datagram]:
    order = "<" if struct.unpack_from("<I", capture)[0] in MAGIC else ">"
    magic, link = struct.unpack_from(f"{order}I16xI", capture)
    if magic not in MAGIC or link & 0xFFFF != ETHERNET:
        raise ValueError("not a capture of Ethernet")
    parts_a_us = 1 if magic == MICROSECONDS else 1000
    at = FILE_HEADER
    while at + PACKET_HEADER <= len(capture):
        seconds, parts, kept = struct.unpack_from(f"{order}III", capture, at)
        at += PACKET_HEADER
        yield from _datagram(seconds * 1_000_000 + parts // parts_a_us, capture[at : at + kept])
        at += kept


def _datagram(captured_us: int, frame: bytes) -> Iterator[Datagram]:
    if len(frame) < ETHERNET_HEADER + 20 or struct.unpack_from(">12xH", frame)[0] != IPV4:
        return
    packet = frame[ETHERNET_HEADER:]
    header = (packet[0] & 0x0F) * 4
    total, fragment, protocol = struct.unpack_from(">2xH2xHxB", packet)
    if protocol not in (TCP, UDP):
        return
    if fragment & 0x3FFF:
        raise ValueError("a fragment")
    source, destination = (str(ipaddress.IPv4Address(packet[at : at + 4])) for at in (12, 16))
    source_port, destination_port = struct.unpack_from(">HH", packet, header)
    ends = Ends(source, source_port, destination, destination_port)
    if protocol == UDP:
        yield Datagram(captured_us, UDP, ends, total - header - UDP_HEADER, 0, is_syn=False)
        return
    sequence, offset, flags = struct.unpack_from(">I4xBB", packet, header + 4)
    size = total - header - (offset >> 4) * 4
    yield Datagram(captured_us, TCP, ends, size, sequence, is_syn=bool(flags & SYN))


def _merge(runs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(runs):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
