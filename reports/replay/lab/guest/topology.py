"""The network, in Mininet: a client, one bottleneck, and every origin a host with an address of its own.

Runs inside the guest under Debian's Python, which has Mininet.

    client --[delay up]-- s1 --[rate up]-- s2 -- near, o0, o1, ...
           <-[rate down]--    <-[delay down]--

Delay and rate never share an interface, so the queue holds what waits for the bottleneck and nothing else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mininet.link import Intf, Link
from mininet.net import Mininet
from mininet.node import Host, Switch
from mininet.topo import Topo

BUCKET_BYTES = 1540
"""Of the token buckets: one packet of 1,514 bytes, and the rounding of the kernel's arithmetic."""

DELAY_LINE_PACKETS = 1_000_000
"""More than are ever on their way: the delay lines never drop."""

CALIBRATION_QUEUE_BYTES = 4_000_000
"""Of the bottleneck while it is calibrated, so that nothing is lost."""

HTB_BURST = "15k"
"""What Mininet's default shaper hard-codes: ten packets pass unshaped."""


class BareIntf(Intf):  # type: ignore[misc]
    """An interface that `ip -batch` configures, not a command for every attribute."""

    def config(self, **_params: Any) -> dict[str, Any]:
        """Later, in one go."""
        return {}


class BareHost(Host):  # type: ignore[misc]
    """A host whose interface is configured by `wire`."""

    def config(self, **_params: Any) -> dict[str, Any]:
        """Later, in one go."""
        return {}


class Bridge(Switch):  # type: ignore[misc]
    """The kernel's bridge, made with iproute2: Mininet's own wants brctl. It sends nothing by itself."""

    def start(self, _controllers: object) -> None:
        """One bridge with all of this switch's interfaces."""
        lines = [
            f"link add {self.name} type bridge stp_state 0 mcast_snooping 0 ageing_time 1000000000",
            *(f"link set {intf} master {self.name} up" for intf in self.intfNames() if intf != "lo"),
            f"link set {self.name} up",
        ]
        batch(self, lines)

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803  # Mininet's name
        """The guest powers off instead."""


class Star(Topo):  # type: ignore[misc]
    """Client and servers around the bottleneck; interface names follow the order of the links."""

    def build(self, *, origins: int) -> None:
        """`near` serves the background, o0, o1, ... the pages."""
        self.addHost("client")
        self.addSwitch("s1")
        self.addSwitch("s2")
        self.addLink("client", "s1")  # client-eth0, s1-eth1
        self.addLink("s1", "s2")  # s1-eth2, s2-eth1
        for name in ["near", *(f"o{number}" for number in range(origins))]:
            self.addHost(name)
            self.addLink(name, "s2")


def batch(node: Any, lines: list[str], command: str = "ip") -> None:
    """Run `lines` by one call of ip or tc in the namespace of `node`; what they complain of is an error."""
    path = Path("/run/batch")
    path.write_text("".join(f"{line}\n" for line in lines))
    said = node.cmd(f"{command} -batch {path}").strip()
    if said:
        raise RuntimeError(f"{node.name}: {command}: {said}")


def server_address(number: int) -> str:
    """Address of the server with this number, from 0."""
    return f"10.0.{number // 200 + 1}.{number % 200 + 1}"


def server_mac(number: int) -> str:
    """Its hardware address."""
    return f"02:00:00:00:{number >> 8:02x}:{number & 255:02x}"


CLIENT_MAC = "02:00:00:01:00:00"


def client_address(window: int) -> str:
    """The client's address for loads at this initial window (player: bind_client)."""
    return f"10.1.0.{window}"


def start(*, origins: int, windows: list[int]) -> Any:
    """The running network; `windows` are all the initial windows that its cells will ask for."""
    net = Mininet(topo=Star(origins=origins), link=Link, intf=BareIntf, host=BareHost, switch=Bridge, controller=None)
    net.start()
    servers = net.hosts[1:]
    wire_client(net["client"], len(servers), windows)
    for number, server in enumerate(servers):
        wire_server(server, number, windows)
    shape_first(net)
    return net


def wire_client(client: Any, servers: int, windows: list[int]) -> None:
    """Addresses, one for each window, and permanent neighbours: no ARP."""
    device = "client-eth0"
    batch(
        client,
        [
            f"link set {device} address {CLIENT_MAC} up",
            *(f"addr add {client_address(window)}/8 dev {device}" for window in windows),
            *(f"neigh replace {server_address(n)} lladdr {server_mac(n)} dev {device}" for n in range(servers)),
        ],
    )


def wire_server(server: Any, number: int, windows: list[int]) -> None:
    """Its address, and to each of the client's a route that sets the initial window."""
    device = f"{server.name}-eth0"
    lines = [
        f"link set {device} address {server_mac(number)} up",
        f"addr add {server_address(number)}/8 dev {device}",
    ]
    for window in windows:
        lines += [
            f"route add {client_address(window)}/32 dev {device} initcwnd {window}",
            f"neigh replace {client_address(window)} lladdr {CLIENT_MAC} dev {device}",
        ]
    batch(server, lines)


def shape_first(net: Any) -> None:
    """Delay lines that `shape` changes from profile to profile."""
    batch(net["s1"], [f"qdisc add dev s2-eth1 root netem delay 1ms limit {DELAY_LINE_PACKETS}"], "tc")
    batch(net["client"], [f"qdisc add dev client-eth0 root netem delay 1ms limit {DELAY_LINE_PACKETS}"], "tc")


def shape(net: Any, profile: dict[str, Any], *, calibrating: bool) -> None:
    """Put one network profile in force."""
    queue = CALIBRATION_QUEUE_BYTES if calibrating else profile["queue_bytes"]
    one_way = f"delay {profile['rtt_us'] / 2:.1f}us limit {DELAY_LINE_PACKETS}"
    lines = [
        *down(profile, queue),
        f"qdisc replace dev s1-eth2 root tbf rate {profile['up_bps']}bit burst {BUCKET_BYTES} limit {CALIBRATION_QUEUE_BYTES}",
        f"qdisc change dev s2-eth1 root netem {one_way}",
    ]
    batch(net["s1"], lines, "tc")
    batch(net["client"], [f"qdisc change dev client-eth0 root netem {one_way}"], "tc")


def down(profile: dict[str, Any], queue_bytes: int) -> list[str]:
    """The bottleneck: a bucket of one packet over a queue in bytes; or Mininet's shaper, to show that it fails."""
    if profile["shaper"] == "mininet":
        return [
            "qdisc replace dev s1-eth1 root handle 5: htb default 1",
            f"class replace dev s1-eth1 parent 5: classid 5:1 htb rate {profile['down_bps']}bit burst {HTB_BURST}",
        ]
    return [f"qdisc replace dev s1-eth1 root tbf rate {profile['down_bps']}bit burst {BUCKET_BYTES} limit {queue_bytes}"]
