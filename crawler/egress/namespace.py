"""A user and a network namespace for browsers: made, connected to the machine by a veth link, and ruled.

Works on file descriptors and processes of Linux alone; needs CAP_NET_ADMIN where it is called. The namespaces
belong to the browsers' own user, so that user may enter them, and a process without a capability can hold them.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import ipaddress
import json
import os
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.egress import rules
from crawler.egress.networks import is_refused
from crawler.errors import EgressUnavailable
from crawler.wire.ring import open_socket

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.egress.networks import Address

# linux/sched.h, linux/prctl.h, linux/capability.h
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWNET = 0x4000_0000
PR_SET_DUMPABLE = 4
CAP_NET_ADMIN = 1 << 12

IPV4_LINKS = ipaddress.IPv4Network("198.18.0.0/15")
IPV6_LINKS = ipaddress.IPv6Network("fd66:6c69:6e6b::/48")
"""Where the links' addresses are taken from: the benchmarking range, which no network routes, and a unique local one."""

LINK_LOCAL = "fe80::2/64"
"""The inner end's own (RFC 4291 §2.5.6), which neighbour discovery sends from."""

LINKS = 2**15
"""Numbers of links: a pair of IPv4 addresses each, and an IPv6 /64."""

MESSAGE_BYTES = 4096
SOCKETS_LIMIT = 16

SEARCH_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


@dataclasses.dataclass(frozen=True, slots=True)
class Link:
    """One veth link; its name is its number, so the kernel itself keeps two guards apart."""

    number: int

    @property
    def name(self) -> str:
        """Of the interface outside, and of the nftables table for it."""
        return f"{rules.PREFIX}{self.number}"

    def addresses(self, version: int) -> tuple[str, str]:
        """Outside and inside, with prefix lengths."""
        if version == 4:
            outside = IPV4_LINKS[self.number * 2]
            return f"{outside}/31", f"{outside + 1}/31"
        first = IPV6_LINKS[self.number << 64]  # is the routers' anycast address, of no use
        return f"{first + 1}/64", f"{first + 2}/64"


