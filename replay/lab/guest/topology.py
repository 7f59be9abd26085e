"""The network in Mininet: a client, a bottleneck, and a host with its own address for each origin.

It runs inside the guest, under Debian's Python, which has Mininet.

    client --[delay up]-- s1 --[rate up]-- s2 -- near, o0, o1, ...
           <-[rate down]--    <-[delay down]--

Delay and rate are on different interfaces, so the queue holds only packets that wait for the bottleneck.
Mininet makes hosts, links and switches; their addresses (routes.c) and the delays (qdiscs.c) come from the
player, the rates from `shape`.
"""

import os
import subprocess
from pathlib import Path
from typing import Any

from mininet.link import Intf, Link
from mininet.net import Mininet
from mininet.node import Host, Switch
from mininet.topo import Topo

BUCKET_BYTES = 1540
"""Size of a token bucket: one packet of 1,514 bytes, and rounding of the kernel's arithmetic."""

UP_PACKETS = 1_000_000
"""Queue limit towards the servers, which is never reached."""

CALIBRATION_QUEUE_BYTES = 4_000_000
"""Queue of the bottleneck during calibration, so that nothing is lost."""

NETEM_QUEUE_PACKETS = 1000
"""Queue of netem as the shaper: its default limit, which Mininet does not change."""

HTB_BURST = "15k"
"""Burst that Mininet's default shaper hard-codes.

Two packets pass unshaped: tc sets a cburst of 1,600 bytes beside it.
"""

HTB_QUANTUM_BYTES = 1514
"""Quantum of the only HTB class; it has no effect, but tc warns without it at high rates."""

RED = "min 7570 max 22710 probability 0.1 avpkt 1514 burst 9"
"""RED with thresholds of 5 and 15 packets and a drop probability of 0.1: the defaults of ns-2."""

LINKS: list[str] = []
"""Commands of links that are made later, all at once."""


class BareIntf(Intf):  # type: ignore[misc]
    """An interface that the player configures, rather than a command for each attribute."""

    def config(self, **_params: Any) -> dict[str, Any]:
        """Do nothing: interfaces are configured later, all at once."""
        return {}


class BatchedLink(Link):  # type: ignore[misc]
    """A veth pair that is made with all others, in one batch."""

    @classmethod
    def makeIntfPair(  # noqa: N802  # Mininet's name
        cls, intfname1: str, intfname2: str, _mac1: None, _mac2: None, node1: Any, node2: Any, **_params: Any
    ) -> None:
        """Add the pair to LINKS."""
        near_end, far_end = (f"netns {node.pid if node.inNamespace else 1}" for node in (node1, node2))
        LINKS.append(f"link add name {intfname1} {near_end} type veth peer name {intfname2} {far_end}")


class BareHost(Host):  # type: ignore[misc]
    """A host whose namespace is held by a small process rather than a shell, which is slow to start."""

    def config(self, **_params: Any) -> dict[str, Any]:
        """Do nothing: the player configures addresses."""
        return {}

    def startShell(self, mnopts: str | None = None) -> None:  # noqa: ARG002, N802  # Mininet's names
        """Start the player to hold the namespace, which exists when it has written a byte."""
        self.shell = subprocess.Popen([self.params["player"], "hold"], stdout=subprocess.PIPE)
        assert self.shell.stdout
        self.shell.stdout.read(1)
        self.pid = self.shell.pid
        self.waiting = False


class Bridge(Switch):  # type: ignore[misc]
    """A kernel bridge made with iproute2, since Mininet's needs brctl. It sends no packets of its own."""

    def startShell(self, mnopts: str | None = None) -> None:  # noqa: ARG002, N802  # Mininet's names
        """Use the current namespace."""
        self.pid = os.getpid()

    def config(self, **_params: Any) -> dict[str, Any]:
        """Do nothing: the bridge is configured when all links exist."""
        return {}

    def cmd(self, *_words: object, **_named: object) -> str:
        """Do nothing: there is no shell. Mininet would complain of that on the console."""
        return ""

    def start(self, _controllers: object) -> None:
        """Do nothing: both bridges are started in one batch."""


