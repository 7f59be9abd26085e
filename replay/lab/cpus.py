"""Idle CPUs, so that independent replays use different ones."""

import time
from pathlib import Path

from replay.lab.guest_process import usable_cpus

LOOK_S = 0.2
BUSY_SHARE = 0.5
"""Share of busy time above which a CPU counts as busy."""


def quiet_cpus(first: int) -> list[int]:
    """Usable CPUs, the idle ones first; both groups are rotated by `first`."""
    before = cpu_seconds()
    time.sleep(LOOK_S)
    after = cpu_seconds()
    usable = usable_cpus()
    turned = [usable[(first + place) % len(usable)] for place in range(len(usable))]

    def is_busy(cpu: int) -> bool:
        return busy_share(before.get(cpu), after.get(cpu)) > BUSY_SHARE

    return sorted(turned, key=is_busy)


def cpu_seconds() -> dict[int, tuple[int, int]]:
    """Busy and idle ticks of each CPU, from /proc/stat (proc(5))."""
    found = {}
    for line in Path("/proc/stat").read_text().splitlines():
        name, *ticks = line.split()
        if name.startswith("cpu") and name != "cpu":
            user, nice, system, idle, waiting, *rest = map(int, ticks)
            found[int(name[3:])] = (user + nice + system + sum(rest[:3]), idle + waiting)
    return found


def busy_share(before: tuple[int, int] | None, after: tuple[int, int] | None) -> float:
    """Share of busy time between two readings; 0 if unknown.

    >>> busy_share((100, 50), (103, 51)), busy_share((100, 50), (100, 50)), busy_share(None, None)
    (0.75, 0.0, 0.0)
    """
    if before is None or after is None:
        return 0.0
    worked, idle = after[0] - before[0], after[1] - before[1]
    return worked / (worked + idle) if worked + idle else 0.0
