"""Computations of answers: one for all who ask the same, in turn among clients, with a limit of time,
and stopped when nobody waits for it any more."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import contextvars
import functools
import inspect
import threading
from collections.abc import Awaitable, Callable, Hashable, Iterator
from typing import Any, Generic, TypeVar

from fastapi.concurrency import run_in_threadpool

from api.http.problems import Problem

V = TypeVar("V")

LIMIT_S = 20.0
"""Seconds from its turn after which a computation is stopped."""

AGAIN_S = 0.05
"""Interval of interrupting a stopped computation's queries: DuckDB forgets an interrupt just before a
query begins.
"""

RETRY_AFTER_S = 2
"""Retry-After: a full queue of uncached distributions takes about this time."""

ELSEWHERE = (
    "ask for fewer rows, columns or releases at a time, or download the files of the release and query them "
    "yourself, as /documents/recipes says"
)
"""What to do instead of asking too much."""


def too_costly(what: str) -> Problem:
    return Problem("too-costly", f"the answer takes {what}: {ELSEWHERE}")


def busy(why: str, *, again_s: float = RETRY_AFTER_S, instead: str = "", is_last: bool = False) -> Problem:
    """The problem of a request that is refused because of others; `is_last` closes the connection, unread."""
    retry = {"Retry-After": f"{again_s:.0f}"} | ({"Connection": "close"} if is_last else {})
    return Problem("busy", f"{why}; try again in {again_s:.0f} s{instead}", headers=retry)


class Stopped(Exception):
    """A computation was stopped. It is no Problem, since such a one may be part of an answer."""

    def __init__(self, problem: Problem | None) -> None:
        super().__init__(problem.detail if problem else "nobody waits for the answer")
        self.problem = problem


class Computation:
    """Work that the event loop may stop while threads do it."""

    def __init__(self) -> None:
        self.stopped: Stopped | None = None
        self._interrupts: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def stop(self, problem: Problem | None = None) -> None:
        """Interrupt the queries, and let the next `check` raise Stopped; in the event loop."""
        self.stopped = self.stopped or Stopped(problem)
        with self._lock:
            for interrupt in self._interrupts:
                interrupt()
            if self._interrupts:
                asyncio.get_running_loop().call_later(AGAIN_S, self.stop)

    def check(self) -> None:
        """Raise Stopped if the computation was stopped."""
        if self.stopped is not None:
            raise self.stopped

    @contextlib.contextmanager
    def interruptible(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Within the block, `interrupt` ends a query."""
        with self._lock:
            self._interrupts.append(interrupt)
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._interrupts.remove(interrupt)

    @contextlib.contextmanager
    def limited(self, limit_s: float) -> Iterator[None]:
        problem = too_costly(f"more than {limit_s:g} s of computing")
        deadline = asyncio.get_running_loop().call_later(limit_s, self.stop, problem)
        try:
            yield
        finally:
            deadline.cancel()

    @contextlib.contextmanager
    def going_on(self) -> Iterator[None]:
        """Within the block, `current()` is this computation; Stopped at its begin."""
        token = _CURRENT.set(self)
        try:
            self.check()
            yield
        finally:
            _CURRENT.reset(token)


_CURRENT: contextvars.ContextVar[Computation] = contextvars.ContextVar("computation")


def current() -> Computation:
    return _CURRENT.get(None) or Computation()


class _Shared(Computation):
    """The computation of an answer that several may wait for."""

    def __init__(self, take_turn: Callable[[_Shared], Awaitable[None]]) -> None:
        super().__init__()
        self.clients: collections.Counter[str] = collections.Counter()
        """How many wait for it, by client."""
        self.has_turn: asyncio.Event | None = None
        """Set once it has its turn, or is stopped."""
        self.client = ""
        self.deadline: asyncio.TimerHandle | None = None
        self.take_turn = functools.partial(take_turn, self)

    def stop(self, problem: Problem | None = None) -> None:
        """Stop also the waiting for a turn."""
        super().stop(problem)
        if self.has_turn is not None:
            self.has_turn.set()


