"""The network, in Mininet: a client, one bottleneck, and every origin a host with an address of its own.

Runs inside the guest under Debian's Python, which has Mininet.

    client --[delay up]-- s1 --[rate up]-- s2 -- near, o0, o1, ...
           <-[rate down]--    <-[delay down]--

Delay and rate never share an interface, so the queue holds what waits for the bottleneck and nothing else.
Mininet makes hosts, links and switches; their addresses (routes.c) and the delays (qdiscs.c) come from the player,
the rates from `shape`.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from mininet.link import Intf, Link
from mininet.net import Mininet
from mininet.node import Host, Switch
from mininet.topo import Topo

BUCKET_BYTES = 1540
"""Of the token buckets: one packet of 1,514 bytes, and the rounding of the kernel's arithmetic."""

UP_PACKETS = 1_000_000
"""More than are ever on their way: the queue towards the servers never drops."""

CALIBRATION_QUEUE_BYTES = 4_000_000
"""Of the bottleneck while it is calibrated, so that nothing is lost."""

NETEM_QUEUE_PACKETS = 1000
"""Of netem where it is the shaper: its default limit, which Mininet leaves as it is."""

HTB_BURST = "15k"
"""What Mininet's default shaper hard-codes: ten packets pass unshaped."""

HTB_QUANTUM_BYTES = 1514
"""Of its one class, where it decides nothing; without it tc warns of high rates."""

RED = "min 7570 max 22710 probability 0.1 avpkt 1514 burst 9"
"""Thresholds of 5 and 15 packets and a tenth of drops between them: the classic defaults of ns-2."""

LINKS: list[str] = []
"""Links that are still to be made: all at once."""


class BareIntf(Intf):  # type: ignore[misc]
    """An interface that the player configures, not a command for every attribute."""

    def config(self, **_params: Any) -> dict[str, Any]:
        """Later, in one go."""
        return {}


class BatchedLink(Link):  # type: ignore[misc]
    """A veth pair that is made together with all others."""

    @classmethod
    def makeIntfPair(  # noqa: N802  # Mininet's name
        cls, intfname1: str, intfname2: str, _mac1: None, _mac2: None, node1: Any, node2: Any, **_params: Any
    ) -> None:
        """Remember it."""
        one, other = (f"netns {node.pid if node.inNamespace else 1}" for node in (node1, node2))
        LINKS.append(f"link add name {intfname1} {one} type veth peer name {intfname2} {other}")


class BareHost(Host):  # type: ignore[misc]
    """A host without a shell: a process that holds the namespace. Shells are most of Mininet's start."""

    def config(self, **_params: Any) -> dict[str, Any]:
        """The player's part."""
        return {}

    def startShell(self, mnopts: str | None = None) -> None:  # noqa: ARG002, N802  # Mininet's names
        """The player holds the namespace, which exists once it has said a byte."""
        self.shell = subprocess.Popen([self.params["player"], "hold"], stdout=subprocess.PIPE)
        assert self.shell.stdout
        self.shell.stdout.read(1)
        self.pid = self.shell.pid
        self.waiting = False


class Bridge(Switch):  # type: ignore[misc]
    """The kernel's bridge, made with iproute2: Mininet's own wants brctl. It sends nothing by itself."""

    def startShell(self, mnopts: str | None = None) -> None:  # noqa: ARG002, N802  # Mininet's names
        """It lives in the namespace that we are in."""
        self.pid = os.getpid()

    def config(self, **_params: Any) -> dict[str, Any]:
        """Once all links are there."""
        return {}

    def start(self, _controllers: object) -> None:
        """With the other, once both are there."""


def bridge_lines(switch: Any) -> list[str]:
    """One bridge with all of a switch's interfaces."""
    name = switch.name
    return [
        f"link add {name} type bridge stp_state 0 mcast_snooping 0 ageing_time 1000000000",
        *(f"link set {intf} master {name} up" for intf in switch.intfNames() if intf != "lo"),
        f"link set {name} up",
    ]


