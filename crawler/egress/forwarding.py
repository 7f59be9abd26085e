"""What the guard changes in the machine's own network, and how it is undone by the last guard that ends.

Address translation needs IPv4 forwarding on the interface of the default route. Where it is off, it is turned on
for that interface alone, under a rule that passes on nothing but the guards' packets. IPv6 forwarding is left as it
is: turning it on would make the machine deaf to router advertisements, and it would lose its own default route.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.egress import rules
from crawler.egress.namespace import LINKS, Link, connect_outside, run
from crawler.errors import EgressUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.egress.namespace import Machine

SYSCTL = Path("/proc/sys/net")
LOCK = "\0firstflight-egress"
"""An abstract socket: it is held in one network namespace at a time, and let go of when its process ends."""

LOCK_WITHIN_S = 30.0
TRIES = 100


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """One guard at a time sets up or ends here."""
    with socket.socket(socket.AF_UNIX) as lock:
        deadline = time.monotonic() + LOCK_WITHIN_S
        while True:
            try:
                lock.bind(LOCK)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise EgressUnavailable(
                        "another address guard is being set up and does not end"
                    ) from None
                time.sleep(0.05)
        yield


def versions(machine: Machine) -> list[int]:
    """The IP versions that browsers can have: of those that the machine has, the ones that it can pass on."""
    found = [4] if 4 in machine.uplinks else []
    passes_on = SYSCTL / "ipv6/conf/all/forwarding"
    if 6 in machine.uplinks and passes_on.exists() and passes_on.read_text().strip() == "1":
        found.append(6)
    if not found:
        raise EgressUnavailable(
            "this machine has IPv6 alone and does not forward it: sysctl -w net.ipv6.conf.all.forwarding=1 "
            "(and accept_ra=2 on its interface)"
        )
    return found


def check_firewall() -> None:
    """EgressUnavailable where the machine's own firewall drops what is forwarded: every page would time out."""
    listed = json.loads(run("nft", "-j", "list", "chains"))["nftables"]
    for chain in (one["chain"] for one in listed if "chain" in one):
        if chain.get("hook") == "forward" and chain.get("policy") == "drop" and chain["family"] != "bridge":
            where = f"{chain['family']} {chain['table']} {chain['name']}"
            raise EgressUnavailable(
                f"this machine's firewall drops what it forwards (chain {where}): run the crawl in a container "
                "or a machine of its own, or set that policy to accept"
            )


def attach(machine: Machine, holder: int, ip_versions: list[int]) -> Link:
    """Link the holder's namespace to this one."""
    taken = _links()
    link = next(
        one for one in (Link(secrets.randbelow(LINKS)) for _ in range(TRIES)) if one.name not in taken
    )
    connect_outside(link, holder, ip_versions, machine.mtu)
    uplink = machine.uplinks.get(4)
    run("nft", "-f", "-", given=rules.outside(table=link.name, link=link.name))
    if 4 in ip_versions:
        _set_forwarding(link.name, "1")
    if uplink is not None and _forwarding(uplink).read_text().strip() == "0":
        run("nft", "-f", "-", given=rules.uplink(table=f"{UPLINK_TABLE}{uplink}", uplink=uplink))
        _set_forwarding(uplink, "1")
    return link


UPLINK_TABLE = f"{rules.PREFIX}_uplink_"
"""A table of this name says that we turned forwarding on, for the interface that the name ends in."""


def detach(link: Link) -> None:
    """Remove the link, and all that is left of guards that were killed; after the last, forwarding is as it was."""
    with contextlib.suppress(EgressUnavailable):  # gone with the namespace
        run("ip", "link", "delete", link.name)
    sweep()


def sweep() -> None:
    """Remove the tables of guards that are gone."""
    listed = json.loads(run("nft", "-j", "list", "tables"))["nftables"]
    tables = [one["table"]["name"] for one in listed if "table" in one]
    links = _links()
    ours = [name for name in links if name.startswith(rules.PREFIX)]
    for table in tables:
        if table.startswith(UPLINK_TABLE):
            if ours:
                continue
            uplink = table.removeprefix(UPLINK_TABLE)
            if uplink in links:
                _set_forwarding(uplink, "0")
        elif not table.startswith(rules.PREFIX) or table in ours:
            continue
        run("nft", "delete", "table", "inet", table)


def _links() -> list[str]:
    return [one["ifname"] for one in json.loads(run("ip", "-json", "link", "show"))]


def _forwarding(interface: str) -> Path:
    return SYSCTL / "ipv4/conf" / interface / "forwarding"


def _set_forwarding(interface: str, value: str) -> None:
    path = _forwarding(interface)
    if path.read_text().strip() == value:
        return
    try:
        path.write_text(value)
    except OSError as exc:
        raise EgressUnavailable(
            f"{path} cannot be set ({exc.strerror}): let this machine forward, net.ipv4.ip_forward=1 "
            "(for a container: --sysctl, or `sysctls` in its compose file)"
        ) from exc
