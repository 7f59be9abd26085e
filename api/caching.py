"""Caches of bounded size, in memory and on disk, and work that is shared between simultaneous requests."""

import asyncio
import collections
import contextlib
import hashlib
import logging
import os
import threading
from collections.abc import Awaitable, Callable, Hashable
from pathlib import Path
from typing import Generic, TypeVar

from api.http.problems import Problem
from storage.staging import write_whole

V = TypeVar("V")

LOG = logging.getLogger(__name__)

SUM_BYTES = 32
"""Length of the SHA-256 of the value, with which each file begins."""

SWEPT_TO = 0.75
"""Files are removed until this share of the maximum size is left."""

RETRY_AFTER_S = 2
"""Retry-After of a refused request: a full queue of uncached distributions takes about this time."""


class Bounded(Generic[V]):
    """Values by key with a maximum total size; a single value larger than the maximum is not kept."""

    def __init__(self, most: int) -> None:
        """`most` is the maximum total size, in the unit of `put`'s sizes: bytes, or 1 per value."""
        self._most = most
        self._held = 0
        self._values: collections.OrderedDict[Hashable, tuple[V, int]] = collections.OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> V | None:
        """The value of `key`; None if it is not cached."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: V, *, size: int) -> None:
        """Cache a value, and drop the least recently used ones to make room."""
        with self._lock:
            _, before = self._values.pop(key, (None, 0))
            self._held -= before
            if size > self._most:
                return
            self._values[key] = (value, size)
            self._held += size
            while self._held > self._most:
                _, (_, gone) = self._values.popitem(last=False)
                self._held -= gone


class Disk:
    """Bytes by key in a private folder.

    If it cannot be written, a warning is logged once and nothing more is cached.
    """

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


class SingleFlight(Generic[V]):
    """Requests for work that is already running wait for its result instead of starting it again."""

    def __init__(self, *, at_once: int, waiting: int) -> None:
        """At most `at_once` pieces of work run at a time, and at most `waiting` more wait."""
        self._most = at_once + waiting
        self._turn = asyncio.Semaphore(at_once)
        self._under_way: dict[Hashable, asyncio.Task[V]] = {}

    async def join(self, key: Hashable, work: Callable[[], Awaitable[V]]) -> V:
        """The result of `work`, or of running work with the same key.

        Problem `busy` if too much is waiting.
        """
        task = self._under_way.get(key)
        if task is None:
            if len(self._under_way) >= self._most:
                raise Problem(
                    "busy",
                    f"too many requests are being worked on; try again in {RETRY_AFTER_S} s",
                    headers={"Retry-After": str(RETRY_AFTER_S)},
                )
            task = self._under_way[key] = asyncio.create_task(self._in_turn(work))
            task.add_done_callback(lambda _: self._under_way.pop(key))
        # The first client may disconnect while others still wait.
        return await asyncio.shield(task)

    async def _in_turn(self, work: Callable[[], Awaitable[V]]) -> V:
        async with self._turn:
            return await work()
