"""Runs commands side by side and measures their cost, with all their descendants.

    python -m benchmarks.counting SPEC.json REPORT.json

It becomes the reaper of orphaned processes, so that it ends after all of them: also after a browser that
outlives its driver. CPU time is the kernel's own count.
"""

import ctypes
import dataclasses
import json
import os
import platform
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

from crawler.browser.processes import list_descendants

PR_SET_CHILD_SUBREAPER = 36
TICKS = os.sysconf("SC_CLK_TCK")

POLL_S = 0.01
SAMPLE_S = 0.5
LEFT_BEHIND_S = 10.0
"""Grace period, in seconds, for processes that the commands left running;
then they are killed and counted."""


SYSCALLS = {"x86_64": 298, "aarch64": 241}
"""Number of perf_event_open by machine; the C library has no function for it (perf_event_open(2))."""

ATTRIBUTES_BYTES = 112
SOFTWARE, TASK_CLOCK, INHERIT = 1, 1, 1 << 1
"""PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, and the flag by which all descendants are counted."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Spec:
    """Commands to run."""

    commands: list[list[str]]
    environment: dict[str, str]
    folder: str
    """Working directory; the output of command n goes to n.log in it."""
    timeout_s: float
    browser: str
    """Path of the program whose processes count as the browser's memory."""
    weigh: bool
    """True to sample memory; sampling takes processor time from the commands."""


class TaskClock:
    """Counts the CPU time of this thread and of every process that it starts from then on, with all of
    theirs.

    `getrusage` and `wait` know only of processes that their parents waited for. When a PID namespace ends,
    the kernel ends all that is in it and nobody waits for those: of a browser in a box they miss the network
    service and its network log.

    Raises OSError, with what to do, where the kernel refuses it.
    """

    def __init__(self) -> None:
        number = SYSCALLS.get(platform.machine())
        if number is None:
            raise OSError(
                f"CPU time cannot be counted on {platform.machine()}: it is known for {', '.join(SYSCALLS)}"
            )
        attributes = struct.pack("=IIQQQQQ", SOFTWARE, ATTRIBUTES_BYTES, TASK_CLOCK, 0, 0, 0, INHERIT)
        given = ctypes.create_string_buffer(attributes, ATTRIBUTES_BYTES)
        library = ctypes.CDLL(None, use_errno=True)
        self._counter = library.syscall(number, given, 0, -1, -1, 0)  # this thread, on any processor
        if self._counter < 0:
            raise OSError(
                ctypes.get_errno(), "CPU time cannot be counted: sysctl kernel.perf_event_paranoid=2"
            )
        self._began_s = time.thread_time()

    def __del__(self) -> None:
        if getattr(self, "_counter", -1) >= 0:
            os.close(self._counter)

    def of_descendants_s(self) -> float:
        """Return the user and system time of all processes started since, in seconds, whoever waited for
        them."""
        all_s = int.from_bytes(os.read(self._counter, 8), "little") / 1e9
        return all_s - (time.thread_time() - self._began_s)


@dataclasses.dataclass(kw_only=True, slots=True)
class Report:
    """Measured cost of the commands."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    """User and system time of the commands and all their descendants."""
    exits: list[int] = dataclasses.field(default_factory=list)
    killed: int = 0
    """Number of processes that had to be killed."""
    browser_mb: float = 0.0
    """Highest sum of the browsers' proportional set sizes."""
    other_mb: float = 0.0
    """The same for all other processes."""


def main(spec_file: str, report_file: str) -> int:
    """Run the commands and write the report; returns 1 if a command failed,
    2 without a report if nothing can be counted here."""
    spec = Spec(**json.loads(Path(spec_file).read_text(encoding="utf-8")))
    try:
        report = count(spec)
    except OSError as exc:
        print(exc, file=sys.stderr)
        return 2
    Path(report_file).write_text(json.dumps(dataclasses.asdict(report)), encoding="utf-8")
    return 1 if any(report.exits) else 0


def count(spec: Spec) -> Report:
    """Run the commands, and wait for the processes that they left."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "orphans cannot be adopted")
    report = Report()
    clock = TaskClock()
    began = time.monotonic()
    running = [_start(spec, number, command) for number, command in enumerate(spec.commands)]
    sampled = 0.0
    while any(process.poll() is None for process in running):
        now = time.monotonic()
        if now - began > spec.timeout_s:
            report.killed += _kill()
        if spec.weigh and now - sampled >= SAMPLE_S:
            sampled = now
            _weigh(spec, report)
        time.sleep(POLL_S)
    report.wall_s = time.monotonic() - began
    report.exits = [process.returncode for process in running]
    report.killed += _reap()
    report.cpu_s = clock.of_descendants_s()
    return report


def _start(spec: Spec, number: int, command: list[str]) -> subprocess.Popen[bytes]:
    with (Path(spec.folder) / f"{number}.log").open("wb") as log:
        return subprocess.Popen(
            command,
            cwd=spec.folder,
            env=os.environ | spec.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def _reap() -> int:
    """Wait for orphaned processes; returns how many had to be killed."""
    deadline = time.monotonic() + LEFT_BEHIND_S
    killed = 0
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return killed
        if not pid:
            if time.monotonic() > deadline:
                killed += _kill()
            time.sleep(POLL_S)


def _kill() -> int:
    pids = list_descendants(os.getpid())
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return len(pids)


def _weigh(spec: Spec, report: Report) -> None:
    browser = other = 0
    for pid in list_descendants(os.getpid()):
        try:
            size = pss_kb(pid)
            is_browser = Path(f"/proc/{pid}/exe").resolve() == Path(spec.browser).resolve()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        browser += size if is_browser else 0
        other += 0 if is_browser else size
    report.browser_mb = max(report.browser_mb, browser / 1e3)
    report.other_mb = max(report.other_mb, other / 1e3)


def pss_kb(pid: int) -> int:
    """Return the proportional set size of a process; 0 if it has ended. Only root can read those of other
    users."""
    try:
        return proportional_kb(Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8"))
    except (FileNotFoundError, ProcessLookupError):
        return 0


def proportional_kb(smaps_rollup: str) -> int:
    """Return the proportional set size: memory of a process, with shared pages divided among their processes.

    >>> proportional_kb("Rss:    200 kB\\nPss:     120 kB\\nPss_Dirty:  3 kB\\n")
    120
    """
    return next((int(line.split()[1]) for line in smaps_rollup.splitlines() if line.startswith("Pss:")), 0)


def tree_cpu_s(root: int) -> float:
    """Return the CPU time of a running process, of its living descendants and of all dead
    children that were waited for."""
    total = 0
    for pid in [root, *list_descendants(root)]:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        # The name before the other fields may hold anything (proc(5)).
        total += sum(int(ticks) for ticks in stat.rpartition(")")[2].split()[11:15])
    return total / TICKS


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
