"""Sets up a guard with the rights of a container of the stack: NET_ADMIN alone, and read-only sysctls.

JSON on standard output. Runs in namespaces that the test makes for it, never on the machine itself.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from crawler.egress.guard import set_up_guard
from crawler.egress.networks import parse_networks
from tests.crawler.egress import world
from tests.crawler.egress.breaking import REACHED, REFUSED, Broken, ask_addresses, find_fault
from tests.crawler.egress.looking import capture_page

AS_A_TASK = [
    "setpriv",
    "--reuid=10001",
    "--regid=10001",
    "--clear-groups",
    *(f"--{kind}=-all,+net_admin" for kind in ("inh-caps", "ambient-caps", "bounding-set")),
    "--no-new-privs",
]
READ_ONLY = "mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys"


def play() -> dict[str, Any]:
    with set_up_guard(parse_networks(world.BLOCKED)) as guard:
        whole = find_fault(guard.check)
        Broken(guard).the_link()
        return {
            "fault": [whole, find_fault(guard.check), find_fault(guard.mend)],
            "reached": ask_addresses(guard, *REACHED),
            "refused": ask_addresses(guard, *REFUSED),
            "captured": bool(capture_page(guard, world.PUBLIC)),
        }


def prepare() -> None:
    """Make, as root, a machine whose only nameserver is at its own public address."""
    with tempfile.TemporaryDirectory() as folder, world.machine(Path(folder)), world.nameserver(world.OWN):
        (Path(folder) / "resolv.conf").write_text(f"nameserver {world.OWN}\n", encoding="ascii")
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        subprocess.run(["sh", "-c", READ_ONLY], check=True)
        subprocess.run([*AS_A_TASK, sys.executable, "-B", "-m", __spec__.name, "play"], check=True)


if __name__ == "__main__":
    if "play" in sys.argv:
        print(json.dumps(play()))
    else:
        prepare()