async def take_turn() -> None:
    """Wait for the turn of the current computation.

    What comes before never waits, such as the refusal of a wrong parameter.
    """
    computation = current()
    if isinstance(computation, _Shared):
        await computation.take_turn()


def in_turn(function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    """Make a function wait for its turn; a plain one then runs in another thread."""

    @functools.wraps(function)
    async def called(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401  # the function's
        await take_turn()
        if inspect.iscoroutinefunction(function):
            return await function(*arguments, **named)
        return await run_in_threadpool(function, *arguments, **named)

    return called


class Computations(Generic[V]):
    """The computations under way: a few in their turn, one of each client, while others wait for theirs."""

    def __init__(self, *, at_once: int, limit_s: float = LIMIT_S) -> None:
        self._free = at_once
        self._limit_s = limit_s
        self._under_way: dict[Hashable, tuple[_Shared, asyncio.Task[V]]] = {}
        self._waiting: list[_Shared] = []
        self._at_work: set[str] = set()

    async def join(
        self,
        key: Hashable,
        work: Callable[[], Awaitable[V]],
        *,
        client: str,
        leaving: asyncio.Task[None],
    ) -> V | None:
        """The result of `work`, or of the computation with the same key; None if `leaving` ends first.

        Problem `too-costly` if it takes too long.
        """
        if key not in self._under_way:
            computation = _Shared(self._take_turn)
            task = asyncio.create_task(self._work(key, computation, work))
            # Perhaps nobody is there any more to learn of it.
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            self._under_way[key] = computation, task
        computation, task = self._under_way[key]
        computation.clients[client] += 1
        self._give_turns()  # one that waits for another client's turn may have this one's
        try:
            await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            computation.clients[client] -= 1
            if not computation.clients[client]:
                del computation.clients[client]
            if not computation.clients:
                self._forget(key, computation)  # whoever asks the same later needs one that is not stopped
                computation.stop()
        return task.result() if task.done() else None

    def _forget(self, key: Hashable, computation: _Shared) -> None:
        if key in self._under_way and self._under_way[key][0] is computation:
            del self._under_way[key]

    async def _work(self, key: Hashable, computation: _Shared, work: Callable[[], Awaitable[V]]) -> V:
        try:
            with computation.going_on():
                result = await work()
                computation.check()  # a step may have taken its failure for a fact
                return result
        except Stopped as stopped:
            raise stopped.problem or busy("nobody waited for the answer") from None
        finally:
            self._forget(key, computation)
            self._end_turn(computation)

    async def _take_turn(self, computation: _Shared) -> None:
        computation.check()
        if computation.has_turn is None:
            computation.has_turn = asyncio.Event()
            self._waiting.append(computation)
            self._give_turns()
        await computation.has_turn.wait()
        computation.check()

    def _give_turns(self) -> None:
        """Give each free turn to the first that waits and whose client has none."""
        while self._free:
            ready = (
                (computation, client)
                for computation in self._waiting
                for client in computation.clients
                if client not in self._at_work
            )
            computation, client = next(ready, (None, ""))
            if computation is None:
                return
            self._waiting.remove(computation)
            self._free -= 1
            self._at_work.add(client)
            computation.client = client
            computation.deadline = asyncio.get_running_loop().call_later(
                self._limit_s, computation.stop, too_costly(f"more than {self._limit_s:g} s of computing")
            )
            assert computation.has_turn is not None
            computation.has_turn.set()

    def _end_turn(self, computation: _Shared) -> None:
        if computation in self._waiting:
            self._waiting.remove(computation)
        if computation.deadline is not None:
            computation.deadline.cancel()
            self._at_work.remove(computation.client)
            # What this client alone waits for comes after all that others wait for.
            self._waiting.sort(key=lambda other: set(other.clients) == {computation.client})
            self._free += 1
            self._give_turns()
