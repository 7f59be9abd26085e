"""Retries calls to a database that is away for a while, as when an operator restarts it."""

import asyncio
import contextlib
import math
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from storage.engine import DatabaseError, DatabaseUnreachable

P = ParamSpec("P")
T = TypeVar("T")

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 8.0
"""Pause between two calls, in seconds; it doubles up to the longest."""


class DatabaseRetry:
    """Runs a function in a thread, and again while the database cannot be reached.

    The function must be safe to call twice: a commit may have succeeded although its answer was lost.
    """

    def __init__(
        self,
        *,
        retry_for_s: float,
        stop: asyncio.Event,
        say: Callable[[str], None],
        revive: Callable[[], object] | None = None,
    ) -> None:
        """Give up after `retry_for_s` or when `stop` is set; `revive` starts a database that no service
        restarts."""
        self._retry_for_s = retry_for_s
        self._stop = stop
        self._say = say
        self._revive = revive
        self._away_since: float | None = None
        self._back_since = -math.inf

    async def __call__(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result; DatabaseUnreachable when the time is over or the crawl stopped."""
        pause_s = FIRST_PAUSE_S
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            try:
                result = await asyncio.to_thread(function, *args, **kwargs)
            except DatabaseUnreachable as exc:
                if self._is_over(exc, began):
                    raise
            else:
                self._note_answer(began)
                return result
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            if self._revive is not None:
                with contextlib.suppress(DatabaseError):
                    await asyncio.to_thread(self._revive)

    def _is_over(self, error: DatabaseUnreachable, began: float) -> bool:
        now = asyncio.get_running_loop().time()
        if self._away_since is None and began < self._back_since:
            return self._stop.is_set()  # it failed before the database was back
        if self._away_since is None:
            self._away_since = now
            if self._retry_for_s:
                self._say(f"{error}; waiting for it for up to {self._retry_for_s:g} seconds")
        return self._stop.is_set() or now - self._away_since >= self._retry_for_s

    def _note_answer(self, began: float) -> None:
        """Record an answer; calls from before the database went away count for nothing."""
        if self._away_since is not None and began >= self._away_since:
            self._away_since, self._back_since = None, asyncio.get_running_loop().time()
            self._say("the database is back")
