"""A lock of a network namespace, which only processes that may change that network can hold."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator

from crawler.errors import EgressUnavailable

FILE = "/proc/sys/net/ipv4/tcp_fastopen_key"
"""File that is locked. Each network namespace has its own, of mode 0600, which the kernel opens only for the namespace's owner
and for CAP_NET_ADMIN over it. It is neither read nor written."""

WITHIN_S = 30.0
PAUSE_S = 0.05


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Hold the lock while a guard is set up, mended or ended; the kernel releases it if the process dies.

    Lock files in folders would differ from user to user, and a fixed name in a folder or among the abstract sockets could be
    taken by a user who may not set up a guard.
    """
    try:
        descriptor = os.open(FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as exc:
        raise EgressUnavailable(
            f"{FILE} cannot be opened ({exc.strerror}), by which guards take turns"
        ) from exc
    try:
        _wait(descriptor)
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int) -> None:
    deadline = time.monotonic() + WITHIN_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise EgressUnavailable("another address guard is being set up and does not end") from None
            time.sleep(PAUSE_S)
        else:
            return
