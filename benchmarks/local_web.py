"""Serves the bundled local web in a process of its own, so that its cost is not counted."""

import contextlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STARTS_WITHIN_S = 120.0


@contextlib.contextmanager
def serve_local_web(state: Path, *options: str) -> Iterator[dict[str, Any]]:
    """Run `firstflight localweb serve` for the block; yields what it writes to `state`:
    sites and browser flags."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # so that what was started is ended
    command = [sys.executable, "-m", "firstflight", "localweb", "serve", *options, "--state", str(state)]
    with subprocess.Popen(command) as server:
        try:
            deadline = time.monotonic() + STARTS_WITHIN_S
            while not state.exists():
                if server.poll() is not None or time.monotonic() > deadline:
                    sys.exit("the local web does not start")
                time.sleep(0.05)
            yield json.loads(state.read_text(encoding="utf-8"))
        finally:
            server.terminate()


def multiply_sites(web: dict[str, Any], sites: list[str], count: int) -> dict[str, Any]:
    """Return the local web with `count` sites: the given ones in turn, each under a subdomain of its own."""
    names = [f"{number}.{sites[number % len(sites)]}" for number in range(count)]
    flags = [add_subdomains(flag, sites) for flag in web["browser_flags"]]
    return web | {"sites": names, "browser_flags": flags}


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
