"""Runs inside the guest: an operator's commands on a server, and a capture of what the server then sends.

    client --- wan [delay] router [delay] lan --- eth0 server

The server is the guest itself, router and client are namespaces. Steps of the work are done in order,
and what a command changes stays for later steps.
"""

import ctypes
import json
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

SERVER, CLIENT = {4: "192.0.2.10", 6: "2001:db8::10"}, {4: "198.51.100.10", 6: "2001:db8:1::10"}
ROUTER_LAN, ROUTER_WAN = {4: "192.0.2.1", 6: "2001:db8::1"}, {4: "198.51.100.1", 6: "2001:db8:1::1"}
PREFIX = {4: 24, 6: 64}
FORWARDING = {4: "net.ipv4.ip_forward=1", 6: "net.ipv6.conf.all.forwarding=1"}
SOCKET = {4: socket.AF_INET, 6: socket.AF_INET6}
PORT = 443
CLONE_NEWNET = 0x4000_0000
ETH_P_ALL = 0x0003
SO_TIMESTAMPNS = 35
SNAP_BYTES = 128
ETHERNET_BYTES, IPV6_BYTES = 14, 40
TCP_INFO_RTT, TCP_INFO_TOTAL_RETRANS = 68, 100
"""Offsets in struct tcp_info (linux/tcp.h): of the round trip in microseconds, and of what was sent again."""
BODY_BYTES = 40 * 1460
REQUEST = b"GET / HTTP/1.1\r\n\r\n"
SETTLE_S = 0.5
"""Pause after a response, in which its last acknowledgement arrives."""
OUTAGE_S = 0.5
"""Time from the SYN in which nothing reaches the client; a SYN-ACK is repeated after a second."""


def say(facts: dict[str, Any]) -> None:
    print("@" + json.dumps(facts), flush=True)


def run(*commands: str) -> None:
    """Run commands; one that fails ends the guest's work."""
    for command in commands:
        subprocess.run(command.split(), check=True)


def operate(commands: str, folder: str) -> str:
    if not commands:
        return ""
    done = subprocess.run(
        ["sh", "-ec", commands],
        cwd=folder,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        raise SystemExit(f"{commands}: {done.stdout}")
    return done.stdout


def build(families: list[int], queues: int) -> None:
    """Make links, addresses and routes of server, router and client; `queues` are of the server's device."""
    for name in ("client", "router"):
        run(f"ip netns add {name}", f"ip -n {name} link set lo up")
    shape = f"numtxqueues {queues} numrxqueues {queues}"
    run(
        f"ip link add eth0 {shape} type veth peer name lan netns router {shape}",
        "ip link add client0 netns client type veth peer name wan netns router",
    )
    links = [("", "eth0", SERVER), ("router", "lan", ROUTER_LAN)]
    links += [("router", "wan", ROUTER_WAN), ("client", "client0", CLIENT)]
    for name, device, addresses in links:
        inside, of_name = (f"ip netns exec {name} ", f"-n {name} ") if name else ("", "")
        # Without segmentation by the device, each packet of the capture is a segment.
        run(f"{inside}ethtool -K {device} tso off gso off gro off", f"ip {of_name}link set {device} up")
        for family in families:
            address = f"{addresses[family]}/{PREFIX[family]}"
            run(f"ip {of_name}address add {address} dev {device}{' nodad' if family == 6 else ''}")
    for family in families:
        run(f"ip netns exec router sysctl -q -w {FORWARDING[family]}")
        run(f"ip -{family} route add default via {ROUTER_LAN[family]} dev eth0")
        run(f"ip -n client -{family} route add default via {ROUTER_WAN[family]} dev client0")


def mount_all() -> None:
    """Mount what the commands expect at the places where systemd mounts it, if the kernel has it."""
    kinds = {line.split()[-1] for line in Path("/proc/filesystems").read_text().splitlines()}
    for kind, place in (("sysfs", "/sys"), ("cgroup2", "/sys/fs/cgroup"), ("bpf", "/sys/fs/bpf")):
        if kind in kinds:
            run(f"mount -t {kind} {kind} {place}")


def delay(rtt_ms: float, loss_percent: int = 0) -> None:
    """Set the path's round trip, half of it each way, and the loss towards the client."""
    netem = f"netem limit 10000 delay {rtt_ms / 2}ms loss"
    for device, loss in (("lan", 0), ("wan", loss_percent)):
        run(f"tc -n router qdisc replace dev {device} root {netem} {loss}%")


def client_socket(family: int) -> socket.socket:
    with Path("/proc/self/ns/net").open() as server, Path("/run/netns/client").open() as client:
        enter(client)
        try:
            return socket.socket(SOCKET[family])
        finally:
            enter(server)


def enter(namespace: IO[str]) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), namespace.name)


