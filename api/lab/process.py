"""Replays a page in a process of its own, which ends with its guest when nobody waits for it any more."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from pydantic import ValidationError

from api.http.problems import Problem
from api.lab.page_replay import LINE, PageReplay
from api.processes import END_WITH_PARENT, stopped

MOST_LINE_BYTES = 2**25
"""Longest line of the process: times of at most 1,000 responses at each window over each network."""

NO_ANSWER = "the lab could not replay this page; its operator may see why by `firstflight replay run har`"


async def replay_in_process(
    cache: Path, content: bytes, networks: Sequence[str], progress: Callable[[int, int], None]
) -> PageReplay:
    """Replay the first page of a HAR file; `progress` takes how many loads are done and planned.

    Raises Problem if the file cannot be replayed or the lab fails.
    A cancellation ends the process and its guest.
    """
    async with start_process(cache, networks) as process:
        sending = asyncio.ensure_future(send_file(process, content))
        try:
            return await read_result(process, progress)
        finally:
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sending


@contextlib.asynccontextmanager
async def start_process(cache: Path, networks: Sequence[str]) -> AsyncIterator[asyncio.subprocess.Process]:
    """The process, for the length of the block.

    Its complaints are not logged: they could have names of hosts.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *(*END_WITH_PARENT, sys.executable, "-m", "api.lab.program", str(cache), *networks),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=MOST_LINE_BYTES,
        )
    except OSError as exc:
        raise Problem("replay-failed", NO_ANSWER) from exc
    try:
        yield process
    finally:
        await stopped(process)


async def send_file(process: asyncio.subprocess.Process, content: bytes) -> None:
    """Write the file to the process; one that ended has refused it already, or failed."""
    assert process.stdin
    with contextlib.suppress(ConnectionError):
        process.stdin.write(content)
        await process.stdin.drain()
        process.stdin.close()


async def read_result(
    process: asyncio.subprocess.Process, progress: Callable[[int, int], None]
) -> PageReplay:
    """Read the process's lines until it tells the end."""
    assert process.stdout
    try:
        async for line in process.stdout:
            message = LINE.validate_json(line)
            if message.replay is not None:
                return message.replay
            if message.refused is not None:
                raise Problem("not-a-recording", message.refused)
            if message.failed is not None:
                break
            progress(message.done, message.planned)
    except (ValidationError, ValueError):
        pass  # a line that was cut, or that is too long
    raise Problem("replay-failed", NO_ANSWER)
