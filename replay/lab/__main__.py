"""Builds the lab with Debian's Python, before there are other packages: `python3 -m replay.lab CACHE`."""

import signal
import sys
from pathlib import Path

from replay.errors import ReplayError
from replay.lab.kernel import build_kernel
from replay.lab.player import build_player


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    try:
        for build in (build_kernel, build_player):
            build(Path(sys.argv[1]), say)
    except (ReplayError, OSError) as exc:
        sys.exit(f"Error: {exc}")
