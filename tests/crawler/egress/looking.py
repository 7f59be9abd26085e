"""Looks at a guard from outside: destinations, links, addresses and captured bytes."""

import contextlib
import json
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from crawler.capture.connections import CapturedConnections
from crawler.capture.packets import pack_end
from crawler.capture.ring import Ring
from crawler.capture.tcp_info import SmallestRoundTrips
from crawler.egress.guard import AddressGuard
from tests.crawler.egress import world

SEEN = """
table inet truth {
  set seen4 { type ipv4_addr; flags dynamic; size 65535; }
  set seen6 { type ipv6_addr; flags dynamic; size 65535; }
  chain prerouting {
    type filter hook prerouting priority raw;
    iifname "ffguard*" update @seen4 { ip daddr }
    iifname "ffguard*" ip6 daddr != { fe80::/10, ff02::/16 } update @seen6 { ip6 daddr }
  }
}
"""
"""Every destination of whatever leaves the guard's namespace, before any rule outside sees it."""


def nft(*call: str, given: str | None = None) -> str:
    return subprocess.run(["nft", *call], input=given, capture_output=True, text=True, check=True).stdout


def list_destinations() -> list[str]:
    collected = []
    for name in ("seen4", "seen6"):
        for nftable in json.loads(nft("-j", "list", "set", "inet", "truth", name))["nftables"]:
            collected += nftable.get("set", {}).get("elem", [])
    return sorted(str(element) for element in collected)


def network() -> dict[str, Any]:
    links = json.loads(subprocess.run(["ip", "-json", "link"], capture_output=True, check=True).stdout)
    return {
        "links": sorted(link["ifname"] for link in links),
        "rules": nft("list", "tables"),
        "forwarding": Path("/proc/sys/net/ipv4/conf/up0/forwarding").read_text().strip(),
    }


def addresses(guard: AddressGuard) -> list[dict[str, Any]]:
    inside = [f"--{kind}=/proc/{guard.namespace_pid}/ns/{kind}" for kind in ("user", "net")]
    shown = subprocess.run(
        ["nsenter", "--preserve-credentials", *inside, "ip", "-json", "address"],
        capture_output=True,
        check=True,
    )
    return [info for link in json.loads(shown.stdout) for info in link["addr_info"]]


REPORTED_WITHIN_S = 30.0
"""The kernel reports a destroyed socket from a work queue:
on a busy machine some time after its last packet."""

FETCH = """
import socket, sys
with socket.create_connection((sys.argv[1], 80)) as client:
    local = client.getsockname()
    client.sendall(b"GET / HTTP/1.1\\r\\nHost: escapes.test\\r\\n\\r\\n")
    while client.recv(65536):
        pass
print(local[0], local[1])
"""


def capture_page(guard: AddressGuard, address: str) -> int | None:
    """Fetch a page through the guard, and return the payload that its capture counted;
    its kernel tells the round trip."""
    assert guard.capture is not None
    assert guard.tcp_info is not None
    assert not guard.capture.get_inheritable()
    assert not guard.tcp_info.get_inheritable()
    inside = [f"--{kind}=/proc/{guard.namespace_pid}/ns/{kind}" for kind in ("user", "net")]
    ring, connections = Ring(guard.capture), CapturedConnections()
    call = ["nsenter", "--preserve-credentials", *inside, sys.executable, "-c", FETCH, address]
    host, port = subprocess.run(call, capture_output=True, text=True, check=True).stdout.split()
    while select.select([ring], [], [], 0.2)[0]:
        for packet in ring.packets():
            connections.feed(packet)
    ring.close()
    ends = pack_end(host, int(port)), pack_end(address, world.PORT)
    packets = connections.take(*ends)
    if packets is None:
        return None
    trips, deadline = SmallestRoundTrips(guard.tcp_info), time.monotonic() + REPORTED_WITHIN_S
    while trips.take(*ends, since_ns=packets.began_ns) is None:
        assert time.monotonic() < deadline, f"the kernel reports no round trip of {host}:{port}"
        time.sleep(0.05)
    return packets.received_bytes


def list_holders(descriptor: int) -> list[int]:
    link = Path(f"/proc/self/fd/{descriptor}").readlink()
    collected = []
    for path in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if path.readlink() == link:
                collected.append(int(path.parts[2]))
    return collected


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