class Star(Topo):  # type: ignore[misc]
    """Client and servers around the bottleneck; interface names follow the order of the links."""

    def build(self, *, origins: int, player: str) -> None:
        """`near` serves the background, o0, o1, ... the pages."""
        self.addHost("client", cls=BareHost, player=player)
        self.addSwitch("s1")
        self.addSwitch("s2")
        self.addLink("client", "s1")  # client-eth0, s1-eth1
        self.addLink("s1", "s2")  # s1-eth2, s2-eth1
        for name in server_names(origins):
            self.addHost(name, cls=BareHost, player=player)
            self.addLink(name, "s2")


def server_names(origins: int) -> list[str]:
    """In the order of their numbers, which Mininet's own sorting of names is not."""
    return ["near", *(f"o{number}" for number in range(origins))]


def server_address(number: int) -> str:
    """Address of the server with this number, from 0."""
    return f"10.0.{number // 200 + 1}.{number % 200 + 1}"


def batch(command: str, lines: list[str]) -> None:
    """Run `lines` by one call of ip or tc; a complaint is an error."""
    path = Path("/run/batch")
    path.write_text("".join(f"{line}\n" for line in lines))
    done = subprocess.run(
        [command, "-batch", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if said := done.stdout.strip():
        raise RuntimeError(f"{command}: {said}")


def start(*, origins: int, player: str) -> Any:
    """The running network, its addresses still to come from the player."""
    Mininet.inited = True  # its limits for large machines would be set by thirty calls of sysctl
    net = Mininet(
        topo=Star(origins=origins, player=player),
        link=BatchedLink,
        intf=BareIntf,
        switch=Bridge,
        controller=None,
        build=False,
    )
    net.build()
    net.start()
    batch("ip", [*LINKS, *(line for switch in net.switches for line in bridge_lines(switch))])
    return net


def shape(profile: dict[str, Any], *, calibrating: bool) -> None:
    """Put the rates and the queue of one network profile in force."""
    queue = CALIBRATION_QUEUE_BYTES if calibrating else profile["queue_bytes"]
    batch("tc", [*down(profile, queue), f"qdisc replace dev s1-eth2 root {up(profile)}"])


def up(profile: dict[str, Any]) -> str:
    """The way from the client: its queue never drops."""
    rate = f"rate {profile['up_bps']}bit"
    if profile["shaper"] == "netem":
        return f"netem {rate} limit {UP_PACKETS}"
    return f"tbf {rate} burst {BUCKET_BYTES} limit {CALIBRATION_QUEUE_BYTES}"


def down(profile: dict[str, Any], queue_bytes: int) -> list[str]:
    """The bottleneck: a bucket of one packet over a queue in bytes, which is what cells are measured over.

    For reproductions also the same bucket over RED; netem's own rate, which delays the first packet too; and
    Mininet's shaper, which the gates refuse.
    """
    rate = f"rate {profile['down_bps']}bit"
    bucket = f"tbf {rate} burst {BUCKET_BYTES} limit"
    if profile["shaper"] == "netem":
        return [f"qdisc replace dev s1-eth1 root netem {rate} limit {NETEM_QUEUE_PACKETS}"]
    if profile["shaper"] == "mininet":
        return [
            *bare("s1-eth1"),
            "qdisc add dev s1-eth1 root handle 5: htb default 1",
            f"class add dev s1-eth1 parent 5: classid 5:1 htb {rate} burst {HTB_BURST} quantum {HTB_QUANTUM_BYTES}",
        ]
    if profile["shaper"] == "red":
        return [
            *bare("s1-eth1"),
            f"qdisc add dev s1-eth1 root handle 5: {bucket} {CALIBRATION_QUEUE_BYTES}",
            f"qdisc add dev s1-eth1 parent 5:1 red limit {queue_bytes} {RED} bandwidth {profile['down_bps']}bit",
        ]
    return [*bare("s1-eth1"), f"qdisc add dev s1-eth1 root {bucket} {queue_bytes}"]


def bare(interface: str) -> list[str]:
    """Nothing there, whatever was: a change of a qdisc would keep its class."""
    return [f"qdisc replace dev {interface} root pfifo", f"qdisc delete dev {interface} root"]
