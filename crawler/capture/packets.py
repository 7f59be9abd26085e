"""Headers of TCP segments and UDP datagrams in IP packets (RFC 791, RFC 8200, RFC 9293 §3.1, RFC 768).

No I/O. Malformed packets, fragments, and IPv6 packets with extension headers are no packets here.
"""

import ipaddress
import struct
from collections.abc import Iterator
from typing import NamedTuple

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10

TCP, UDP = 6, 17
IPV4_HEADER, IPV6_HEADER, TCP_HEADER, UDP_HEADER = 20, 40, 20, 8

IPV4 = struct.Struct("!BxHxxHxBxx4s4s")
"""Version and header length, total length, flags and fragment offset, protocol, source and destination."""
IPV6 = struct.Struct("!4xHBx16s16s")
"""Payload length, next header, source and destination."""
TCP_HEAD = struct.Struct("!2s2sIIBBH")
"""Ports, sequence number, acknowledgment number, data offset, flags and window."""
UDP_HEAD = struct.Struct("!2s2sH")
"""Ports, and length with the header."""
PORT = struct.Struct("!H")

FRAGMENT = 0x3FFF
"""Mask of more fragments, and of the fragment offset."""

OPTIONS_END, NO_OPERATION, MSS, WINDOW_SCALE, SACK_PERMITTED, TIMESTAMPS = 0, 1, 2, 3, 4, 8
"""Kinds of TCP options (RFC 9293 §3.2, RFC 7323 §2.2 and §3.2, RFC 2018)."""
STAMPS = struct.Struct("!II")
ALIGNED, ALIGNED_BYTES = bytes((NO_OPERATION, NO_OPERATION, TIMESTAMPS, 10)), 12
"""Timestamps alone, as most packets have them (RFC 7323 appendix A)."""


