"""Answers on disk, which outlive the process: a file each, checked by its own sum, of bounded size together."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LOG = logging.getLogger(__name__)

SUM_BYTES = 32
"""Each file begins with the SHA-256 of the rest."""

SWEPT_TO = 0.75
"""Share of the bound that is left when files are removed."""


class Disk:
    """Bytes by key in a folder of ours; one that cannot be written is told of once, and done without."""

    def __init__(self, folder: Path, *, most_bytes: int) -> None:
        """`folder` is made when it is first written to."""
        self._folder = folder
        self._most_bytes = most_bytes
        self._held_bytes: int | None = None
        self._is_writable = True

    def has(self, key: str) -> bool:
        """Whether there is anything under `key`; quicker than to ask for it."""
        return (self._folder / key).exists()

    def get(self, key: str) -> bytes | None:
        """What was put there; None for nothing, or for a file that is damaged."""
        path = self._folder / key
        try:
            content = path.read_bytes()
            os.utime(path)  # asked for just now: the last to be removed
        except OSError:
            return None
        value = content[SUM_BYTES:]
        return value if hashlib.sha256(value).digest() == content[:SUM_BYTES] else None

    def put(self, key: str, value: bytes) -> None:
        """Keep `value`, whole or not at all."""
        if not self._is_writable:
            return
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            half = self._folder / f".{key}-{os.getpid()}-{threading.get_ident()}"
            with open(half, "xb", opener=_ours_alone) as file:
                file.write(hashlib.sha256(value).digest() + value)
            half.rename(self._folder / key)
            self._count(SUM_BYTES + len(value))
        except OSError as exc:
            self._is_writable = False
            LOG.warning("answers are kept in memory only: %s", exc)

    def _count(self, added: int) -> None:
        """Remove what was asked for longest ago, where all together is more than the bound."""
        if self._held_bytes is None:
            self._held_bytes = sum(size for _, size, _ in self._files())
        else:
            self._held_bytes += added
        if self._held_bytes <= self._most_bytes:
            return
        files = sorted(self._files())
        self._held_bytes = sum(size for _, size, _ in files)
        for _, size, path in files:
            if self._held_bytes <= self._most_bytes * SWEPT_TO:
                break
            path.unlink(missing_ok=True)
            self._held_bytes -= size

    def _files(self) -> list[tuple[int, int, Path]]:
        """(last use, size, path) of every file, what a killed process left half-written included."""
        found = []
        for path in self._folder.iterdir():
            with contextlib.suppress(FileNotFoundError):  # another process of ours sweeps too
                stat = path.stat()
                found.append((stat.st_mtime_ns, stat.st_size, path))
        return found


def _ours_alone(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
