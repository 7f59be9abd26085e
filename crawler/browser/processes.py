"""Process trees and their memory, read from /proc (proc(5)), which every user may read."""

import os
from collections import defaultdict

OWN_MEMORY = (b"RssAnon:", b"RssShmem:")
"""Lines of /proc/PID/status that are summed; mapped files, which all processes of a browser share,
are left out."""


READ_BYTES = 1 << 16


def list_parents() -> dict[int, int]:
    """Return every process and its parent."""
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
    """List the descendants of `root`, parents before their children."""
    children = defaultdict(list)
    for pid, parent in (list_parents() if among is None else among).items():
        children[parent].append(pid)
    below = list(children[root])
    for pid in below:
        below += children[pid]
    return below


def read_arguments(pid: int) -> list[bytes]:
    """Return the command line of a process; empty if it has ended."""
    return _read(f"/proc/{pid}/cmdline").split(b"\0")[:-1]


def is_running(pid: int) -> bool:
    """Return whether a process runs; a zombie, which has no memory, does not."""
    return bool(_status(pid))


def memory_bytes(root: int) -> int:
    """Return the memory of a process and its descendants: anonymous and shared pages, but no files.

    Shared pages count in each process, unlike in PSS (proc(5)),
    which only root may read of sandboxed renderers.
    """
    return sum(own_memory_bytes(pid) for pid in [root, *list_descendants(root)])


def own_memory_bytes(pid: int) -> int:
    """Return the anonymous and shared memory of one process."""
    return sum(_status(pid))


def _status(pid: int) -> list[int]:
    """Return the values of OWN_MEMORY in bytes; none for a zombie or a process that has ended."""
    lines = _read(f"/proc/{pid}/status").splitlines()
    return [int(line.split()[1]) * 1024 for line in lines if line.startswith(OWN_MEMORY)]


def _read(path: str) -> bytes:
    """Return what a file of /proc has; empty if its process has ended.

    Every process is read after every visit.
    """
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
