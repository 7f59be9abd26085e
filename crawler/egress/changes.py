"""Whether a network namespace was changed since this was last asked: what `ip` and `nft` show need not be read each time.

The kernel tells of each change on netlink sockets (rtnetlink(7)). What it tells is not read: it may be about anything.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

NETLINK_NETFILTER = 12

# linux/rtnetlink.h: links, addresses, routes, rules of both versions, and sysctls like forwarding
ROUTE_GROUPS = sum(1 << group - 1 for group in (1, 5, 7, 8, 9, 11, 19, 24, 25))
# linux/netfilter/nfnetlink.h: NFNLGRP_NFTABLES
NFTABLES_GROUPS = 1 << 7 - 1

READ_BYTES = 65_536


def listeners() -> list[socket.socket]:
    """Sockets that are told what changes in this process's network namespace, whoever reads them."""
    found = []
    for protocol, groups in ((socket.NETLINK_ROUTE, ROUTE_GROUPS), (NETLINK_NETFILTER, NFTABLES_GROUPS)):
        listening = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, protocol)
        listening.setblocking(False)
        listening.bind((0, groups))
        found.append(listening)
    return found


def have_changed(listening: Iterable[socket.socket]) -> bool:
    """Whether any was told of anything since; all of it is read away."""
    told = [_was_told(one) for one in listening]  # each is to be read
    return any(told)


def _was_told(listening: socket.socket) -> bool:
    told = False
    while True:
        try:
            listening.recv(READ_BYTES)
        except BlockingIOError:
            return told
        except OSError:  # ENOBUFS: it was more than could be kept
            pass
        told = True
