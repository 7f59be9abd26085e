"""Processes that the service starts."""

import asyncio
import contextlib

END_WITH_PARENT = ("setpriv", "--pdeathsig", "TERM")
"""End the process if the service ends, even if it was killed."""

STOP_S = 10
"""Seconds in which a process that is told to stop may put in order what it began."""


async def stopped(process: asyncio.subprocess.Process) -> None:
    """End a process that still runs: first so that it puts things in order, and then in any case."""
    for stop in (process.terminate, process.kill):
        with contextlib.suppress(ProcessLookupError):
            stop()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(process.wait()), STOP_S)
            return
