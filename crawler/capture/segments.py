"""TCP segments in IP packets (RFC 791, RFC 8200, RFC 9293 §3.1). No I/O; malformed packets are no segments."""

from __future__ import annotations

import ipaddress
import struct
from typing import NamedTuple

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10

TCP = 6
IPV4_HEADER, IPV6_HEADER, TCP_HEADER = 20, 40, 20

IPV4 = struct.Struct("!xxHxxHxBxx8s")
"""Total length, flags and fragment offset, protocol, and the addresses: source before destination."""
IPV6 = struct.Struct("!4xHBx32s")
"""Payload length, next header, and the addresses."""
HEAD = struct.Struct("!4sIIBB")
"""Ports, sequence number, acknowledgment number, data offset, and flags."""
PORTS = struct.Struct("!HH")

FRAGMENT = 0x3FFF
"""Mask of more fragments, and of the fragment offset."""

EXTENSIONS = frozenset({0, 43, 60})
"""Extension headers with the length in the second byte: hop-by-hop options, routing, destination options (RFC 8200 §4)."""
MOST_EXTENSIONS = 8
"""Most extension headers that are followed: a node sends each once, destination options twice (RFC 8200 §4.1)."""


class Segment(NamedTuple):
    """One TCP segment from the remote to the local end."""

    flow: bytes
    """Addresses and ports, as by `flow`."""
    sequence: int
    """Sequence number of SYN, or else of the payload's first byte."""
    acknowledgment: int
    """Next sequence number that the remote end expects; meaningless without ACK."""
    flags: int
    payload: memoryview | bytes
    """A part of the packet, not a copy."""


def segment(packet: memoryview | bytes) -> Segment | None:
    """The TCP segment in an IP packet; None if there is none, or not all of it. Checksums are not verified.

    Bytes after the packet's own length are not payload. A packet that is too long for its length field has 0 there, as
    inside Linux (BIG TCP): then all of it counts.
    """
    size = len(packet)
    if size < IPV4_HEADER + TCP_HEADER:
        return None
    first = packet[0]
    if first >> 4 == 4:
        at = (first & 0x0F) * 4
        length, fragment, protocol, addresses = IPV4.unpack_from(packet)
        end = length or size
        if protocol != TCP or fragment & FRAGMENT or at < IPV4_HEADER:
            return None
    elif first >> 4 == 6:
        length, protocol, addresses = IPV6.unpack_from(packet)
        end = length + IPV6_HEADER if length else size
        at = IPV6_HEADER if protocol == TCP else _behind_extensions(packet, protocol)
        if not at:
            return None
    else:
        return None
    if end > size or at + TCP_HEADER > end:
        return None
    ports, sequence, acknowledgment, offset, flags = HEAD.unpack_from(packet, at)
    payload = (offset >> 4) * 4
    if payload < TCP_HEADER or at + payload > end:
        return None
    return Segment(addresses + ports, sequence, acknowledgment, flags, packet[at + payload : end])


def _behind_extensions(packet: memoryview | bytes, protocol: int) -> int:
    """Offset of the TCP header in an IPv6 packet; 0 if there is none."""
    at = IPV6_HEADER
    for _ in range(MOST_EXTENSIONS):
        if protocol not in EXTENSIONS or at + 2 > len(packet):
            return 0
        protocol, eights = packet[at], packet[at + 1]
        at += 8 + 8 * eights
        if protocol == TCP:
            return at
    return 0


def flow(local: tuple[str, int], remote: tuple[str, int]) -> bytes:
    """Addresses and ports as in a segment's headers, from those of the receiving and the sending end.

    Raises ValueError if an address is invalid. An IPv4-mapped address (`::ffff:192.0.2.1`) is sent as IPv4.

    >>> flow(("127.0.0.1", 50123), ("127.0.0.2", 443)).hex(" ", 4)
    '7f000002 7f000001 01bbc3cb'
    """
    return _packed(remote[0]) + _packed(local[0]) + PORTS.pack(remote[1], local[1])


def _packed(text: str) -> bytes:
    address = ipaddress.ip_address(text)
    mapped = address.ipv4_mapped if address.version == 6 else None
    return (mapped or address).packed
