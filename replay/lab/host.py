"""The lab on the host's kernel, in network namespaces and real time, as a cross-check."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from replay.errors import LabMissing
from replay.lab.guest_process import ISOLATED, Lab

PROGRAMS = {"unshare": "util-linux", "ip": "iproute2", "tc": "iproute2", "taskset": "util-linux"}

MININET = "import sys; sys.path.append('/usr/lib/python3/dist-packages'); import mininet.net"

FEATURES = {
    "veth": "ip link add ff0 type veth peer name ff1",
    "bridge": "ip link add ff2 type bridge",
    "sch_tbf": "tc qdisc add dev ff0 root tbf rate 1mbit burst 1540 limit 3028",
    "sch_netem": "tc qdisc add dev ff1 root netem delay 1ms",
}
"""Kernel features, each with a command that tries it; later ones build on earlier ones."""


def run_quietly(argv: list[str]) -> int:
    null = subprocess.DEVNULL
    return subprocess.run(argv, stdin=null, stdout=null, stderr=null, check=False).returncode


def locate(player: Path, *, run: Callable[[list[str]], int] = run_quietly, user: int | None = None) -> Lab:
    """Return the lab on the host; LabMissing names all that is missing."""
    lacking = []
    if (os.geteuid() if user is None else user) != 0:
        lacking.append("root")
    packages = sorted({package for program, package in PROGRAMS.items() if not shutil.which(program)})
    if run(["/usr/bin/python3", "-I", "-S", "-c", MININET]) != 0:
        packages.append("mininet")
    if packages:
        lacking.append(f"packages (apt-get install {' '.join(packages)})")
    if not lacking:
        missing = missing_features(run)
        if missing:
            lacking.append(f"in its kernel {', '.join(missing)}")
    if lacking:
        raise LabMissing(f"--lab host needs what this machine has not: {'; '.join(lacking)}")
    return Lab(kernel=None, player=player, is_virtual=False)


def missing_features(run: Callable[[list[str]], int]) -> list[str]:
    if run([*ISOLATED, "true"]) != 0:
        return ["namespaces"]
    tried: list[str] = []
    missing = []
    for name, command in FEATURES.items():
        if run([*ISOLATED, "sh", "-c", " && ".join([*tried, command])]) == 0:
            tried.append(command)
        else:
            missing.append(name)
    return missing