def check_privilege() -> None:
    """EgressUnavailable for an ordinary user."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    effective = next(line for line in status.splitlines() if line.startswith("CapEff:"))
    if not int(effective.split()[1], 16) & CAP_NET_ADMIN:
        raise EgressUnavailable("it takes root, or CAP_NET_ADMIN: run the crawl as root")


def run(*call: str, given: str | None = None) -> str:
    """A program's output; EgressUnavailable with the program's own words if it fails."""
    try:
        done = subprocess.run(
            call,
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
            env={"PATH": SEARCH_PATH, "LC_ALL": "C"},
        )
    except FileNotFoundError as exc:
        package = {"nft": "nftables", "ip": "iproute2"}.get(call[0], call[0])
        raise EgressUnavailable(f"no {call[0]}: apt-get install {package}") from exc
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise EgressUnavailable(f"`{' '.join(call)[:80]}` failed: {words[0]}")
    return done.stdout


def become_owner(uid: int) -> None:
    """Turn this process, which has one thread, into root of new namespaces that belong to the user `uid`."""
    libc = ctypes.CDLL(None, use_errno=True)
    if uid != os.geteuid():
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    gid = os.getegid()
    # Or /proc/self would be root's, and nobody could enter by it.
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET):
        raise EgressUnavailable(
            f"user {uid} may not make user namespaces ({os.strerror(ctypes.get_errno())}): "
            "allow them (kernel.unprivileged_userns_clone, user.max_user_namespaces, AppArmor, seccomp)"
        )
    process = Path("/proc/self")
    (process / "setgroups").write_text("deny", encoding="ascii")
    (process / "uid_map").write_text(f"0 {uid} 1", encoding="ascii")
    (process / "gid_map").write_text(f"0 {gid} 1", encoding="ascii")


def connect_inside(
    link: Link, versions: Sequence[int], mtu: int, nameservers: Sequence[Address], own: Sequence[Address]
) -> list[socket.socket]:
    """Inside the namespace: rules first, then the link. Bound sockets of the relay, two a nameserver, in order."""
    relayed = [one for one in nameservers if is_refused(one)]
    run("nft", "-f", "-", given=rules.inside(nameservers=relayed, own=own))
    batch = [f"link set eth0 mtu {mtu}", *_settled(), "link set lo up", "link set eth0 up"]
    batch += [
        f"address add {one}/{one.max_prefixlen} dev lo" + (" nodad" if one.version == 6 else "")
        for one in relayed
        if not one.is_loopback
    ]
    for version in versions:
        outside, inside = link.addresses(version)
        nodad = " nodad" if version == 6 else ""
        batch += [
            f"address add {inside} dev eth0{nodad}",
            f"route add default via {outside.partition('/')[0]}",
        ]
    run("ip", "-batch", "-", given="\n".join(batch) + "\n")
    return [_bound(one, kind) for one in relayed for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM)]


def capture_inside() -> list[socket.socket]:
    """Inside the namespace: a socket that sees what TCP arrives at its eth0; none if the kernel refuses one.

    It belongs to this network namespace, whoever holds it: of the machine outside it sees and reaches nothing. Like the
    others it is closed where a program is executed, so that no browser has it.
    """
    with contextlib.suppress(OSError):
        return [open_socket("eth0")]
    return []


def receive_sockets(channel: socket.socket) -> tuple[bytes, list[socket.socket]]:
    """A message and the sockets that came with it (unix(7), SCM_RIGHTS), closed where a program is executed."""
    message, descriptors, _, _ = socket.recv_fds(channel, MESSAGE_BYTES, SOCKETS_LIMIT)
    sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    for one in sockets:  # not by a flag: Python 3.11's recv_fds does not pass it on
        one.set_inheritable(False)
    return message, sockets


def _settled() -> list[str]:
    """An interface that has IPv6 gives itself a link-local address, and a second later says so: by then Chromium loads
    a page, and drops it (`network_changed`). So it is given one."""
    off = Path("/proc/sys/net/ipv6/conf/eth0/disable_ipv6")
    if not off.exists() or off.read_text(encoding="ascii").strip() != "0":
        return []
    return ["link set eth0 addrgenmode none", f"address add {LINK_LOCAL} dev eth0 nodad"]


def _bound(address: Address, kind: socket.SocketKind) -> socket.socket:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    bound = socket.socket(family, kind | socket.SOCK_CLOEXEC)
    bound.bind((str(address), rules.DNS_PORT))
    if kind == socket.SOCK_STREAM:
        bound.listen()
    return bound


def connect_outside(link: Link, holder: int, versions: Sequence[int], mtu: int) -> None:
    """Outside: the veth pair, whose other end goes to the namespace of the process `holder`, and its addresses."""
    run("ip", "link", "add", link.name, "mtu", str(mtu), "type", "veth", "peer", "eth0", "netns", str(holder))
    batch = [f"link set {link.name} up"]
    for version in versions:
        nodad = " nodad" if version == 6 else ""
        batch.append(f"address add {link.addresses(version)[0]} dev {link.name}{nodad}")
    run("ip", "-batch", "-", given="\n".join(batch) + "\n")


@dataclasses.dataclass(frozen=True, slots=True)
class Machine:
    """What the guard needs to know of the network outside."""

    uplinks: dict[int, str]
    """Interface of the default route, by IP version."""
    mtu: int
    """Of the narrowest of them: it sets the MSS that the browsers announce, which must be the machine's."""
    own: list[Address]
    """The machine's addresses."""


def machine() -> Machine:
    """As it is now; EgressUnavailable where there is no way out at all."""
    uplinks: dict[int, str] = {}
    for version in (4, 6):
        routes = json.loads(run("ip", "-json", f"-{version}", "route", "show", "default") or "[]")
        devices = [str(route["dev"]) for route in routes if "dev" in route]
        if devices:
            uplinks[version] = devices[0]
    if not uplinks:
        raise EgressUnavailable("this machine has no default route: there is no Internet to crawl")
    links = json.loads(run("ip", "-json", "address", "show"))
    return Machine(
        uplinks,
        min(int(link["mtu"]) for link in links if link["ifname"] in uplinks.values()),
        [
            ipaddress.ip_address(one["local"])
            for link in links
            for one in link.get("addr_info", ())
            if "local" in one
        ],
    )
