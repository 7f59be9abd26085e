"""Inside the guest: the network, the player, and one piece of work after another.

Every line that begins with @ is an answer, as JSON; all else on the console is the guest's log.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

# -I leaves the script's folder and the user's packages out of the path; the folder is wanted.
sys.path.insert(0, str(Path(__file__).parent))

import topology


def answer(**facts: Any) -> None:
    """Say one thing to the host."""
    print("@" + json.dumps(facts), flush=True)


class Player:
    """The player's process, and its answers."""

    def __init__(self, net: Any, work: dict[str, Any]) -> None:
        names = topology.server_names(work["origins"])
        servers = [f"{name}:{net[name].pid}:{topology.server_address(n)}" for n, name in enumerate(names)]
        windows = ",".join(str(window) for window in work["windows"])
        client = f"client:{net['client'].pid}:none"
        self.process = subprocess.Popen(
            [work["player"], work["congestion_control"], windows, client, *servers],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.relay("ready")

    def tell(self, line: str) -> None:
        """One command."""
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def relay(self, last: str) -> None:
        """Pass answers on, up to the one that is about `last`."""
        assert self.process.stdout
        for line in self.process.stdout:
            sys.stdout.write(line)
            if line.startswith(f'@{{"{last}"'):
                sys.stdout.flush()
                return
        raise SystemExit(f"the player ended with status {self.process.wait()}")


def main() -> None:
    """All the work of this guest's life."""
    work = json.loads(Path(sys.argv[1]).read_text())
    net = topology.start(origins=work["origins"], player=work["player"])
    player = Player(net, work)
    for path in work["pages"]:
        player.tell(f"page {path}")
    for shift in work["shifts"]:
        profile = shift["profile"]
        answer(profile=profile["id"])
        topology.shape(net, profile, calibrating=True)
        for line in shift["flights"]:
            player.tell(line)
            player.relay("flight")
        topology.shape(net, profile, calibrating=False)
        for line in shift["transfers"]:
            player.tell(line)
            player.relay("transfer")
        for line in shift["cells"]:
            player.tell(line)
            player.relay("cell")
    answer(finished=True)


if __name__ == "__main__":
    main()