def capture_socket() -> socket.socket:
    """Return a socket that captures what crosses the server's interface, with the kernel's times."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    sock.bind(("eth0", ETH_P_ALL))
    return sock


def first_flight(capture: socket.socket) -> list[list[int]]:
    """Return the segments that left since the capture was last read, until a packet of TCP arrived:
    microsecond since the first, and payload in bytes."""
    segments: list[list[int]] = []
    has_ended = False
    while True:
        try:
            frame, ancillary, _, address = capture.recvmsg(SNAP_BYTES, 64, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return [[(at_ns - segments[0][0]) // 1000, size] for at_ns, size in segments]
        payload = tcp_payload(frame[ETHERNET_BYTES:])
        if payload is None or has_ended:
            continue
        has_ended = address[2] != socket.PACKET_OUTGOING
        if payload and not has_ended:
            seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
            segments.append([seconds * 1_000_000_000 + nanoseconds, payload])


def tcp_payload(packet: bytes) -> int | None:
    """Return the size of a packet's TCP payload (RFC 791, 8200, 9293); None if it is no packet of TCP."""
    if packet[0] >> 4 == 4 and packet[9] == socket.IPPROTO_TCP:
        header = (packet[0] & 0x0F) * 4
        size = int.from_bytes(packet[2:4])
    elif packet[0] >> 4 == 6 and packet[6] == socket.IPPROTO_TCP:
        header = IPV6_BYTES
        size = header + int.from_bytes(packet[4:6])
    else:
        return None
    return size - header - (packet[header + 12] >> 4) * 4


def read(sock: socket.socket, size: int) -> None:
    while size:
        size -= len(sock.recv(size))


def connect(listener: socket.socket, client: socket.socket, step: dict[str, Any]) -> socket.socket:
    """Connect a client, and return the server's end; the SYN-ACK is lost once if the step says so."""
    client.setblocking(False)
    if step["loses_syn_ack"]:
        delay(step["rtt_ms"], loss_percent=100)
    client.connect_ex((SERVER[step["family"]], PORT))
    if step["loses_syn_ack"]:
        time.sleep(OUTAGE_S)
        delay(step["rtt_ms"])
    client.setblocking(True)
    return listener.accept()[0]


def take(step: dict[str, Any], folder: str) -> dict[str, Any]:
    """Do a step: its commands, then a connection with a response after each of the step's pauses."""
    family = step["family"]
    said = operate(step["commands"], folder)
    delay(step["rtt_ms"])
    listener = socket.create_server((SERVER[family], PORT), family=SOCKET[family])
    run(f"sysctl -q -w net.ipv4.tcp_timestamps={step['timestamps']:d}")
    capture = capture_socket()
    with listener, capture, client_socket(family) as client:
        server = connect(listener, client, step)
        with server:
            facts = server.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            watched = operate(step["watch"], folder)
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server.sendall(bytes(step["handshake_bytes"]))
            read(client, step["handshake_bytes"])
            client.sendall(REQUEST)
            read(server, len(REQUEST))
            first_flight(capture)
            flights = []
            for pause_s in step["pauses_s"]:
                time.sleep(pause_s)
                server.sendall(bytes(BODY_BYTES))
                read(client, BODY_BYTES)
                time.sleep(SETTLE_S + step["rtt_ms"] / 1000)
                flights.append(first_flight(capture))
    rtt_us, repeated = (
        struct.unpack_from("=I", facts, at)[0] for at in (TCP_INFO_RTT, TCP_INFO_TOTAL_RETRANS)
    )
    return {"rtt_us": rtt_us, "repeated": repeated, "flights": flights, "said": said, "watched": watched}


def main() -> None:
    work = json.loads(Path(sys.argv[1]).read_text())
    mount_all()
    build(work["families"], work["queues"])
    for family in work["families"]:
        take({**work["steps"][0], "family": family, "commands": "", "watch": ""}, work["folder"])
    for step in work["steps"]:
        say({"done": take(step, work["folder"])})
    say({"finished": True})


if __name__ == "__main__":
    main()
