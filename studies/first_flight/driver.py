"""Runs inside the guest: opens connections over paths of the lab, one after another,
and prints their packets' headers.

    client --- [delay, loss, rate] path [delay, loss] --- server

The client has an address for each initial window and congestion control,
to which the server has a route with both.
"""

import base64
import ctypes
import importlib
import itertools
import json
import os
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

# The guest's Python runs isolated, without the folder of its program.
sys.path.insert(0, str(Path(__file__).parent / "servers"))
programs = importlib.import_module("programs")

SERVER = "10.1.0.1"
RECEIVE_SEGMENTS = 1000
"""Initial receive window of the client (`initrwnd`); Linux's own is 64 kB, whatever the memory."""
CONTROLS = {"cubic": 1, "bbr": 2, "reno": 3}
"""Numbers of congestion controls, for addresses."""
PORT = 80
SNAP_BYTES = 152
SO_TIMESTAMPNS, SO_RCVBUFFORCE = 35, 33
SOL_PACKET, PACKET_VNET_HDR = 263, 15
VNET_HEADER = struct.Struct("=x B 2x H")
"""Type and size of the segments of a merged packet (linux/virtio_net.h)."""
VNET_BYTES, ETHERNET_BYTES = 10, 14
IP = b"\x08\x00"
"""Ethernet's type of IPv4."""
ETH_P_ALL = 0x0003
"""Arriving and leaving packets."""
CLONE_NEWNET = 0x4000_0000
WRITE_BYTES = 16_384
REQUEST_BYTES = 400
CAPTURE_BYTES = 64_000_000
DEVICES = [("server", "server0"), ("client", "client0"), ("path", "to_server"), ("path", "to_client")]
SETTLE_S = 5.0
SETTINGS = [
    "net.ipv4.tcp_no_metrics_save=1",
    "net.ipv4.tcp_rmem=4096 8000000 16000000",
    "net.ipv4.tcp_wmem=4096 4000000 8000000",
]
"""Memory is large, so that it does not limit, unless a cell says so."""


def say(facts: dict[str, Any]) -> None:
    print("@" + json.dumps(facts), flush=True)


def run(*commands: str) -> None:
    for command in commands:
        subprocess.run(command.split(), check=True)


def client_address(window: int, control: str) -> str:
    """Return the client's address to which the server begins with a window of so many segments, under a
    congestion control."""
    return f"10.1.{CONTROLS[control]}.{window}"


def build(windows: list[int]) -> None:
    for name in ("client", "path", "server"):
        run(f"ip netns add {name}", f"ip -n {name} link set lo up")
    for end in ("client", "server"):
        run(
            f"ip link add {end}0 netns {end} type veth peer name to_{end} netns path",
            f"ip -n {end} link set {end}0 up",
            f"ip -n path link set to_{end} up",
        )
    run(
        "ip -n path link add bridge type bridge stp_state 0 mcast_snooping 0", "ip -n path link set bridge up"
    )
    run("ip -n path link set to_client master bridge", "ip -n path link set to_server master bridge")
    run(f"ip -n server address add {SERVER}/16 dev server0")
    for window, control in itertools.product(windows, CONTROLS):
        address = client_address(window, control)
        run(f"ip -n client address add {address}/16 dev client0")
        run(f"ip -n server route add {address} dev server0 initcwnd {window} congctl {control}")
    run(f"ip -n client route add {SERVER} dev client0 initrwnd {RECEIVE_SEGMENTS}")
    for end in ("client", "server"):
        for setting in SETTINGS:
            subprocess.run(["ip", "netns", "exec", end, "sysctl", "-q", "-w", setting], check=True)


def shape(path: dict[str, Any]) -> None:
    """Set delay, jitter, loss and rate of the path, pacing of the server,
    and whether segments travel merged."""
    line = f"netem limit 100000 delay {path['rtt_us'] / 2}us {path['jitter_us']}us"
    if path["loss_percent"]:
        line += f" loss {path['loss_percent']}%"
    rate = f" rate {path['rate_mbit']}mbit"  # with a rate, packets keep their order
    run(
        f"tc -n path qdisc replace dev to_client root {line}{rate}",
        f"tc -n path qdisc replace dev to_server root {line}{rate if path['jitter_us'] else ''}",
        f"tc -n server qdisc replace dev server0 root {'fq' if path['is_paced'] else 'pfifo'}",
    )
    state = "on" if path["is_merged"] else "off"
    for namespace, device in DEVICES:
        run(f"ip netns exec {namespace} ethtool -K {device} tso {state} gso {state} gro {state}")


def enter(namespace: str) -> None:
    with Path(f"/run/netns/{namespace}").open() as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), namespace)


