"""A machine and an Internet in namespaces, with servers on private and public addresses that record contacts.

The present namespace plays the crawling machine. The Internet is a namespace behind a router, and so is the
private network of the router's owner. The truth is the connections that the servers accepted, and the
destinations on the guard's link.
"""

import asyncio
import contextlib
import ipaddress
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

from tests.crawler.egress import quic
from tests.crawler.egress.pages import answer

PUBLIC = "93.184.216.34"
PUBLIC_6 = "2606:2800:220:1::34"
NEIGHBOUR = "10.9.9.9"
"""Private, and behind the router."""
NEIGHBOUR_6 = "fd12:3456:789a::9"
OWN = "93.184.215.2"
"""The machine's own address: a public one, which does not make its services public."""
OWN_6 = "2606:2800:220:2::2"
GATEWAY = "93.184.215.1"
ON_LINK = "93.184.215.77"
"""A neighbour at a public address, on the machine's own link."""
BLOCKED = "93.184.217.17"
"""Public, and named by the operator: a container's host, say."""
BLOCKED_64 = "64:ff9b::5db8:d911"
MACHINE = ["10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200", "198.51.100.1"]
MACHINE_6 = ["fd00:ec2::254", "fe80::99"]

PORT = 80
STUN_PORT = 3478
HOLD_S = 1.0
NAMESERVER = "127.0.0.53"

NAMES: dict[str, list[list[str]]] = {
    "ok.test": [[PUBLIC]],
    "ok6.test": [[PUBLIC_6]],
    "escapes.test": [[PUBLIC]],
    "jump.test": [[PUBLIC]],
    "redirect.test": [[PUBLIC]],
    "private.test": [[NEIGHBOUR]],
    "loop.test": [["127.0.0.1"]],
    "mapped.test": [["::ffff:10.9.9.9"]],
    "metadata.test": [["169.254.169.254"]],
    "both.test": [[PUBLIC, NEIGHBOUR]],
    "rebind.test": [[PUBLIC], [PUBLIC], [NEIGHBOUR]],
    quic.PUBLIC_HOST: [[PUBLIC]],
    quic.PRIVATE_HOST: [[NEIGHBOUR]],
}
"""The answers to the first question, the second and all later ones (a visit asks twice, for https and http);
`both.test` has no service at its public address."""


def ip(*lines: str) -> None:
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines) + "\n", text=True, check=True)


def at_once() -> None:
    """Have new links in this namespace use their IPv6 addresses without asking for duplicates first.

    A second later the kernel would report the change,
    and Chromium drops a page that it loads then (`network_changed`).
    """
    for which in ("all", "default"):
        Path(f"/proc/sys/net/ipv6/conf/{which}/accept_dad").write_text("0")


def wait_until_settled(link: str) -> None:
    """Wait until the link runs and has its link-local address: nothing about it changes any more."""
    show = ["ip", "-json", "address", "show", "dev", link]
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        (shown,) = json.loads(subprocess.run(show, capture_output=True, check=True).stdout)
        local = [info for info in shown["addr_info"] if info["family"] == "inet6" and info["scope"] == "link"]
        if shown["operstate"] == "UP" and local and not any(info.get("tentative") for info in local):
            return
        time.sleep(0.05)
    raise AssertionError(f"{link} is not up after a minute: {shown}")


class Servers:
    """HTTP, and datagrams for STUN, on every address of this namespace."""

    def __init__(self) -> None:
        self.came: list[tuple[str, str]] = []
        """Address that was asked, and path; `udp` for a datagram,
        empty for a connection that asked nothing."""

    async def start(self) -> None:
        for host in ("0.0.0.0", "::"):
            await asyncio.start_server(self._serve, host, PORT)
        loop = asyncio.get_running_loop()
        servers = self

        class Datagrams(asyncio.DatagramProtocol):
            def datagram_received(self, data: bytes, addr: Any) -> None:
                servers.came.append(("any", "udp"))

        await loop.create_datagram_endpoint(Datagrams, local_addr=("0.0.0.0", STUN_PORT))

    async def answer_questions(self) -> None:
        class Nameserver(asyncio.DatagramProtocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                self.transport = transport

            def datagram_received(self, data: bytes, addr: Any) -> None:
                self.transport.sendto(answers(data, {}), addr)  # type: ignore[attr-defined]

        loop = asyncio.get_running_loop()
        await loop.create_datagram_endpoint(Nameserver, local_addr=(GATEWAY, 53))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = writer.get_extra_info("sockname")[0].removeprefix("::ffff:")
        path, host = "", ""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, UnicodeError):
            if await reader.readexactly(1) == b"\x16":  # a TLS handshake
                self.came.append((address, "tls"))
                writer.close()
                return
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            path = head[0].split(" ")[1]
            host = next(line[6:] for line in head if line.lower().startswith("host: "))
        self.came.append((address, path))
        if path == "/hold":
            await asyncio.sleep(HOLD_S)
        with contextlib.suppress(ConnectionError):
            writer.write(answer(host, path))
            await writer.drain()
        writer.close()


