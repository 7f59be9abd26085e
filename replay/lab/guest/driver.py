"""Inside the guest: the network, the player, and one piece of work after another.

Every line that begins with @ is an answer, as JSON; all else on the console is the guest's log.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

# -I and -S leave the script's folder and all packages out of the path.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.append("/usr/lib/python3/dist-packages")

import topology


def answer(**facts: Any) -> None:
    """Say one thing to the host."""
    print("@" + json.dumps(facts), flush=True)


class Player:
    """The player's process: it answers to the host by itself, and says here that it has done all it was told."""

    def __init__(self, net: Any, work: dict[str, Any]) -> None:
        names = topology.server_names(work["origins"])
        servers = [f"{name}:{net[name].pid}:{topology.server_address(n)}" for n, name in enumerate(names)]
        windows = ",".join(str(window) for window in work["windows"])
        client = f"client:{net['client'].pid}:none"
        done, said = os.pipe()
        self.process = subprocess.Popen(
            [work["player"], windows, str(said), client, *servers],
            stdin=subprocess.PIPE,
            text=True,
            pass_fds=[said],
        )
        os.close(said)
        self.done = done

    def tell(self, lines: list[str]) -> None:
        """Commands, which it has done when this returns."""
        assert self.process.stdin
        try:
            self.process.stdin.write("".join(f"{line}\n" for line in [*lines, "done"]))
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        if not os.read(self.done, 1):
            raise SystemExit(f"the player ended with status {self.process.wait()}")


def main() -> None:
    """All the work of this guest's life."""
    answer(step="mininet imported")
    work = json.loads(Path(sys.argv[1]).read_text())
    net = topology.start(origins=work["origins"], player=work["player"])
    answer(step="network made")
    player = Player(net, work)
    player.tell([*work["settings"], *(f"page {path}" for path in work["pages"])])
    for shift in work["shifts"]:
        profile = shift["profile"]
        answer(profile=profile["id"])
        if shift["flights"]:
            topology.shape(profile, calibrating=True)
            player.tell([*shift["network"], *shift["flights"]])
        if shift["loads"]:
            topology.shape(profile, calibrating=False)
            player.tell([*shift["network"], *shift["loads"]])
    answer(finished=True)


if __name__ == "__main__":
    main()