def read(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size and (piece := sock.recv(size - len(data))):
        data += piece
    return data


def write(sock: socket.socket, size: int) -> None:
    """Write zeros, WRITE_BYTES at a time."""
    for at in range(0, size, WRITE_BYTES):
        sock.sendall(bytes(min(WRITE_BYTES, size - at)))


def serve(sock: socket.socket) -> None:
    """Serve one connection as its first bytes ask.

    Perhaps a handshake's flight and small writes, the part that is flushed,
    and after the time to think the rest.
    """
    with sock:
        cell = json.loads(read(sock, int(read(sock, 4))))
        if cell["handshake"]:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.sendall(bytes(cell["handshake"]))
            read(sock, REQUEST_BYTES)
        for size in cell["early"]:
            sock.sendall(bytes(size))
        write(sock, cell["flushed"])
        time.sleep(cell["think_us"] / 1e6)
        write(sock, cell["body"] - cell["flushed"])
        sock.shutdown(socket.SHUT_WR)
        read(sock, 1)


def listen(ready: threading.Barrier) -> None:
    """Serve connections without TLS, in the server's namespace."""
    enter("server")
    listener = socket.create_server(("", PORT), backlog=64)
    ready.wait()
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=serve, args=[sock], daemon=True).start()


def capture_socket() -> socket.socket:
    """Return a socket that captures all that crosses the client's interface, with the kernel's times."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, CAPTURE_BYTES)
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    sock.bind(("client0", ETH_P_ALL))
    sock.setblocking(False)
    return sock


def read_packets(sock: socket.socket) -> list[list[Any]]:
    """Return the time in nanoseconds, payload of each of its segments if it has several, and headers of each
    packet since the last call."""
    packets: list[list[Any]] = []
    while True:
        try:
            data, ancillary, _, _ = sock.recvmsg(SNAP_BYTES, 64, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return packets
        seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
        gso_type, gso_size = VNET_HEADER.unpack_from(data)
        if data[VNET_BYTES + ETHERNET_BYTES - 2 : VNET_BYTES + ETHERNET_BYTES] != IP:
            continue
        header = base64.b64encode(data[VNET_BYTES + ETHERNET_BYTES :]).decode("ascii")
        packets.append([seconds * 1_000_000_000 + nanoseconds, gso_size if gso_type else 0, header])


def ask(cell: dict[str, Any]) -> dict[str, Any]:
    """Open a connection, take its response whole, and return its end and the time of the request."""
    with socket.socket() as sock:
        if cell["receive_buffer"]:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, cell["receive_buffer"])
        sock.bind((client_address(cell["window"], cell["control"]), 0))
        sock.connect((SERVER, PORT))
        client = sock.getsockname()
        order = json.dumps(cell).encode()
        began = time.time_ns()
        sock.sendall(b"%04d" % len(order) + order)
        if cell["handshake"]:
            read(sock, cell["handshake"])
            began = time.time_ns()
            sock.sendall(bytes(REQUEST_BYTES))
        left = cell["body"] + sum(cell["early"])
        while left > 0 and (data := sock.recv(min(left, 1 << 20))):
            left -= len(data)
    return {"client": client, "request_ns": began}


def ask_secured(
    client: Any,  # noqa: ANN401  # of servers/programs.py
    cell: dict[str, Any],
    capture: socket.socket,
) -> dict[str, Any]:
    """Take a response of a server that speaks TLS, on a resumed session if the cell says so,
    as `ask` does."""
    session = None
    if cell["is_resumed"]:
        _, session, _ = _ask_tls(
            client, cell | {"think_us": 0, "flushed": 0, "body": cell["bodies"][0]}, None
        )
        time.sleep(SETTLE_S)
        read_packets(capture)
    began, _, address = _ask_tls(client, cell, session)
    return {"client": address, "request_ns": began}


def _ask_tls(
    client: Any,  # noqa: ANN401
    cell: dict[str, Any],
    session: ssl.SSLSession | None,
) -> tuple[int, ssl.SSLSession | None, Any]:
    with socket.socket() as sock:
        sock.bind((client_address(cell["window"], cell["control"]), 0))
        sock.connect((SERVER, programs.PORTS[cell["server"], cell["protocol"]]))
        address = sock.getsockname()
        return *client.ask(sock, cell, session), address


def main() -> None:
    work = json.loads(Path(sys.argv[1]).read_text())
    build(work["windows"])
    ready = threading.Barrier(2)
    threading.Thread(target=listen, args=[ready], daemon=True).start()
    ready.wait()
    if work["programs"]:
        starting = threading.Thread(
            target=programs.start, args=[work["programs"], work["bodies"], lambda: enter("server")]
        )
        starting.start()
        starting.join()
    enter("client")
    client = programs.Client()
    sock = capture_socket()
    for path in work["paths"]:
        shape(path["path"])
        for cell in path["cells"]:
            if cell["server"] == "plain":
                exchange = ask(cell)
            else:
                exchange = ask_secured(client, cell | {"bodies": work["bodies"]}, sock)
            time.sleep(SETTLE_S)
            say({"cell": cell, "network": path["path"]["id"], "packets": read_packets(sock), **exchange})
    say({"finished": True})
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
