"""Tests that are coroutines, each in an event loop of its own and within a time limit; and its clock."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any

LIMIT_S = 120


def limited(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test in an event loop; it fails if it takes longer than LIMIT_S."""

    @functools.wraps(test)
    def run(*fixtures: Any, **named: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*fixtures, **named), LIMIT_S))

    return run


def time_passes(seconds: float) -> None:
    """Put the clock of the running event loop forward, to a deadline that no test need wait for."""
    loop = asyncio.get_running_loop()
    now = loop.time
    loop.time = lambda: now() + seconds  # type: ignore[method-assign]
