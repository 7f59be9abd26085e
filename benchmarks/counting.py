"""Runs commands side by side and says what they cost, all their descendants included.

    python -m benchmarks.counting SPEC.json REPORT.json

It makes itself the reaper of orphans, so that no process can leave its accounts: a browser that outlives its
driver is waited for like any other.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
TICKS = os.sysconf("SC_CLK_TCK")

POLL_S = 0.01
SAMPLE_S = 0.5
LEFT_BEHIND_S = 10.0
"""For what the commands left running: after this it is killed, and counted."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Spec:
    """What to run."""

    commands: list[list[str]]
    environment: dict[str, str]
    folder: str
    """Working directory; the output of command n goes into n.log there."""
    timeout_s: float
    browser: str
    """Path of the program whose processes count as the browser's memory."""
    weigh: bool
    """Sample memory too; it costs processor time that others would have had."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Report:
    """What it cost."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    """User and system, of the commands and all their descendants."""
    exits: list[int] = dataclasses.field(default_factory=list)
    killed: int = 0
    """Processes that had to be ended."""
    browser_mb: float = 0.0
    """Highest sum of the browsers' proportional set size."""
    other_mb: float = 0.0
    """The same of all other processes."""


def main(spec_file: str, report_file: str) -> int:
    """Run and report; 1 if a command failed."""
    spec = Spec(**json.loads(Path(spec_file).read_text(encoding="utf-8")))
    report = count(spec)
    Path(report_file).write_text(json.dumps(dataclasses.asdict(report)), encoding="utf-8")
    return 1 if any(report.exits) else 0


def count(spec: Spec) -> Report:
    """Run the commands to their end, and what they left behind."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "orphans cannot be adopted")
    report = Report()
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
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    report.cpu_s = usage.ru_utime + usage.ru_stime
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
    """Wait for orphans; how many had to be killed."""
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
    pids = descendants(os.getpid())
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return len(pids)


def _weigh(spec: Spec, report: Report) -> None:
    browser = other = 0
    for pid in descendants(os.getpid()):
        try:
            size = proportional_kb(Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8"))
            is_browser = Path(f"/proc/{pid}/exe").resolve() == Path(spec.browser).resolve()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        browser += size if is_browser else 0
        other += 0 if is_browser else size
    report.browser_mb = max(report.browser_mb, browser / 1e3)
    report.other_mb = max(report.other_mb, other / 1e3)


def proportional_kb(smaps_rollup: str) -> int:
    """Memory of one process, pages that it shares divided among those who share them.

    >>> proportional_kb("Rss:    200 kB\\nPss:     120 kB\\nPss_Dirty:  3 kB\\n")
    120
    """
    return next((int(line.split()[1]) for line in smaps_rollup.splitlines() if line.startswith("Pss:")), 0)


def descendants(root: int) -> list[int]:
    """All processes below one, nearest first."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int(_stat(int(folder.name))[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        children.setdefault(parent, []).append(int(folder.name))
    found = list(children.get(root, ()))
    for pid in found:
        found.extend(children.get(pid, ()))
    return found


def tree_cpu_s(root: int) -> float:
    """Processor time of a running process, of its living descendants and of all the dead that were waited for."""
    total = 0
    for pid in [root, *descendants(root)]:
        try:
            total += sum(int(ticks) for ticks in _stat(pid)[11:15])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total / TICKS


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the state on (proc(5)); the name before them may hold anything."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
