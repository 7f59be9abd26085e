"""Runs inside the guest in place of replay/lab/guest/driver.py: the same jobs, captured at the first origin
and at the client. A capture's packets: time in ns, ports, sequence number, payload, flags, id of IP."""

import ctypes
import json
import os
import socket
import struct
import sys
from pathlib import Path

work = json.loads(Path(sys.argv[1]).read_text())
sys.path.insert(0, work["guest"])
sys.path.append("/usr/lib/python3/dist-packages")

import driver  # type: ignore[import-not-found]  # noqa: E402
import topology  # noqa: E402

SO_TIMESTAMPNS, SO_RCVBUFFORCE = 35, 33
ETH_P_ALL, ETH_P_IP = 3, 0x0800
CLONE_NEWNET = 0x40000000


def capture(pid: int, interface: str) -> socket.socket:
    libc = ctypes.CDLL(None, use_errno=True)
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    other = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    assert libc.setns(other, CLONE_NEWNET) == 0
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
    packets.bind((interface, ETH_P_ALL))
    packets.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 27)
    packets.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    assert libc.setns(own, CLONE_NEWNET) == 0
    packets.setblocking(False)
    return packets


def answer_packets(where: str, packets: socket.socket) -> None:
    lines = []
    while True:
        try:
            data, control, _, address = packets.recvmsg(128, 256)
        except BlockingIOError:
            break
        if address[1] != ETH_P_IP or data[9] != socket.IPPROTO_TCP:
            continue
        seconds, nanoseconds = struct.unpack("qq", control[0][2][:16])
        header, (size, ident) = 4 * (data[0] & 15), struct.unpack(">HH", data[2:6])
        source, target, sequence = struct.unpack(">HHI", data[header : header + 8])
        payload = size - header - 4 * (data[header + 12] >> 4)
        flags = data[header + 13]
        lines.append([seconds * 1_000_000_000 + nanoseconds, source, target, sequence, payload, flags, ident])
    driver.answer(captured=where, packets=lines)


def main() -> None:
    net = topology.start(origins=work["origins"], player=work["player"])
    player = driver.Player(net, work)
    player.tell([*work["settings"], *(f"page {path}" for path in work["pages"])])
    places = {"server": net["o0"].pid, "client": net["client"].pid}
    captures = {
        name: capture(pid, "o0-eth0" if name == "server" else "client-eth0") for name, pid in places.items()
    }
    for job in work["jobs"]:
        topology.shape(job["profile"], calibrating=False)
        player.tell([*job["network"], *job["loads"]])
        for name, packets in captures.items():
            answer_packets(name, packets)
    driver.answer(finished=True)


main()
