"""Work that goes on behind other work, one piece at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Self


class Behind:
    """Runs one coroutine beside the caller; its error is raised where the caller waits for it, at the latest at the end."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Begin with nothing to do."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Wait for the end of what runs."""
        await self.done()

    def begin(self, work: Coroutine[None, None, None]) -> None:
        """Run `work`; the work before must be done."""
        assert self._task is None
        self._task = asyncio.ensure_future(work)

    async def done(self) -> None:
        """Wait until nothing runs, and raise the error that ended it, if one did."""
        task, self._task = self._task, None
        if task is not None:
            await task
