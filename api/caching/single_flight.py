"""Shares work between simultaneous requests for the same result, and bounds how much work runs at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from api.http.problems import Problem

V = TypeVar("V")

RETRY_AFTER_S = 2
"""Retry-After of a refused request: a full queue of uncached distributions takes about this time."""


class SingleFlight(Generic[V]):
    """Requests for work that is already running wait for its result instead of starting it again."""

    def __init__(self, *, at_once: int, waiting: int) -> None:
        """At most `at_once` pieces of work run at a time, and at most `waiting` more wait."""
        self._most = at_once + waiting
        self._turn = asyncio.Semaphore(at_once)
        self._under_way: dict[Hashable, asyncio.Task[V]] = {}

    async def join(self, key: Hashable, work: Callable[[], Awaitable[V]]) -> V:
        """The result of `work`, or of running work with the same key; Problem `busy` if too much is waiting."""
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
