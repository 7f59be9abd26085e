"""Process trees, their memory and their work, read from /proc (proc(5)), which every user may read."""

import os
from collections import defaultdict
from typing import NamedTuple

OWN_MEMORY = (b"RssAnon:", b"RssShmem:")
"""Lines of /proc/PID/status that are summed; mapped files are shared by all processes of a browser."""


NAMES = (b"Worker", b"IOT")
"""Parts of the names of threads that run workers (DedicatedWorker), or pass messages on between processes
(Chrome_IOThread, Chrome_ChildIOT)."""
READY = b") R "
"""Part of /proc/PID/stat of a thread that runs or waits for a processor."""

READ_BYTES = 1 << 16

MS = 1_000_000


def list_parents() -> dict[int, int]:
    parent_of = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            stat = _read(f"{entry.path}/stat")
            if not stat:  # it has just ended
                continue
            # The name before it stands in parentheses and may hold anything, spaces and parentheses too.
            parent_of[int(entry.name)] = int(stat[stat.rindex(b")") + 4 :].split(b" ", 1)[0])
    return parent_of


def list_descendants(root: int, among: dict[int, int] | None = None) -> list[int]:
    children = defaultdict(list)
    for pid, parent in (list_parents() if among is None else among).items():
        children[parent].append(pid)
    below = list(children[root])
    for pid in below:
        below += children[pid]
    return below


def read_arguments(pid: int) -> list[bytes]:
    return _read(f"/proc/{pid}/cmdline").split(b"\0")[:-1]


def is_running(pid: int) -> bool:
    return bool(_status(pid))


def memory_bytes(root: int) -> int:
    """Return the anonymous and shared memory of a process and its descendants.

    Shared pages count in each process, unlike in PSS (proc(5)), which only root may read of sandboxed
    renderers.
    """
    return sum(own_memory_bytes(pid) for pid in [root, *list_descendants(root)])


def own_memory_bytes(pid: int) -> int:
    return sum(_status(pid))


class ThreadWork(NamedTuple):
    """A thread's work since it began, in nanoseconds."""

    ran_ns: int
    waited_ns: int
    """Time ready to run while others had the processors, up to when it last ran."""


NO_WORK = ThreadWork(0, 0)


class WorkMeter:
    """Measures how long a browser's threads have work to do between a response and the next request.

    They are the main threads of `root` and all processes below it, and the threads of NAMES. On a kernel that
    does not tell (CONFIG_SCHED_INFO, CONFIG_PROC_CHILDREN) they have nothing to do.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._readings: list[tuple[int, dict[int, ThreadWork]]] = []
        self.is_ready = False
        self.read(0)

    def read(self, time_ms: int) -> None:
        work = {}
        self.is_ready = False
        family = [self._root]
        for pid in family:
            for thread in _list_threads(pid):
                folder = f"/proc/{pid}/task/{thread}"
                family += map(int, _read(f"{folder}/children").split())
                if thread == pid or any(name in _read(f"{folder}/comm") for name in NAMES):
                    times = _read(f"{folder}/schedstat").split()
                    work[thread] = ThreadWork(int(times[0]), int(times[1])) if times else NO_WORK
                    self.is_ready |= READY in _read(f"{folder}/stat")
        self._readings.append((time_ms, work))

    def busy_ms(self, since_ms: int) -> int:
        """Return for how many ms the busiest thread had something to do, from the last reading at or before
        `since_ms` to the last.
        """
        before = [work for time_ms, work in self._readings if time_ms <= since_ms]
        return max(map(sum, self._compare(before[-1])), default=0) // MS

    @property
    def waited_ms(self) -> int:
        """Longest wait of a thread for a processor between the first reading and the last."""
        return max((work.waited_ns for work in self._compare(self._readings[0][1])), default=0) // MS

    def _compare(self, before: dict[int, ThreadWork]) -> list[ThreadWork]:
        _, last = self._readings[-1]
        return [
            ThreadWork(*(late - early for late, early in zip(work, before.get(thread, NO_WORK), strict=True)))
            for thread, work in last.items()
        ]


def _list_threads(pid: int) -> list[int]:
    try:
        return [int(entry.name) for entry in os.scandir(f"/proc/{pid}/task")]
    except OSError:  # it has just ended
        return []


def _status(pid: int) -> list[int]:
    lines = _read(f"/proc/{pid}/status").splitlines()
    return [int(line.split()[1]) * 1024 for line in lines if line.startswith(OWN_MEMORY)]


def _read(path: str) -> bytes:
    """Return what a file of /proc has; empty if its process has ended."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        parts = iter(lambda: os.read(file, READ_BYTES), b"")
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(file)
