"""SHA-256 of files as they lie on disk: computed once for each state of a file, and remembered."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from api.bounded import Bounded
from storage.sums import sha256

if TYPE_CHECKING:
    from pathlib import Path

FILES = 65_536
"""Files whose sums are remembered."""


class Sums:
    """Sums by path, size, times of the last changes and inode: a file that was touched is read again."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._known: Bounded[str] = Bounded(FILES)
        self._reading = threading.Lock()

    def known(self, path: Path) -> str | None:
        """The sum of a file that was read already, as it is now; None for any other. OSError if it is not there."""
        return self._known.get(_state(path))

    def of(self, path: Path) -> str:
        """The sum of a file, read now unless it was before; OSError if it cannot be read."""
        state = _state(path)
        found = self._known.get(state)
        if found is not None:
            return found
        # The lock keeps requests for the same large file from reading it side by side.
        with self._reading:
            found = self._known.get(state)
            if found is None:
                found = sha256(path)
                # A file that changed while it was read has another state by now, and is read again.
                self._known.put(state, found, size=1)
        return found


def _state(path: Path) -> tuple[str, int, int, int, int]:
    stat = os.stat(path)  # noqa: PTH116  # by far the quicker
    return str(path), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino
