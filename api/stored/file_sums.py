"""SHA-256 of files on disk, computed once for each state of a file and cached."""

import os
import threading
from pathlib import Path

from api.caching import Bounded
from storage.sums import sha256

FILES = 65_536
"""Maximum number of files whose checksums are cached."""


class Sums:
    """Checksums by path, size, modification times and inode: a changed file is read again."""

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._known: Bounded[str] = Bounded(FILES)
        self._reading = threading.Lock()

    def known(self, path: Path) -> str | None:
        """The checksum of a file if its current state was read before; None otherwise.

        OSError if it is missing.
        """
        return self._known.get(_state(path))

    def of(self, path: Path) -> str:
        """The checksum of a file, which is read unless cached; OSError if it cannot be read."""
        state = _state(path)
        found = self._known.get(state)
        if found is not None:
            return found
        # The lock keeps simultaneous requests from reading the same large file twice.
        with self._reading:
            found = self._known.get(state)
            if found is None:
                found = sha256(path)
                # A file that changed while it was read has another state now, and will be read again.
                self._known.put(state, found, size=1)
        return found


def _state(path: Path) -> tuple[str, int, int, int, int]:
    stat = os.stat(path)  # noqa: PTH116  # much faster than Path.stat
    return str(path), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino
