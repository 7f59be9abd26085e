"""Changes the machine's own network for the guard, and undoes the changes with the last guard.

Address translation needs IPv4 forwarding on the interface of the default route. If forwarding is off, it is
turned on for that interface alone, under a rule that forwards nothing but the guards' packets. IPv6
forwarding is never changed: turned on, it would make the machine ignore router advertisements and lose its
own default route.
"""

import contextlib
import json
import secrets
from pathlib import Path

from crawler.egress import rules
from crawler.egress.layout import LINKS, GuardLayout, Link
from crawler.egress.machine import Machine
from crawler.egress.namespace import INNER
from crawler.egress.programs import (
    list_tables,
    load_rules,
    read_link,
    rules_digest,
    run,
    run_ip_batch,
    run_ip_json,
)
from crawler.errors import EgressUnavailable

SYSCTL = Path("/proc/sys/net")
TRIES = 100

UPLINK_TABLE = f"{rules.PREFIX}_uplink_"
"""Prefix of the table that records that we turned forwarding on; the name of the interface follows."""


def forwarded_versions(machine: Machine) -> list[int]:
    forwarded = [4] if 4 in machine.uplinks else []
    passes_on = SYSCTL / "ipv6/conf/all/forwarding"
    if 6 in machine.uplinks and passes_on.exists() and passes_on.read_text().strip() == "1":
        forwarded.append(6)
    if not forwarded:
        raise EgressUnavailable(
            "this machine has IPv6 alone and does not forward it: sysctl -w net.ipv6.conf.all.forwarding=1 "
            "(and accept_ra=2 on its interface)"
        )
    return forwarded


def check_firewall() -> None:
    """Raise EgressUnavailable if the machine's firewall drops forwarded packets: every page would time
    out."""
    objects = json.loads(run("nft", "-j", "list", "chains"))["nftables"]
    for chain in (entry["chain"] for entry in objects if "chain" in entry):
        if chain.get("hook") == "forward" and chain.get("policy") == "drop" and chain["family"] != "bridge":
            where = f"{chain['family']} {chain['table']} {chain['name']}"
            raise EgressUnavailable(
                f"this machine's firewall drops what it forwards (chain {where}): run the crawl in a "
                "container or a machine of its own, or set that policy to accept"
            )


def free_link() -> Link:
    taken = _list_links()
    return next(
        link for link in (Link(secrets.randbelow(LINKS)) for _ in range(TRIES)) if link.name not in taken
    )


def attach(layout: GuardLayout, namespace_pid: int, opened: set[str]) -> None:
    """Link a process's namespace to this one, after loading the rules.

    The link is up when both ends are. `opened` are interfaces that forward for guards alone; one that is
    turned on is added.
    """
    link = layout.link
    load_rules(rules.outside_rules(table=link.name, link=link.name, local=layout.local))
    end = f"peer {INNER} netns {namespace_pid}"
    lines = [f"link add {link.name} mtu {layout.mtu} type veth {end}", f"link set {link.name} up"]
    for version in layout.versions:
        nodad = " nodad" if version == 6 else ""
        lines.append(f"address add {link.addresses(version)[0]} dev {link.name}{nodad}")
    run_ip_batch(lines)
    if 4 in layout.versions:
        _set_forwarding(link.name, "1")
        _open_uplink(layout.uplinks[4], opened)


def read_state(layout: GuardLayout, opened: set[str]) -> dict[str, object]:
    name = layout.link.name
    forwarding = [name, layout.uplinks[4]] if 4 in layout.versions else []
    state: dict[str, object] = {
        f"the nftables rules outside (table {name})": rules_digest(name),
        f"the link's outer end ({name})": read_link(run_ip_json("address", "show"), name),
    }
    for interface in forwarding:
        state[f"forwarding by {interface}"] = _forwards(interface)
    for interface in sorted(opened):
        state[f"the nftables rules of the way out (table {UPLINK_TABLE}{interface})"] = rules_digest(
            f"{UPLINK_TABLE}{interface}"
        )
    return state


def unlink(link: Link) -> None:
    with contextlib.suppress(EgressUnavailable):  # it may be gone
        run("ip", "link", "delete", link.name)


def detach(link: Link, opened: set[str]) -> None:
    """Remove the link and what killed guards left; with the last guard, restore forwarding."""
    unlink(link)
    for uplink in opened:  # the table says what to undo, and may have been removed
        load_rules(rules.uplink_rules(table=f"{UPLINK_TABLE}{uplink}", uplink=uplink))
    sweep()


def sweep() -> None:
    links = _list_links()
    ours = [name for name in links if name.startswith(rules.PREFIX)]
    for table in list_tables():
        if table.startswith(UPLINK_TABLE):
            if ours:
                continue
            uplink = table.removeprefix(UPLINK_TABLE)
            if uplink in links:
                _set_forwarding(uplink, "0")
        elif not table.startswith(rules.PREFIX) or table in ours:
            continue
        run("nft", "delete", "table", "inet", table)


def _open_uplink(uplink: str, opened: set[str]) -> None:
    """Let an interface forward the guards' packets, unless it forwards others."""
    table = f"{UPLINK_TABLE}{uplink}"
    if uplink in opened or not _forwards(uplink) or table in list_tables():
        load_rules(rules.uplink_rules(table=table, uplink=uplink))
        opened.add(uplink)
        _set_forwarding(uplink, "1")


def _list_links() -> list[str]:
    return [str(link["ifname"]) for link in run_ip_json("link", "show")]


def _forwarding(interface: str) -> Path:
    return SYSCTL / "ipv4/conf" / interface / "forwarding"


def _forwards(interface: str) -> bool:
    try:
        return _forwarding(interface).read_text(encoding="ascii").strip() == "1"
    except OSError:
        return False


def _set_forwarding(interface: str, value: str) -> None:
    path = _forwarding(interface)
    try:
        if path.read_text(encoding="ascii").strip() != value:
            path.write_text(value, encoding="ascii")
    except OSError as exc:
        raise EgressUnavailable(
            f"{path} cannot be set ({exc.strerror}): let this machine forward, net.ipv4.ip_forward=1 "
            "(for a container: --sysctl, or `sysctls` in its compose file)"
        ) from exc
