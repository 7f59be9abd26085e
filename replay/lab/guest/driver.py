"""Runs inside the guest: makes the network, starts the player, and does one job after another.

Console lines that begin with @ are answers in JSON; other lines are the guest's log.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

# With -I and -S, the script's folder and Debian's packages are not in the path.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.append("/usr/lib/python3/dist-packages")

import topology


def answer(**facts: Any) -> None:
    """Print an answer to the host."""
    print("@" + json.dumps(facts), flush=True)


class Player:
    """The player's process. It answers the host directly, and tells us when it has done its commands."""

    def __init__(self, net: Any, work: dict[str, Any]) -> None:
        names = topology.server_names(work["origins"])
        servers = [f"{name}:{net[name].pid}:{topology.server_address(n)}" for n, name in enumerate(names)]
        windows = ",".join(str(window) for window in work["windows"])
        client = f"client:{net['client'].pid}:none"
        done, done_pipe = os.pipe()
        self.process = subprocess.Popen(
            [work["player"], windows, str(done_pipe), client, *servers],
            stdin=subprocess.PIPE,
            text=True,
            pass_fds=[done_pipe],
        )
        os.close(done_pipe)
        self.done = done

    def tell(self, lines: list[str]) -> None:
        """Send commands, and wait until they are done."""
        assert self.process.stdin
        try:
            self.process.stdin.write("".join(f"{line}\n" for line in [*lines, "done"]))
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        if not os.read(self.done, 1):
            raise SystemExit(f"the player ended with status {self.process.wait()}")


def main() -> None:
    """Do all jobs of this guest."""
    answer(step="mininet imported")
    work = json.loads(Path(sys.argv[1]).read_text())
    net = topology.start(origins=work["origins"], player=work["player"])
    answer(step="network made")
    player = Player(net, work)
    player.tell([*work["settings"], *(f"page {path}" for path in work["pages"])])
    for job in work["jobs"]:
        profile = job["profile"]
        answer(profile=profile["id"])
        if job["flights"]:
            topology.shape(profile, calibrating=True)
            player.tell([*job["network"], *job["flights"]])
        if job["loads"]:
            topology.shape(profile, calibrating=False)
            player.tell([*job["network"], *job["loads"]])
    answer(finished=True)


if __name__ == "__main__":
    main()
