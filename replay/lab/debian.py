"""The lab on Debian's unmodified user-mode kernel in real time, as a second opinion."""

from pathlib import Path

from replay.errors import LabMissing
from replay.lab.guest_process import Lab

PACKAGE = "user-mode-linux"
KERNEL = Path("/usr/bin/linux.uml")
MODULES = Path("/usr/lib/uml/modules")

NEEDED = (
    "lib/crc-ccitt.ko",
    "net/llc/llc.ko",
    "net/802/stp.ko",
    "net/ipv6/ipv6.ko:disable_ipv6=1",  # the bridge needs it; its packets would fill the queue
    "net/bridge/bridge.ko",
    "drivers/net/veth.ko",
    "net/sched/sch_netem.ko",
    "net/sched/sch_tbf.ko",
    "net/sched/sch_htb.ko",
)
"""Kernel modules with parameters, in the order of their dependencies."""


AMX = "amx_tile"
"""Flag of a CPU whose registers do not fit into this kernel's buffer: its first process dies
(guest/kernel/host-registers.patch)."""


def can_run(cpu: Path = Path("/proc/cpuinfo")) -> bool:
    return AMX not in cpu.read_text(encoding="ascii").split()


def locate(player: Path, *, kernel: Path = KERNEL) -> Lab:
    """Return the lab; LabMissing if the kernel is not installed, or cannot run on this CPU."""
    if not can_run():
        raise LabMissing(
            "the second opinion needs a CPU without AMX, on which Debian's user-mode-linux dies; "
            "take another machine"
        )
    versions = sorted(MODULES.glob("*/kernel"))
    if not kernel.is_file() or not versions:
        raise LabMissing(f"the second opinion needs Debian's {PACKAGE}: apt-get install {PACKAGE}")
    return Lab(
        kernel=kernel,
        player=player,
        modules=tuple(str(versions[-1] / name) for name in NEEDED),
        is_virtual=False,
    )
