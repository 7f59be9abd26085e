"""The local web in a process of its own, and its log."""

import contextlib
import dataclasses
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

START_S = 120.0
"""Time limit for the start; the first makes the bodies of all pages."""


@dataclasses.dataclass(frozen=True, slots=True)
class Played:
    """Sites to visit; after the end, the server's log of connections and responses."""

    sites: list[str]
    browser_flags: list[str]
    connections: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    responses: list[dict[str, Any]] = dataclasses.field(default_factory=list)


@contextlib.contextmanager
def play_local_web(mode: str, folder: Path) -> Iterator[Played]:
    """Run `firstflight localweb serve`; the value has its log after the block."""
    state, log = folder / "web.json", folder / "sent.jsonl"
    program = str(Path(sys.executable).with_name("firstflight"))
    command = [program, "localweb", "serve", "--mode", mode, "--state", str(state), "--log", str(log)]
    with subprocess.Popen(command) as server:
        try:
            deadline = time.monotonic() + START_S
            while not state.exists():
                assert server.poll() is None, "the local web did not start"
                assert time.monotonic() < deadline, "the local web does not listen"
                time.sleep(0.05)
            facts = json.loads(state.read_text())
            played = Played(facts["sites"], facts["browser_flags"])
            yield played
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(120)
    for line in log.read_text().splitlines():
        entry = json.loads(line)
        if entry["kind"] == "connection":
            played.connections.append(entry)
        elif entry["kind"] == "response":
            played.responses.append(entry)
