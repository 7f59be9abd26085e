"""Runs `ip` and `nft`; a failure of theirs is EgressUnavailable."""

import hashlib
import json
import os
import subprocess
from typing import Any

from crawler.errors import EgressUnavailable

SEARCH_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
WITHIN_S = 20


def run(*call: str, given: str | None = None) -> str:
    """Return a program's output; EgressUnavailable with its error."""
    try:
        done = subprocess.run(
            call,
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            text=True,
            check=False,
            timeout=WITHIN_S,
            env={"PATH": SEARCH_PATH, "LC_ALL": "C"},
        )
    except FileNotFoundError as exc:
        package = {"nft": "nftables", "ip": "iproute2"}.get(call[0], call[0])
        raise EgressUnavailable(f"no {call[0]}: apt-get install {package}") from exc
    except subprocess.TimeoutExpired as exc:
        raise EgressUnavailable(f"`{' '.join(call)[:80]}` did not end within {WITHIN_S} s") from exc
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise EgressUnavailable(f"`{' '.join(call)[:80]}` failed: {words[0]}")
    return done.stdout


def run_ip_batch(lines: list[str]) -> None:
    """Run commands of `ip`; all must succeed."""
    run("ip", "-batch", "-", given="\n".join(lines) + "\n")


def run_ip_json(*call: str) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = json.loads(run("ip", "-json", *call) or "[]")
    return result


def load_rules(rules: str) -> None:
    run("nft", "-f", "-", given=rules)


def list_tables() -> list[str]:
    objects = json.loads(run("nft", "-j", "list", "tables"))["nftables"]
    return [str(entry["table"]["name"]) for entry in objects if "table" in entry]


def rules_digest(table: str | None = None) -> str:
    """Return a digest of a table, or of all rules here; empty if there are none."""
    what = ("ruleset",) if table is None else ("table", "inet", table)
    try:
        shown = run("nft", "--stateless", "list", *what)
    except EgressUnavailable:
        return ""
    return hashlib.sha256(shown.encode()).hexdigest() if shown else ""


def read_link(links: list[dict[str, Any]], name: str) -> dict[str, object]:
    """Return state, MTU and addresses of an interface, none if it is missing.

    Link-local addresses are left out: the kernel adds and removes them at any time.
    """
    for link in links:
        if link.get("ifname") == name:
            return {
                "up": {"UP", "LOWER_UP"} <= set(link["flags"]),
                "mtu": link["mtu"],
                "addresses": sorted(
                    f"{info['local']}/{info['prefixlen']}"
                    for info in link.get("addr_info", ())
                    if info.get("scope") != "link"
                ),
            }
    return {}
