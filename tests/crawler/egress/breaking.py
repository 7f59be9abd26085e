"""Breaks a guard's parts one after the other, and prints what checks notice, which addresses are reached,
and what mending restores.

JSON on standard output. Runs in namespaces that the test makes for it, never on the machine itself.
"""

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from crawler.capture.ring import ETH_P_ALL
from crawler.egress.guard import AddressGuard, set_up_guard
from crawler.egress.networks import parse_networks
from crawler.errors import EgressUnavailable
from tests.circles import ALL
from tests.crawler.egress import world
from tests.crawler.egress.looking import capture_page, network, nft, parent

REACHED = ["ok.test", world.PUBLIC, world.PUBLIC_6]
REFUSED = [
    world.NEIGHBOUR,
    world.NEIGHBOUR_6,
    world.OWN,
    world.GATEWAY,
    world.ON_LINK,
    world.BLOCKED,
    world.BLOCKED_64,
]

ASK = """
import socket, sys
from concurrent.futures import ThreadPoolExecutor
def ask(address):
    try:
        with socket.create_connection((address, 80), 2) as client:
            client.sendall(b"GET / HTTP/1.1\\r\\nHost: ok.test\\r\\n\\r\\n")
            return "reached" if client.recv(65536) else "closed"
    except OSError as exc:
        return type(exc).__name__
with ThreadPoolExecutor(8) as pool:
    print(*pool.map(ask, sys.argv[1:]))
"""


def ask_addresses(guard: AddressGuard, *addresses: str) -> dict[str, str]:
    """Connect to each address from within the guard, and return the results."""
    inside = [f"--{kind}=/proc/{guard.namespace_pid}/ns/{kind}" for kind in ("user", "net")]
    call = ["nsenter", "--preserve-credentials", *inside, sys.executable, "-c", ASK, *addresses]
    output = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    return dict(zip(addresses, output.split(), strict=True))


@dataclasses.dataclass
class Broken:
    """Ways in which root can break a guard."""

    guard: AddressGuard

    @property
    def link(self) -> str:
        return str(next(link for link in network()["links"] if link.startswith("ffguard")))

    def within(self, *call: str) -> None:
        subprocess.run(["nsenter", f"--net=/proc/{self.guard.namespace_pid}/ns/net", *call], check=True)

    def the_table_outside(self) -> None:
        nft("delete", "table", "inet", self.link)

    def a_rule_outside(self) -> None:
        nft("flush", "chain", "inet", self.link, "forward")

    def all_tables_of_the_machine(self) -> None:
        nft("flush", "ruleset")

    def the_table_inside(self) -> None:
        self.within("nft", "delete", "table", "inet", "guard")

    def a_rule_inside(self) -> None:
        self.within("nft", "flush", "chain", "inet", "guard", "output")

    def a_refused_network(self) -> None:
        self.within("nft", "delete", "element", "inet", "guard", "refused4", "{ 10.0.0.0/8 }")

    def the_link(self) -> None:
        world.ip(f"link delete {self.link}")

    def the_outer_end_is_down(self) -> None:
        world.ip(f"link set {self.link} down")

    def the_outer_addresses(self) -> None:
        world.ip(f"address flush dev {self.link}")

    def the_inner_end_is_down(self) -> None:
        self.within("ip", "link", "set", "eth0", "down")

    def the_inner_addresses(self) -> None:
        self.within("ip", "address", "flush", "dev", "eth0")

    def the_routes(self) -> None:
        self.within("ip", "route", "flush", "table", "main")

    def another_route(self) -> None:
        self.within("ip", "route", "add", "blackhole", f"{world.PUBLIC}/32")

    def loopback(self) -> None:
        self.within("ip", "link", "set", "lo", "down")

    def the_capture(self) -> None:
        assert self.guard.capture is not None
        self.guard.capture.bind(("lo", ETH_P_ALL))

    def forwarding(self) -> None:
        Path("/proc/sys/net/ipv4/conf/up0/forwarding").write_text("0")

    def another_address_of_the_machine(self) -> None:
        world.ip("address add 93.184.218.2/24 dev up0")

    def the_nameserver_is_another_of_the_machines_own_addresses(self) -> None:
        Path("/etc/resolv.conf").write_text(f"nameserver {world.OWN}\n", encoding="ascii")

    def the_nameserver_is_the_gateway(self) -> None:
        Path("/etc/resolv.conf").write_text(f"nameserver {world.GATEWAY}\n", encoding="ascii")