class Packet(NamedTuple):
    """One UDP datagram or TCP segment, or several TCP segments that Linux
    carries as one packet (GRO, TSO)."""

    time_ns: int
    """Time of the capture, in ns of CLOCK_MONOTONIC."""
    protocol: int
    source: bytes
    destination: bytes
    payload_bytes: int
    """Payload by the headers' lengths, of all its segments together; it is not captured itself."""
    segment_bytes: int
    """Payload of each TCP segment but the last, which may be shorter."""
    sequence: int
    """Sequence number of SYN, or else of the first payload byte; 0 for UDP."""
    acknowledgment: int
    """Next sequence number that the sender expects; meaningless without ACK, 0 for UDP."""
    flags: int
    """TCP flags: FIN, SYN, RST, ACK and others; 0 for UDP."""
    window: int
    """Window field as sent, not scaled; 0 for UDP."""
    options: bytes
    """TCP options as sent; empty for UDP."""

    @property
    def segments(self) -> int:
        """Number of TCP segments or UDP datagrams on the wire; one without payload counts."""
        return -(-self.payload_bytes // self.segment_bytes) if self.segment_bytes else 1

    @property
    def mss(self) -> int | None:
        """Maximum segment size that the sender accepts (RFC 9293 §3.7.1)."""
        value = find_option(self.options, MSS)
        return int.from_bytes(value, "big") if value is not None and len(value) == 2 else None

    @property
    def window_scale(self) -> int | None:
        """Shift of later window fields (RFC 7323 §2.2), of a SYN."""
        value = find_option(self.options, WINDOW_SCALE)
        return min(value[0], 14) if value is not None and len(value) == 1 else None

    @property
    def timestamps(self) -> tuple[int, int] | None:
        """TSval and TSecr (RFC 7323 §3.2)."""
        if len(self.options) == ALIGNED_BYTES and self.options.startswith(ALIGNED):
            return STAMPS.unpack_from(self.options, len(ALIGNED))
        value = find_option(self.options, TIMESTAMPS)
        return STAMPS.unpack(value) if value is not None and len(value) == STAMPS.size else None


def parse_packet(headers: memoryview | bytes, *, time_ns: int, size: int, gso_size: int = 0) -> Packet | None:
    """Return the packet of which `headers` is the beginning, from the IP header on; None if it is no whole
    TCP or UDP.

    `size` is the captured packet's own; bytes beyond the length in its IP header are not payload. A packet
    too long for its length field has 0 there, as inside Linux (BIG TCP): then `size` counts. `gso_size` is
    the payload of each of its segments if the kernel merged them or has yet to cut them, as a virtio_net_hdr
    has it; else 0. Checksums are not verified.
    """
    if len(headers) < IPV4_HEADER:
        return None
    if headers[0] >> 4 == 4:
        first, length, fragment, protocol, source, destination = IPV4.unpack_from(headers)
        at = (first & 0x0F) * 4
        end_at = length or size
        if fragment & FRAGMENT or at < IPV4_HEADER:
            return None
    elif headers[0] >> 4 == 6 and len(headers) >= IPV6_HEADER:
        length, protocol, source, destination = IPV6.unpack_from(headers)
        at = IPV6_HEADER
        end_at = length + IPV6_HEADER if length else size
    else:
        return None
    if end_at > size:
        return None
    if protocol == TCP:
        return _segment(headers[at:], source, destination, end_at - at, time_ns=time_ns, gso_size=gso_size)
    return (
        _datagram(headers[at:], source, destination, end_at - at, time_ns=time_ns)
        if protocol == UDP
        else None
    )


def _segment(
    headers: memoryview | bytes, source: bytes, destination: bytes, size: int, *, time_ns: int, gso_size: int
) -> Packet | None:
    if len(headers) < TCP_HEADER:
        return None
    source_port, port, sequence, acknowledgment, offset, flags, window = TCP_HEAD.unpack_from(headers)
    header = (offset >> 4) * 4
    payload = size - header
    if not TCP_HEADER <= header <= len(headers) or payload < 0:
        return None
    return Packet(
        time_ns,
        TCP,
        source + source_port,
        destination + port,
        payload,
        min(gso_size or payload, payload),
        sequence,
        acknowledgment,
        flags,
        window,
        bytes(headers[TCP_HEADER:header]),
    )


def _datagram(
    headers: memoryview | bytes, source: bytes, destination: bytes, size: int, *, time_ns: int
) -> Packet | None:
    if len(headers) < UDP_HEADER:
        return None
    source_port, port, length = UDP_HEAD.unpack_from(headers)
    if not UDP_HEADER <= length <= size:
        return None
    payload = length - UDP_HEADER
    return Packet(time_ns, UDP, source + source_port, destination + port, payload, payload, 0, 0, 0, 0, b"")


def find_option(options: bytes, kind: int) -> bytes | None:
    """Return the value of the first TCP option of a kind (RFC 9293 §3.2); None also if options are malformed.

    >>> find_option(bytes.fromhex("020405b4 0101 0402"), MSS).hex()
    '05b4'
    """
    return next((value for option_kind, value in _options(options) if option_kind == kind), None)


def list_option_kinds(options: bytes) -> list[int]:
    """Return the kinds of the TCP options, in their order, without padding.

    >>> list_option_kinds(bytes.fromhex("020405b4 0101 0402"))
    [2, 4]
    """
    return [kind for kind, _ in _options(options)]


def _options(options: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 1 < len(options) and options[at] != OPTIONS_END:
        if options[at] == NO_OPERATION:
            at += 1
            continue
        end_at = at + options[at + 1]
        if end_at < at + 2 or end_at > len(options):
            return
        yield options[at], options[at + 2 : end_at]
        at = end_at


def pack_name(local_port: int, remote_address: str, remote_port: int) -> bytes:
    """Return local port and remote end, which tell a connection apart in a namespace; ValueError as
    `pack_end`.
    """
    return PORT.pack(local_port) + pack_end(remote_address, remote_port)


def pack_end(address: str, port: int) -> bytes:
    """Return address and port as in a packet's headers; raises ValueError if the address is invalid.

    An IPv4-mapped address (`::ffff:192.0.2.1`) is sent as IPv4.

    >>> pack_end("127.0.0.2", 443).hex(" ", 4)
    '7f00 000201bb'
    """
    ip = ipaddress.ip_address(address)
    mapped = ip.ipv4_mapped if ip.version == 6 else None
    return (mapped or ip).packed + PORT.pack(port)
