"""A capture socket, and the ring of memory through which the kernel hands over the headers of packets.

packet(7), and Documentation/networking/packet_mmap.rst in Linux's source: TPACKET_V3. A packet is in the ring
before its connection can be read. No payload is in it: the filter cuts each packet behind its TCP or UDP
header.
"""

import contextlib
import ctypes
import mmap
import socket
import struct
import time
from collections.abc import Iterator

from crawler.capture.packets import IPV6_HEADER, TCP, UDP, UDP_HEADER, Packet, parse_packet

LOOPBACK = "lo"

BLOCK_BYTES = 64 * 1024
"""Size of a block: the kernel fills and hands over block after block.

The headers of some 400 packets fill one.
"""
BLOCKS = 128
"""Blocks of a ring: 50,000 packets, half a second of 1 Gbit/s, or two seconds of sparse packets,
which take a block every RETIRE_MS."""
RETIRE_MS = 16
"""Time after which a block with a packet is handed over, full or not."""

# linux/if_packet.h
SOL_PACKET = 263
PACKET_RX_RING = 5
PACKET_STATISTICS = 6
PACKET_VERSION = 10
PACKET_VNET_HDR = 15
PACKET_IGNORE_OUTGOING = 23
TPACKET_V3 = 2
TP_STATUS_KERNEL, TP_STATUS_USER = 0, 1

# linux/if_ether.h
ETH_P_ALL, ETH_P_IP, ETH_P_IPV6 = 0x0003, 0x0800, 0x86DD

REQUEST = struct.Struct("=7I")
STATISTICS = struct.Struct("=3I")
"""struct tpacket_stats_v3: packets, dropped packets among them, and how often the ring was full."""
BLOCK = struct.Struct("=8x3I")
"""Start of struct tpacket_block_desc: status, number of packets, and offset of the first."""
PACKET = struct.Struct("=5I4x2H")
"""Start of struct tpacket3_hdr: offset of the next, seconds and nanoseconds, bytes kept, bytes in all, and
offsets of the Ethernet and the IP header."""
GSO_SIZE = struct.Struct("=4xH4x")
"""struct virtio_net_hdr, in front of the Ethernet header:
payload of each segment of a packet that has several, or 0."""
STATUS_AT = 8

SO_ATTACH_FILTER = 26
ETHERNET_HEADER = 14
LOAD, LOAD_HALF, LOAD_BYTE, LOAD_BYTE_AT_X = 0x00, 0x28, 0x30, 0x50
LOAD_X, LOAD_X_IPV4_HEADER = 0x01, 0xB1
ADD, ADD_X, AND, SHIFT_RIGHT = 0x04, 0x0C, 0x54, 0x74
JUMP, JUMP_IF_EQUAL, RETURN, RETURN_SUM = 0x05, 0x15, 0x06, 0x16
PROTOCOL = 0xFFFF_F000
"""SKF_AD_OFF + SKF_AD_PROTOCOL: the protocol in the Ethernet header."""
HEADERS_ALONE = [
    (LOAD_HALF, 0, 0, PROTOCOL),
    (JUMP_IF_EQUAL, 0, 3, ETH_P_IP),
    (LOAD_X_IPV4_HEADER, 0, 0, ETHERNET_HEADER),
    (LOAD_BYTE, 0, 0, ETHERNET_HEADER + 9),
    (JUMP, 0, 0, 3),
    (JUMP_IF_EQUAL, 0, 12, ETH_P_IPV6),
    (LOAD_X, 0, 0, IPV6_HEADER),
    (LOAD_BYTE, 0, 0, ETHERNET_HEADER + 6),
    (JUMP_IF_EQUAL, 0, 4, TCP),
    (
        LOAD_BYTE_AT_X,
        0,
        0,
        ETHERNET_HEADER + 12,
    ),  # the header's length in the upper half, in words of four bytes
    (AND, 0, 0, 0xF0),
    (SHIFT_RIGHT, 0, 0, 2),
    (JUMP, 0, 0, 2),
    (JUMP_IF_EQUAL, 0, 4, UDP),
    (LOAD, 0, 0, UDP_HEADER),
    (ADD_X, 0, 0, 0),
    (ADD, 0, 0, ETHERNET_HEADER),
    (RETURN_SUM, 0, 0, 0),
    (RETURN, 0, 0, 0),
]
"""BPF instructions (code, jumps if true and if false, operand): of TCP and UDP in IPv4 and IPv6 all headers
pass, of at most 134 bytes, and nothing else."""


