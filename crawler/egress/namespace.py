"""The user and network namespaces of the browsers, from inside: made, filtered, linked and read.

The namespaces belong to the browsers' own user, so that this user may enter them, and a process without
capabilities can hold them open.
"""

import contextlib
import ctypes
import os
import socket
from pathlib import Path

from crawler.capture.ring import open_socket
from crawler.capture.tcp_info import open_tcp_info
from crawler.egress import rules
from crawler.egress.layout import GuardLayout
from crawler.egress.networks import Address
from crawler.egress.programs import load_rules, read_link, rules_digest, run, run_ip_batch, run_ip_json
from crawler.errors import EgressUnavailable

# linux/sched.h, linux/prctl.h, linux/capability.h
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWNET = 0x4000_0000
PR_SET_DUMPABLE = 4
CAP_NET_ADMIN = 1 << 12

INNER = "eth0"

LINK_LOCAL = "fe80::2/64"
"""Link-local address of the inner end (RFC 4291 §2.5.6), from which neighbour discovery sends."""

MESSAGE_BYTES = 128 * 1024
"""Most bytes of a message: a layout, most of it the operator's networks, must fit."""
SOCKETS_LIMIT = 16


def check_privilege() -> None:
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    effective = next(line for line in status.splitlines() if line.startswith("CapEff:"))
    if not int(effective.split()[1], 16) & CAP_NET_ADMIN:
        raise EgressUnavailable("it takes root, or CAP_NET_ADMIN: run the crawl as root")


def become_owner(uid: int) -> None:
    """Make this process, of one thread, root in new namespaces of the user `uid`."""
    libc = ctypes.CDLL(None, use_errno=True)
    if uid != os.geteuid():
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    gid = os.getegid()
    # Or /proc/self would belong to root, and the browsers' user could not enter through it.
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


def set_up_link(layout: GuardLayout) -> list[socket.socket]:
    """Load the rules, then set up the new link in place of any; return the relay's bound sockets, two a
    nameserver.
    """
    load_rules(rules.inside_rules(nameservers=layout.relayed, local=layout.local))
    run_ip_batch(["address flush dev lo", "link set lo down", "link set lo up"])
    for version in (4, 6):
        run("ip", f"-{version}", "route", "flush", "table", "main")
    lines = [f"link set {INNER} mtu {layout.mtu}", *_link_local_commands(), f"link set {INNER} up"]
    lines += [
        f"address add {nameserver}/{nameserver.max_prefixlen} dev lo"
        + (" nodad" if nameserver.version == 6 else "")
        for nameserver in layout.relayed
        if not nameserver.is_loopback
    ]
    for version in layout.versions:
        outside, inside = layout.link.addresses(version)
        nodad = " nodad" if version == 6 else ""
        lines += [
            f"address add {inside} dev {INNER}{nodad}",
            f"route add default via {outside.partition('/')[0]}",
        ]
    run_ip_batch(lines)
    return [
        _bind(nameserver, kind)
        for nameserver in layout.relayed
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM)
    ]


def read_state() -> dict[str, object]:
    links = run_ip_json("address", "show")
    return {
        f"the nftables rules inside (table {rules.INSIDE})": rules_digest(),
        f"the link's inner end ({INNER})": read_link(links, INNER),
        "loopback inside": read_link(links, "lo"),
        "the routes inside": [run_ip_json("-4", "route", "show"), run_ip_json("-6", "route", "show")],
    }


def open_captures() -> list[socket.socket]:
    """Open a socket for TCP at the inner end of the link, and one for TCP_INFO, as far as the kernel allows.

    They belong to this network namespace, whichever process holds them, see and reach nothing of the machine,
    and are closed when a program is executed.
    """
    opened: list[socket.socket] = []
    with contextlib.suppress(OSError):
        opened.append(open_socket(INNER))
        opened.append(open_tcp_info())
    return opened


def _link_local_commands() -> list[str]:
    """Return commands that give the interface its link-local address before it is up.

    Else the kernel gives it an address and reports the change a second later,
    when Chromium loads a page and drops it (`network_changed`).
    """
    off = Path(f"/proc/sys/net/ipv6/conf/{INNER}/disable_ipv6")
    if not off.exists() or off.read_text(encoding="ascii").strip() != "0":
        return []
    return [f"link set {INNER} addrgenmode none", f"address add {LINK_LOCAL} dev {INNER} nodad"]


def _bind(address: Address, kind: socket.SocketKind) -> socket.socket:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    bound = socket.socket(family, kind | socket.SOCK_CLOEXEC)
    if kind == socket.SOCK_STREAM:  # connections to the relay before this one may still be closing
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind((str(address), rules.DNS_PORT))
    if kind == socket.SOCK_STREAM:
        bound.listen()
    return bound