def bridge_lines(switch: Any) -> list[str]:
    """Return the commands that make a bridge with all interfaces of a switch."""
    name = switch.name
    return [
        f"link add {name} type bridge stp_state 0 mcast_snooping 0 ageing_time 1000000000",
        *(f"link set {intf} master {name} up" for intf in switch.intfNames() if intf != "lo"),
        f"link set {name} up",
    ]


class Star(Topo):  # type: ignore[misc]
    """Client and servers at the bottleneck; interface names follow the order of the links."""

    def build(self, *, origins: int, player: str) -> None:
        """Add all hosts: `near` serves the background, o0, o1, ... serve the pages."""
        self.addHost("client", cls=BareHost, player=player)
        self.addSwitch("s1")
        self.addSwitch("s2")
        self.addLink("client", "s1")  # client-eth0, s1-eth1
        self.addLink("s1", "s2")  # s1-eth2, s2-eth1
        for name in server_names(origins):
            self.addHost(name, cls=BareHost, player=player)
            self.addLink(name, "s2")


def server_names(origins: int) -> list[str]:
    """Return the server names in the order of their numbers; Mininet would sort them as text."""
    return ["near", *(f"o{number}" for number in range(origins))]


def server_address(number: int) -> str:
    """Return the address of a server by its number, from 0."""
    return f"10.0.{number // 200 + 1}.{number % 200 + 1}"


def batch(command: str, lines: list[str]) -> None:
    """Run `lines` in one call of ip or tc; any output is an error."""
    path = Path("/run/batch")
    path.write_text("".join(f"{line}\n" for line in lines))
    process = subprocess.run(
        [command, "-batch", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if output := process.stdout.strip():
        raise RuntimeError(f"{command}: {output}")


def start(*, origins: int, player: str) -> Any:
    """Start the network, without addresses, which the player sets."""
    Mininet.inited = True  # skips thirty calls of sysctl that raise limits
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
    """Apply the rates and the queue of a network profile."""
    queue = CALIBRATION_QUEUE_BYTES if calibrating else profile["queue_bytes"]
    batch("tc", [*down(profile, queue), f"qdisc replace dev s1-eth2 root {up(profile)}"])


def up(profile: dict[str, Any]) -> str:
    """Return the shaper of the uplink, whose queue never drops."""
    rate = f"rate {profile['up_bps']}bit"
    if profile["shaper"] == "netem":
        return f"netem {rate} limit {UP_PACKETS}"
    return f"tbf {rate} burst {BUCKET_BYTES} limit {CALIBRATION_QUEUE_BYTES}"


def down(profile: dict[str, Any], queue_bytes: int) -> list[str]:
    """Return the shaper of the downlink, the bottleneck: a bucket of one packet over a queue in bytes.

    The player replaces the queue by FQ-CoDel or CAKE before each load where the network has these.
    Reproductions also use the same bucket over RED; netem's rate, which delays the first packet too; and
    Mininet's shaper, which fails the calibration.
    """
    rate = f"rate {profile['down_bps']}bit"
    bucket = f"tbf {rate} burst {BUCKET_BYTES} limit"
    if profile["shaper"] == "netem":
        return [f"qdisc replace dev s1-eth1 root netem {rate} limit {NETEM_QUEUE_PACKETS}"]
    if profile["shaper"] == "mininet":
        return [
            *bare("s1-eth1"),
            "qdisc add dev s1-eth1 root handle 5: htb default 1",
            f"class add dev s1-eth1 parent 5: classid 5:1 htb {rate} burst {HTB_BURST} "
            f"quantum {HTB_QUANTUM_BYTES}",
        ]
    if profile["shaper"] == "red":
        return [
            *bare("s1-eth1"),
            f"qdisc add dev s1-eth1 root handle 5: {bucket} {CALIBRATION_QUEUE_BYTES}",
            f"qdisc add dev s1-eth1 parent 5:1 red limit {queue_bytes} {RED} "
            f"bandwidth {profile['down_bps']}bit",
        ]
    return [*bare("s1-eth1"), f"qdisc add dev s1-eth1 root handle 5: {bucket} {queue_bytes}"]


def bare(interface: str) -> list[str]:
    """Return the commands that remove any qdisc; a mere change would keep its class."""
    return [f"qdisc replace dev {interface} root pfifo", f"qdisc delete dev {interface} root"]
