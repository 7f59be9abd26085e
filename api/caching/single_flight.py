"""Work that many ask for at once is done once, and only so much of it at a time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

from api.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

V = TypeVar("V")

RETRY_AFTER_S = 2
"""When to ask again: a full queue of cold distributions is worked off in about this time."""


class Flights(Generic[V]):
    """Single flight: whoever asks for what is under way waits for the same result."""

    def __init__(self, *, at_once: int, waiting: int) -> None:
        """`at_once` pieces of work run at a time, `waiting` more may wait for their turn."""
        self._most = at_once + waiting
        self._turn = asyncio.Semaphore(at_once)
        self._under_way: dict[Hashable, asyncio.Task[V]] = {}

    async def join(self, key: Hashable, work: Callable[[], Awaitable[V]]) -> V:
        """The result of `work`, or of the same begun by somebody else; Problem `busy` where too much is under way."""
        task = self._under_way.get(key)
        if task is None:
            if len(self._under_way) >= self._most:
                raise Problem(
                    "busy",
                    f"more questions than can be worked on; ask again in {RETRY_AFTER_S} s",
                    headers={"Retry-After": str(RETRY_AFTER_S)},
                )
            task = self._under_way[key] = asyncio.create_task(self._in_turn(work))
            task.add_done_callback(lambda _: self._under_way.pop(key))
        # Whoever asked first may hang up: the others still wait.
        return await asyncio.shield(task)

    async def _in_turn(self, work: Callable[[], Awaitable[V]]) -> V:
        async with self._turn:
            return await work()
