"""A capture socket, and the ring of memory through which the kernel hands over packets.

packet(7), and Documentation/networking/packet_mmap.rst in Linux's source: TPACKET_V3. A packet is in the ring before its
connection can be read.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import socket
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK_BYTES = 256 * 1024
"""Size of a block: the kernel fills and hands over block after block. A packet must fit; a segment before segmentation by
the network device (GSO) has up to 64 KiB, and three of them fill most of a block."""
BLOCKS = 256
"""Blocks of a ring: half a second of 1 Gbit/s, or two seconds of sparse packets, which take a block every RETIRE_MS."""
RETIRE_MS = 8
"""Time after which a block with a packet is handed over, full or not."""

# linux/if_packet.h
SOL_PACKET = 263
PACKET_RX_RING = 5
PACKET_STATISTICS = 6
PACKET_VERSION = 10
PACKET_IGNORE_OUTGOING = 23
TPACKET_V3 = 2
TP_STATUS_KERNEL, TP_STATUS_USER = 0, 1

# linux/if_ether.h
ETH_P_ALL, ETH_P_IP, ETH_P_IPV6 = 0x0003, 0x0800, 0x86DD

REQUEST = struct.Struct("=7I")
"""struct tpacket_req3."""
STATISTICS = struct.Struct("=3I")
"""struct tpacket_stats_v3: packets, dropped packets among them, and how often the ring was full."""
BLOCK = struct.Struct("=8x3I")
"""Start of struct tpacket_block_desc: status, number of packets, and offset of the first."""
PACKET = struct.Struct("=I8xIII2xH")
"""Start of struct tpacket3_hdr: offset of the next, bytes kept, bytes in all, status, and offset of the IP header."""
STATUS_AT = 8

SO_ATTACH_FILTER = 26
LOAD_HALF, LOAD_BYTE, JUMP_IF_EQUAL, RETURN = 0x28, 0x30, 0x15, 0x06
PROTOCOL = 0xFFFF_F000
"""SKF_AD_OFF + SKF_AD_PROTOCOL: the link layer's protocol, on any link."""
HOP_BY_HOP, TCP, ROUTING, DESTINATION = 0, 6, 43, 60
TCP_ALONE = [
    (LOAD_HALF, 0, 0, PROTOCOL),
    (JUMP_IF_EQUAL, 0, 2, ETH_P_IP),
    (LOAD_BYTE, 0, 0, 9),
    (JUMP_IF_EQUAL, 7, 6, TCP),
    (JUMP_IF_EQUAL, 0, 5, ETH_P_IPV6),
    (LOAD_BYTE, 0, 0, 6),
    (JUMP_IF_EQUAL, 4, 0, TCP),
    (JUMP_IF_EQUAL, 3, 0, HOP_BY_HOP),
    (JUMP_IF_EQUAL, 2, 0, ROUTING),
    (JUMP_IF_EQUAL, 1, 0, DESTINATION),
    (RETURN, 0, 0, 0),
    (RETURN, 0, 0, BLOCK_BYTES),
]
"""BPF instructions (code, jumps if true and if false, operand) that pass TCP in IPv4, and in IPv6 after any headers."""


def open_socket(interface: str) -> socket.socket:
    """A socket that captures the TCP packets which arrive at an interface of this network namespace, from the IP header on.

    Needs CAP_NET_RAW (PermissionError); a process that is given the socket needs no capability. Packets that leave by
    the interface are not captured, so that on loopback each packet is there once.
    """
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *one) for one in TCP_ALONE))
    program = struct.pack("@HP", len(TCP_ALONE), ctypes.addressof(instructions))
    with contextlib.ExitStack() as stack:
        # Protocol 0 captures nothing before `bind`: every packet passes the filter.
        capture = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, 0)
        stack.callback(capture.close)
        capture.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
        capture.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        capture.bind((interface, ETH_P_ALL))
        stack.pop_all()
        return capture


def renew(capture: socket.socket, interface: str) -> None:
    """Continue a capture on an interface that was made anew under its name; the ring and its reader remain.

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
        self._view = memoryview(self._map)

    def fileno(self) -> int:
        """Descriptor for select and poll: readable when a block was handed over."""
        return self._capture.fileno()

    def packets(self) -> Iterator[memoryview]:
        """All packets handed over so far, each from its IP header on; does not wait.

        A packet is valid until the next: then its memory may be the kernel's again. Packets that were cut short are left
        out. If an iteration is broken off, its last block comes again in the next.
        """
        view, unpack = self._view, PACKET.unpack_from
        for _ in range(self._blocks):  # a limit: packets may come faster than they are read
            block = self._at * BLOCK_BYTES
            status, packets, first = BLOCK.unpack_from(view, block)
            if not status & TP_STATUS_USER:
                return
            at = block + first
            for _ in range(packets):
                further, kept, whole, _, network = unpack(view, at)
                if kept == whole:
                    yield view[at + network : at + network + kept]
                at += further
            struct.pack_into("=I", view, block + STATUS_AT, TP_STATUS_KERNEL)
            self._at = (self._at + 1) % self._blocks

    def dropped(self) -> int:
        """Packets that found no room in the ring, since the last call."""
        told = self._capture.getsockopt(SOL_PACKET, PACKET_STATISTICS, STATISTICS.size)
        return int(STATISTICS.unpack(told)[1])

    def close(self) -> None:
        """Free the memory; if a packet is still in use, as soon as it is released and the socket closed."""
        self._view.release()
        with contextlib.suppress(BufferError, OSError):
            self._map.close()
            self._request(0)

    def _request(self, blocks: int) -> None:
        size = BLOCK_BYTES if blocks else 0
        ring = REQUEST.pack(size, blocks, size, blocks, RETIRE_MS if blocks else 0, 0, 0)
        self._capture.setsockopt(SOL_PACKET, PACKET_RX_RING, ring)
