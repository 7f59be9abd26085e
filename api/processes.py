"""Processes that the service starts."""

import asyncio
import contextlib

END_WITH_PARENT = ("setpriv", "--pdeathsig", "TERM")
"""End with the service, even if it was killed."""

STOP_S = 10
"""Seconds for a process to put things in order."""


async def stopped(process: asyncio.subprocess.Process) -> None:
    for stop in (process.terminate, process.kill):
        with contextlib.suppress(ProcessLookupError):
            stop()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(process.wait()), STOP_S)
            return
