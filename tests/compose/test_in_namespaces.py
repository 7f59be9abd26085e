"""What a command changes of this machine's network, mounts and processes ends with it
(tests/compose/in-namespaces)."""

import os
import secrets
import signal
import subprocess
import time
from pathlib import Path

import pytest

IN_NAMESPACES = str(Path(__file__).parent / "in-namespaces")

AS_A_DOCKER_ENGINE = """
nft add table ip "$1"
nft add chain ip "$1" FORWARD '{ type filter hook forward priority 0; policy drop; }'
ip link add "$1" type bridge
mount -t tmpfs "$1" /mnt
sh -c 'sleep 600; exit' "$1" &
echo ready
wait
"""
"""Leaves rules, a link, a mount and a process, all of which have the name in $1."""


def traces(name: str) -> set[str]:
    """Kinds of what has that name on this machine, besides the command itself."""
    commands = {
        "rules": ["nft", "list", "tables"],
        "link": ["ip", "-o", "link"],
        "mount": ["cat", "/proc/mounts"],
        "process": ["pgrep", "-a", "-f", f"^sh -c sleep 600; exit {name}"],
    }
    return {
        kind
        for kind, command in commands.items()
        if name in subprocess.run(command, capture_output=True, text=True, check=False).stdout
    }


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL], ids=lambda end: end.name)
def test_nothing_is_left_of_a_command_that_is_ended(end: signal.Signals) -> None:
    if os.geteuid() != 0:
        pytest.fail("to make these namespaces takes root: run the tests as root")
    name = f"fft{secrets.token_hex(4)}"
    command = [IN_NAMESPACES, "sh", "-ec", AS_A_DOCKER_ENGINE, "sh", name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        assert traces(name) == {"process"}
        running.send_signal(end)
    deadline = time.monotonic() + 60
    while traces(name) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert traces(name) == set()


def test_the_exit_code_is_the_command_s() -> None:
    assert subprocess.run([IN_NAMESPACES, "sh", "-c", "exit 7"], check=False).returncode == 7