WAYS: list[Callable[[Broken], None]] = [
    answer for name, answer in vars(Broken).items() if name[0] != "_" and name not in ("link", "within")
]

OFTEN = {
    *("the_table_outside", "all_tables_of_the_machine", "a_rule_inside", "a_refused_network", "the_link"),
    *("the_inner_addresses", "the_routes", "the_capture", "forwarding", "the_nameserver_is_the_gateway"),
}
CHOSEN = [way for way in WAYS if way.__name__ in OFTEN or ALL]
"""Ways of every run of the tests, one of each kind; `scripts/test --all` takes all."""


def find_fault(what: Callable[[], None]) -> str:
    """Call a function, and return the message of its EgressUnavailable, "" if it raises none."""
    try:
        what()
    except EgressUnavailable as exc:
        return str(exc)
    return ""


def broken(guard: AddressGuard, way: Callable[[Broken], None]) -> dict[str, Any]:
    way(Broken(guard))
    noticed = find_fault(guard.check), find_fault(guard.check)
    meanwhile = ask_addresses(guard, *REFUSED)
    mended = find_fault(guard.mend)
    return {
        "noticed": noticed,
        "meanwhile": meanwhile,
        "mended": mended,
        "then": find_fault(guard.check),
        "reached": ask_addresses(guard, *REACHED),
        "refused": ask_addresses(guard, *REFUSED),
        "captured": [bool(capture_page(guard, address)) for address in (world.PUBLIC, world.PUBLIC_6)],
        "judged": {address: guard.refuses(address) for address in (*REACHED[1:], *REFUSED)},
    }


@contextlib.contextmanager
def a_firewall_that_drops() -> Iterator[None]:
    nft(
        "add table inet firewall; add chain inet firewall f { type filter hook forward priority 0; "
        "policy drop; }"
    )
    yield
    nft("delete", "table", "inet", "firewall")


@contextlib.contextmanager
def no_way_out() -> Iterator[None]:
    world.ip("link set up0 down")
    yield
    world.ip(
        "link set up0 up",
        f"address add {world.OWN_6}/64 dev up0 nodad",
        f"route add default via {world.GATEWAY}",
        "route add default via 2606:2800:220:2::1",
    )


def away(guard: AddressGuard, what: Callable[[], contextlib.AbstractContextManager[None]]) -> dict[str, Any]:
    """Return the messages while a part of the machine's network is away, and after it is back."""
    with what():
        noticed = [find_fault(guard.check), find_fault(guard.mend), find_fault(guard.check)]
        meanwhile = ask_addresses(guard, world.PUBLIC, *REFUSED)
    return {
        "noticed": noticed,
        "meanwhile": meanwhile,
        "mended": find_fault(guard.mend),
        "reached": ask_addresses(guard, *REACHED),
    }


def end_namespace_process(guard: AddressGuard) -> list[str]:
    """Return the messages after the process in the namespace was killed."""
    os.kill(guard.namespace_pid, signal.SIGKILL)
    while Path(f"/proc/{guard.namespace_pid}/ns/net").exists():
        time.sleep(0.01)
    return [find_fault(guard.check), find_fault(guard.mend)]


def play() -> dict[str, Any]:
    before = network()
    os.environ["FIRSTFLIGHT_DATABASE_URL"] = os.environ["AWS_SECRET_ACCESS_KEY"] = "secret"
    collected: dict[str, Any] = {"broken": {}, "away": {}}
    with set_up_guard(parse_networks(world.BLOCKED)) as guard:
        collected["whole"] = {
            "fault": find_fault(guard.check),
            "environments": [
                sorted(
                    line.partition(b"=")[0].decode()
                    for line in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")[:-1]
                )
                for pid in (guard.namespace_pid, parent(guard.namespace_pid))
            ],
            "reached": ask_addresses(guard, *REACHED),
            "refused": ask_addresses(guard, *REFUSED),
            "judged": {address: guard.refuses(address) for address in (*REACHED[1:], *REFUSED)},
        }
        for what in (no_way_out, a_firewall_that_drops):
            collected["away"][what.__name__] = away(guard, what)
        with world.nameserver(world.OWN):
            for way in CHOSEN:
                collected["broken"][way.__name__] = broken(guard, way)
        nft("flush", "ruleset")
    collected["left"] = {"before": before, "after": network()}
    with set_up_guard() as guard:
        collected["ended"] = end_namespace_process(guard)
    return collected


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, world.machine(Path(folder)), world.nameserver():
        print(json.dumps(play()))
