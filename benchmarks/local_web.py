"""Serves the bundled local web in a process of its own, so that its cost is not counted."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STARTS_WITHIN_S = 120.0


@contextlib.contextmanager
def serving(state: Path, *options: str) -> Iterator[dict[str, Any]]:
    """Run `firstflight localweb serve` for the block; yields what it writes to `state`: sites and browser flags."""
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