def open_socket(interface: str) -> socket.socket:
    """Open a socket that captures the headers of TCP and UDP packets on an Ethernet interface of this network
    namespace.

    Needs CAP_NET_RAW (PermissionError); a process that is given the socket needs no capability. On loopback,
    where each packet leaves and arrives, it captures only those that arrive.
    """
    instructions = ctypes.create_string_buffer(
        b"".join(struct.pack("=HBBI", *instruction) for instruction in HEADERS_ALONE)
    )
    program = struct.pack("@HP", len(HEADERS_ALONE), ctypes.addressof(instructions))
    with contextlib.ExitStack() as stack:
        # Protocol 0 captures nothing before `bind`: every packet passes the filter.
        capture = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0)
        stack.callback(capture.close)
        capture.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
        capture.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        capture.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, interface == LOOPBACK)
        capture.bind((interface, ETH_P_ALL))
        stack.pop_all()
        return capture


def renew_ring(capture: socket.socket, interface: str) -> None:
    """Continue a capture on an interface that was made anew under its name.

    Needs no capability: the socket finds the interface in its own network namespace.
    """
    capture.bind((interface, ETH_P_ALL))
    capture.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)  # ENETDOWN, from the end of the old interface


class Ring:
    """The receive ring of a capture socket, in memory shared with the kernel.

    Packets from before the ring are lost. The caller closes the socket.
    """

    def __init__(self, capture: socket.socket, *, blocks: int = BLOCKS) -> None:
        self._capture = capture
        self._blocks = blocks
        self._at = 0
        capture.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V3)
        self._request(blocks)
        self._map = mmap.mmap(capture.fileno(), blocks * BLOCK_BYTES)
        self.memory = memoryview(self._map)

    def fileno(self) -> int:
        """Return the descriptor for select and poll: readable when a block was handed over."""
        return self._capture.fileno()

    def packets(self) -> Iterator[Packet]:
        """Yield all packets handed over so far; does not wait.

        If an iteration is broken off, its last block comes again.
        """
        view, unpack = self.memory, PACKET.unpack_from
        monotonic_ns = time.monotonic_ns() - time.time_ns()
        for _ in range(self._blocks):  # a limit: packets may come faster than they are read
            block = self._at * BLOCK_BYTES
            status, packets, first = BLOCK.unpack_from(view, block)
            if not status & TP_STATUS_USER:
                return
            at = block + first
            for _ in range(packets):
                further, seconds, parts, kept, whole, ethernet, network = unpack(view, at)
                (gso_size,) = GSO_SIZE.unpack_from(view, at + ethernet - GSO_SIZE.size)
                packet = parse_packet(
                    view[at + network : at + ethernet + kept],
                    time_ns=seconds * 1_000_000_000 + parts + monotonic_ns,
                    size=whole - (network - ethernet),
                    gso_size=gso_size,
                )
                if packet is not None:
                    yield packet
                at += further
            struct.pack_into("=I", view, block + STATUS_AT, TP_STATUS_KERNEL)
            self._at = (self._at + 1) % self._blocks

    def count_dropped(self) -> int:
        statistics = self._capture.getsockopt(SOL_PACKET, PACKET_STATISTICS, STATISTICS.size)
        return int(STATISTICS.unpack(statistics)[1])

    def close(self) -> None:
        """Free the memory, if need be at the end of an iteration."""
        self.memory.release()
        with contextlib.suppress(BufferError, OSError):
            self._map.close()
            self._request(0)

    def _request(self, blocks: int) -> None:
        size = BLOCK_BYTES if blocks else 0
        ring = REQUEST.pack(size, blocks, size, blocks, RETIRE_MS if blocks else 0, 0, 0)
        self._capture.setsockopt(SOL_PACKET, PACKET_RX_RING, ring)
