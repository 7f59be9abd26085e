"""Datagrams of WebRTC are connections, by the count of their packets."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import itertools
import os
import socket
import struct
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crawler.visiting import visit_hosts
from tests.zoo.replies import page
from tests.zoo.serving.capture import run_tcpdump
from tests.zoo.serving.delayed import IFF_TAP_NO_PI, TUNSETIFF
from tests.zoo.serving.namespace import in_namespace
from tests.zoo.serving.server import ZooWeb

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ADDRESS, STUN_PORT = "10.79.0.1", 3478
"""WebRTC leaves loopback out, so that it needs another interface."""

SENT = 50_000
MARKUP = """<script>(async () => {
const a = new RTCPeerConnection({iceServers: [{urls: 'stun:PLACE'}]}), b = new RTCPeerConnection();
a.onicecandidate = event => event.candidate && b.addIceCandidate(event.candidate);
b.onicecandidate = event => event.candidate && a.addIceCandidate(event.candidate);
const channel = a.createDataChannel('x');
let came = 0;
b.ondatachannel = event => { event.channel.onmessage = message => {
  came += message.data.length;
  if (came === SENT) fetch('/done');
}; };
channel.onopen = () => { for (let n = 0; n < 5; n++) channel.send('z'.repeat(SENT / 5)); };
await a.setLocalDescription(await a.createOffer());
await b.setRemoteDescription(a.localDescription);
await b.setLocalDescription(await b.createAnswer());
await a.setRemoteDescription(b.localDescription);
fetch('/awaited');
})()</script>""".replace("PLACE", f"{ADDRESS}:{STUN_PORT}").replace("SENT", str(SENT))

COOKIE = 0x2112A442
BINDING, ANSWERED, MAPPED = 0x0001, 0x0101, 0x0020
"""Request and response of STUN, and the attribute of the client's address (RFC 8489 §5, §14.2)."""


@contextlib.contextmanager
def interface() -> Iterator[None]:
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", b"tap", IFF_TAP_NO_PI))
    for command in (
        ("link", "set", "tap", "addrgenmode", "none"),
        ("addr", "add", f"{ADDRESS}/24", "dev", "tap"),
        ("link", "set", "tap", "up"),
        ("route", "add", "default", "via", "10.79.0.2", "dev", "tap"),
    ):
        subprocess.run(("ip", *command), check=True)
    try:
        yield
    finally:
        os.close(device)


def serve_stun() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind((ADDRESS, STUN_PORT))
        while True:
            asked, (address, port) = sock.recvfrom(2048)
            number = int.from_bytes(socket.inet_aton(address), "big") ^ COOKIE
            mapped = struct.pack("!HHBBHI", MAPPED, 8, 0, 1, port ^ (COOKIE >> 16), number)
            header = struct.pack("!HHI", ANSWERED, len(mapped), COOKIE) + asked[8:20]
            sock.sendto(header + mapped, (address, port))


def visited() -> dict[str, Any]:
    """Rows of a visit, and every datagram on loopback, which the host's own addresses are reached by."""
    with interface(), tempfile.TemporaryDirectory() as folder:
        threading.Thread(target=serve_stun, daemon=True).start()
        with run_tcpdump(Path(folder)) as captured:
            result = asyncio.run(_visited())
        udp = [[*ends, datagrams] for ends, datagrams in captured.carried.udp.items()]
        return {**result, "udp": udp}


async def _visited() -> dict[str, Any]:
    arrived = asyncio.Event()

    async def done(request: Any, reply: Any) -> None:
        if request.path == "/done":
            arrived.set()
        elif request.path == "/awaited":
            await arrived.wait()
        await page(MARKUP if request.path == "/" else "")(request, reply)

    web = ZooWeb({"talk.test": done}, protocol="h1")
    (observation,) = await visit_hosts(web, "talk.test", settle_s=20)
    return {
        "outcome": observation.visit["outcome"],
        "coverage": observation.visit["coverage"],
        "received_bytes": observation.visit["received_bytes"],
        "connections": observation.connections,
    }


def test_a_data_channel_and_its_stun_server_are_connections() -> None:
    result = in_namespace("tests.crawler.visit.test_webrtc:visited")
    assert (result["outcome"], result["coverage"]) == ("ok", 1)
    flows = {
        (row["remote_address"], row["port"], row["local_port"]): row["received_bytes"]
        for row in result["connections"]
        if row["protocol"] == "udp"
    }
    carried = {
        (source, port, local): [size for _, size in datagrams]
        for source, port, _, local, datagrams in result["udp"]
        if source == ADDRESS and local != STUN_PORT and port not in (5353, local)
    }
    assert flows.keys() == carried.keys()
    assert {port for _, port, _ in flows} >= {STUN_PORT}
    assert max(flows.values()) > SENT
    for ends, sizes in carried.items():  # datagrams that came after the recording are no part of it
        assert flows[ends] in itertools.accumulate(sizes), ends
    assert result["received_bytes"] == sum(row["received_bytes"] for row in result["connections"])