def answers(question: bytes, asked: dict[str, int], fails: Callable[[str], bool] = lambda _: False) -> bytes:
    """A nameserver's answer; those that change do so with every new question for addresses."""
    query = dns.message.from_wire(question)
    response = dns.message.make_response(query, recursion_available=True)
    (entry,) = query.question
    name = entry.name.to_text(omit_final_dot=True).lower()
    known = NAMES.get(name)
    if known is None:
        response.set_rcode(dns.rcode.NXDOMAIN)
    elif entry.rdtype in VERSIONS:
        key = f"{name} {entry.rdtype}"
        now = known[min(asked.get(key, 0), len(known) - 1)]
        asked[key] = asked.get(key, 0) + 1
        addresses = [
            address for address in now if ipaddress.ip_address(address).version == VERSIONS[entry.rdtype]
        ]
        if addresses:
            response.answer.append(dns.rrset.from_text_list(entry.name, 1, "IN", entry.rdtype, addresses))
    if fails(name):
        response.set_rcode(dns.rcode.SERVFAIL)
        response.answer.clear()
    return response.to_wire()


VERSIONS = {dns.rdatatype.A: 4, dns.rdatatype.AAAA: 6}


@contextlib.contextmanager
def nameserver(
    address: str = NAMESERVER, fails: Callable[[str], bool] = lambda _: False
) -> Iterator[dict[str, int]]:
    """On the machine's loopback, as a stub resolver is, or another of its addresses; how often each name was
    asked for.

    A question for a name that `fails` has the answer SERVFAIL.
    """
    asked: dict[str, int] = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind((address, 53))

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    question, asker = listening.recvfrom(4096)
                    if not question:
                        break
                    listening.sendto(answers(question, asked, fails), asker)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield asked
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ending:
                ending.sendto(b"", (address, 53))
            thread.join()


@contextlib.contextmanager
def machine(folder: Path) -> Iterator[None]:
    """Make this namespace a crawling machine whose default route leads to a
    router that is not started yet."""
    resolv_conf = folder / "resolv.conf"
    resolv_conf.write_text(f"nameserver {NAMESERVER}\n", encoding="ascii")
    subprocess.run(["mount", "--bind", str(resolv_conf), "/etc/resolv.conf"], check=True)
    at_once()
    ip("link set lo up")
    with internet():
        ip(
            *(f"address add {address}/32 dev lo" for address in MACHINE),
            *(f"address add {address}/128 dev lo nodad" for address in MACHINE_6),
        )
        Path("/proc/sys/net/ipv6/conf/all/forwarding").write_text("1")
        # A new namespace has what the first one has, and that forwards where containers run.
        Path("/proc/sys/net/ipv4/conf/all/forwarding").write_text("0")
        yield


INTERNET: list[subprocess.Popen[str]] = []
QUIC_FLAGS: list[str] = []


@contextlib.contextmanager
def internet() -> Iterator[None]:
    """The router and all that is behind it, a process in a namespace of its own."""
    call = ["unshare", "--net", sys.executable, "-m", "tests.crawler.egress.world"]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        ip(
            f"link add up0 mtu 1400 type veth peer uplink netns {process.pid}",
            f"address add {OWN}/24 dev up0",
            f"address add {OWN_6}/64 dev up0 nodad",
            "link set up0 up",
        )
        print("linked", file=process.stdin, flush=True)
        word, spki_hash = process.stdout.readline().split()
        assert word == "serving"
        QUIC_FLAGS[:] = quic.browser_flags(spki_hash)
        wait_until_settled("up0")
        ip(f"route add default via {GATEWAY}", "route add default via 2606:2800:220:2::1")
        INTERNET.append(process)
        try:
            yield
        finally:
            INTERNET.remove(process)
            process.stdin.close()


def came_to_the_internet() -> list[tuple[str, str]]:
    (process,) = INTERNET
    print("report", file=process.stdin, flush=True)
    assert process.stdout is not None
    return [tuple(load) for load in json.loads(process.stdout.readline())]


async def serve_the_internet() -> None:
    """Configure this namespace when it is told that its link is there, and report whenever it is asked."""
    print("here", flush=True)
    sys.stdin.readline()
    at_once()
    ip(
        "link set lo up",
        "link set uplink up",
        *(f"address add {address}/24 dev uplink" for address in (GATEWAY, ON_LINK)),
        "address add 2606:2800:220:2::1/64 dev uplink nodad",
        *(f"address add {address}/32 dev lo" for address in (PUBLIC, NEIGHBOUR, BLOCKED, "172.16.5.5")),
        *(f"address add {address}/128 dev lo nodad" for address in (PUBLIC_6, NEIGHBOUR_6, BLOCKED_64)),
    )
    servers = Servers()
    await servers.start()
    await servers.answer_questions()
    addresses = {quic.PUBLIC_HOST: PUBLIC, quic.PRIVATE_HOST: NEIGHBOUR}
    spki_hash = await quic.serve(addresses, lambda address: servers.came.append((address, "quic")))
    print("serving", spki_hash, flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        came, servers.came = servers.came, []
        print(json.dumps(came), flush=True)


if __name__ == "__main__":
    asyncio.run(serve_the_internet())
