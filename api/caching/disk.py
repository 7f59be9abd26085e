"""A cache on disk that outlives the process: one checksummed file per value, with a maximum total size."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
from pathlib import Path

from storage.staging import write_whole

LOG = logging.getLogger(__name__)

SUM_BYTES = 32
"""Length of the SHA-256 of the value, with which each file begins."""

SWEPT_TO = 0.75
"""Files are removed until this share of the maximum size is left."""


class Disk:
    """Bytes by key in a private folder. If it cannot be written, a warning is logged once and nothing more is cached."""

    def __init__(self, folder: Path, *, most_bytes: int) -> None:
        """`folder` is created by the first write."""
        self._folder = folder
        self._most_bytes = most_bytes
        self._held_bytes: int | None = None
        self._is_writable = True

    def has(self, key: str) -> bool:
        """True if there is a file for `key`; cheaper than `get`."""
        return (self._folder / key).exists()

    def get(self, key: str) -> bytes | None:
        """The value of `key`; None if there is none or its file is damaged."""
        path = self._folder / key
        try:
            content = path.read_bytes()
            os.utime(path)  # most recently used, so removed last
        except OSError:
            return None
        value = content[SUM_BYTES:]
        return value if hashlib.sha256(value).digest() == content[:SUM_BYTES] else None

    def put(self, key: str, value: bytes) -> None:
        """Cache `value`; readers see the whole file or none."""
        if not self._is_writable:
            return
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._folder / key, hashlib.sha256(value).digest() + value, mode=0o600)
            self._count(SUM_BYTES + len(value))
        except OSError as exc:
            self._is_writable = False
            LOG.warning("answers are kept in memory only: %s", exc)

    def _count(self, added: int) -> None:
        """Remove the least recently used files if the total exceeds the maximum."""
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
        """(last use, size, path) of every file, including those that a killed process left half-written."""
        found = []
        for path in self._folder.iterdir():
            with contextlib.suppress(FileNotFoundError):  # removed by another process of the service
                stat = path.stat()
                found.append((stat.st_mtime_ns, stat.st_size, path))
        return found
