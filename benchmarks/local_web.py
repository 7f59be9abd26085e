"""Serves the bundled local web in a process of its own, so that its cost is not counted."""

import contextlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

STARTS_WITHIN_S = 180.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """The state of a local web: what a browser needs to visit it."""

    sites: list[str]
    browser_flags: list[str]
    canaries: list[str] = field(default_factory=list)
    """URLs by which a crawler tells that the web is there."""

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")


@contextlib.contextmanager
def serve_local_web(state: Path, *options: str) -> Iterator[Served]:
    """Run `firstflight localweb serve` for the block, and yield its state."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # so that what was started is ended
    command = [sys.executable, "-m", "firstflight", "localweb", "serve", *options, "--state", str(state)]
    with subprocess.Popen(command) as server:
        try:
            yield await_state(server, state)
        finally:
            server.terminate()


def await_state(server: subprocess.Popen[Any], state: Path) -> Served:
    """Return the state of a server once it has written it; SystemExit if it does not start."""
    deadline = time.monotonic() + STARTS_WITHIN_S
    while not state.exists():
        if server.poll() is not None or time.monotonic() > deadline:
            sys.exit("the local web does not start")
        time.sleep(0.05)
    return msgspec.json.decode(state.read_bytes(), type=Served)


def multiply_sites(web: Served, sites: list[str], count: int) -> Served:
    """Return the local web with `count` sites: the given ones in turn, each under a subdomain of its own."""
    names = [f"{number}.{sites[number % len(sites)]}" for number in range(count)]
    flags = [add_subdomains(flag, sites) for flag in web.browser_flags]
    return replace(web, sites=names, browser_flags=flags)


def add_subdomains(flag: str, sites: list[str]) -> str:
    """Return the browser's host rules, with the same rules for subdomains of sites that no earlier rule
    knows.

    >>> add_subdomains("--host-resolver-rules=MAP a.test:443 127.0.0.1:1,MAP * ~NOTFOUND", ["a.test"])
    '--host-resolver-rules=MAP a.test:443 127.0.0.1:1,MAP *.a.test:443 127.0.0.1:1,MAP * ~NOTFOUND'
    """
    name, _, text = flag.partition("=")
    if name != "--host-resolver-rules":
        return flag
    *rules, last = text.split(",")
    more = [rule.replace(" ", " *.", 1) for rule in rules if rule.split()[1].rpartition(":")[0] in sites]
    return f"{name}={','.join([*rules, *more, last])}"
