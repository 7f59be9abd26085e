"""A cache of bounded size, and work that is shared between simultaneous requests."""

import asyncio
import collections
import threading
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from api.http.problems import Problem

V = TypeVar("V")

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
        self._computing = threading.RLock()

    def kept(self, key: Hashable, compute: Callable[[], V], *, size: Callable[[V], int]) -> V:
        """The value of `key`, from the cache or else from `compute`.

        Values are computed one at a time, since computing takes more memory than the value.
        """
        value = self.get(key)
        if value is None:
            with self._computing:
                value = self.get(key)
                if value is None:
                    value = compute()
                    self.put(key, value, size=size(value))
        return value

    def get(self, key: Hashable) -> V | None:
        """The value of `key`; None if it is not cached."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

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
