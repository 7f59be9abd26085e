"""Tests that are coroutines, each in an event loop of its own and within a time limit."""

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
