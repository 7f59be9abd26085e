"""A FIFO that a browser writes, and a thread that drains it.

The thread never waits for anybody: if it did, the browser would.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
import termios
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PIPE_BYTES = 1024 * 1024
CHUNK_BYTES = 256 * 1024

PAUSE_S = 0.1
SHORT_PAUSE_S = 0.002
"""After a read that found little, and the same when somebody waits for what is to come: a browser writes a few events at a
time, and to wake for each costs more than to read them. The pipe holds what comes meanwhile."""


class Drain:
    """Made before the browser starts and closed after the browser's end: all that it writes goes to `take`, in the thread."""

    def __init__(self, path: Path, take: Callable[[bytes], None]) -> None:
        os.mkfifo(path, 0o600)
        self.path = path
        self._take = take
        self._bug: BaseException | None = None
        self._hurried = threading.Event()
        self._busy = False
        # Our own writing end keeps the FIFO from ending before the browser has opened it.
        self._reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._writing = os.open(path, os.O_WRONLY)
        os.set_blocking(self._reading, True)
        with contextlib.suppress(OSError):  # a smaller pipe works too
            fcntl.fcntl(self._reading, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._thread = threading.Thread(target=self._drain, name=path.name, daemon=True)
        self._thread.start()

    def hurry(self) -> None:
        """Pause no longer than SHORT_PAUSE_S, until `rest`."""
        self._hurried.set()

    def rest(self) -> None:
        """Nobody waits any more."""
        self._hurried.clear()

    @property
    def is_caught_up(self) -> bool:
        """Whether all that has been written has been taken."""
        # In this order: the thread is busy before it reads.
        return not unread(self._reading) and not self._busy

    def check(self) -> None:
        """Raise what `take` raised: nothing has been read since."""
        if self._bug is not None:
            raise self._bug

    def close(self) -> None:
        """Read what is left and end; the browser must have gone."""
        os.close(self._writing)
        self._thread.join(timeout=5)
        self.path.unlink(missing_ok=True)

    def _drain(self) -> None:
        buffer = memoryview(bytearray(CHUNK_BYTES))  # one for all reads: a new one each would be mapped anew
        there = select.poll()
        there.register(self._reading, select.POLLIN)
        try:
            with os.fdopen(self._reading, "rb", buffering=0) as pipe:
                while there.poll():
                    self._busy = True
                    size = pipe.readinto(buffer)
                    if not size:
                        break
                    self._take(bytes(buffer[:size]))
                    self._busy = False
                    if size < CHUNK_BYTES // 4:
                        self._pause()
        except BaseException as exc:  # noqa: BLE001  # a bug of ours: raised again where somebody listens
            self._bug = exc

    def _pause(self) -> None:
        if self._hurried.is_set():
            time.sleep(SHORT_PAUSE_S)
        else:
            self._hurried.wait(PAUSE_S)


def unread(pipe: int) -> int:
    """Bytes that wait in it (FIONREAD, ioctl_tty(2))."""
    (size,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))
    return int(size)
