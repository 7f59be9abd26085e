"""Notices changes of a network namespace, so that the output of `ip` and `nft` need not be read each time.

The kernel reports each change on netlink sockets (rtnetlink(7)). The contents of a report do not matter,
and are not read.
"""

import socket
from collections.abc import Iterable

NETLINK_NETFILTER = 12

# linux/rtnetlink.h: links, addresses, routes, rules of both versions, and sysctls like forwarding
ROUTE_GROUPS = sum(1 << group - 1 for group in (1, 5, 7, 8, 9, 11, 19, 24, 25))
# linux/netfilter/nfnetlink.h: NFNLGRP_NFTABLES
NFTABLES_GROUPS = 1 << 7 - 1

READ_BYTES = 65_536


def open_listeners() -> list[socket.socket]:
    """Open sockets on which the kernel reports changes of this network namespace; any process may read
    them."""
    sockets = []
    for protocol, groups in ((socket.NETLINK_ROUTE, ROUTE_GROUPS), (NETLINK_NETFILTER, NFTABLES_GROUPS)):
        listening = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, protocol)
        listening.setblocking(False)
        listening.bind((0, groups))
        sockets.append(listening)
    return sockets


def have_changed(listening: Iterable[socket.socket]) -> bool:
    """Return whether a change was reported since the last call."""
    changed = [_has_report(sock) for sock in listening]  # every socket is to be read
    return any(changed)


def _has_report(listening: socket.socket) -> bool:
    changed = False
    while True:
        try:
            listening.recv(READ_BYTES)
        except BlockingIOError:
            return changed
        except OSError:  # ENOBUFS: there were more reports than the buffer holds
            pass
        changed = True
