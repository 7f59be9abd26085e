"""A FIFO that a browser writes to, and a thread that drains it.

The thread never waits for another: the browser would have to wait too.
"""

import contextlib
import fcntl
import os
import select
import struct
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path

PIPE_BYTES = 1024 * 1024
CHUNK_BYTES = 256 * 1024

PAUSE_S = 0.1
SHORT_PAUSE_S = 0.002
"""Pause after a short read, and while a caller waits: a browser writes a few events at a time, and waking for
each costs more than reading them.
"""


class Drain:
    """Passes everything that a browser writes to `take`, in a thread; made before its start."""

    def __init__(self, path: Path, take: Callable[[bytes], None]) -> None:
        os.mkfifo(path, 0o600)
        self.path = path
        self._take = take
        self._bug: BaseException | None = None
        self._hurried = threading.Event()
        self._busy = False
        # Our own writing end keeps the FIFO open until the browser has opened it.
        self._reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._writing = os.open(path, os.O_WRONLY)
        os.set_blocking(self._reading, True)
        with contextlib.suppress(OSError):  # a smaller pipe works too
            fcntl.fcntl(self._reading, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._thread = threading.Thread(target=self._drain, name=path.name, daemon=True)
        self._thread.start()

    def hurry(self) -> None:
        self._hurried.set()

    def rest(self) -> None:
        self._hurried.clear()

    @property
    def is_caught_up(self) -> bool:
        # The order matters: the thread is busy before it reads.
        return not count_unread(self._reading) and not self._busy

    def check(self) -> None:
        if self._bug is not None:
            raise self._bug

    def close(self) -> None:
        os.close(self._writing)
        self._thread.join(timeout=5)
        self.path.unlink(missing_ok=True)

    def _drain(self) -> None:
        buffer = memoryview(bytearray(CHUNK_BYTES))  # one for all reads: each new buffer would be mapped anew
        ready = select.poll()
        ready.register(self._reading, select.POLLIN)
        with contextlib.ExitStack() as stack:
            stack.push(self._keep_bug)
            pipe = stack.enter_context(os.fdopen(self._reading, "rb", buffering=0))
            while ready.poll():
                self._busy = True
                size = pipe.readinto(buffer)
                if not size:
                    break
                self._take(bytes(buffer[:size]))
                self._busy = False
                if size < CHUNK_BYTES // 4:
                    self._pause()

    def _keep_bug(self, _: object, bug: BaseException | None, __: object) -> bool:
        """Keep an exception for `check`."""
        self._bug = bug
        return True

    def _pause(self) -> None:
        if self._hurried.is_set():
            time.sleep(SHORT_PAUSE_S)
        else:
            self._hurried.wait(PAUSE_S)


def count_unread(pipe: int) -> int:
    """Return the bytes that wait in a pipe (FIONREAD, ioctl_tty(2))."""
    (size,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))
    return int(size)
