"""A lock that belongs to a network namespace, and that nobody can hold but who may change that network."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from typing import TYPE_CHECKING

from crawler.errors import EgressUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "/proc/sys/net/ipv4/tcp_fastopen_key"
"""Each network namespace has this file of its own, with mode 0600, and the kernel lets only its owner and who has CAP_NET_ADMIN
over it open it. What it is for does not matter here: it is neither read nor written."""

WITHIN_S = 30.0
PAUSE_S = 0.05


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """One guard at a time is set up, mended or ended in a network namespace; the kernel lets go for a process that dies.

    A lock file in a folder would be another for each user who may set a guard up, and a name in a folder or among the
    abstract sockets can be taken by somebody who may not.
    """
    try:
        descriptor = os.open(FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as exc:
        raise EgressUnavailable(
            f"{FILE} cannot be opened ({exc.strerror}), which guards take turns by"
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
