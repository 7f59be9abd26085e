"""Replays a page in a process of its own, which ends with its guest when nobody waits for it any more."""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import ValidationError

from api.http.problems import Problem
from api.lab.page_replay import LINE, RELEASED, PageReplay, ReleasedLoad
from api.lab.queue import Content
from api.processes import END_WITH_PARENT, stopped
from replay.errors import ReplayError
from replay.lab import guest_process

MOST_LINE_BYTES = 2**25
"""Times of at most 1,000 responses at each window over each network."""

NO_ANSWER = "the lab could not replay this page; its operator may see why by `firstflight replay run har`"


async def replay_in_process(
    cache: Path, content: Content, networks: Sequence[str], progress: Callable[[int, int], None]
) -> PageReplay:
    """Replay a HAR file's first page, or a released load; `progress` takes loads done and planned.

    Problem if it cannot be replayed, the lab fails, or is not built yet. A cancellation ends the process
    and its guest.
    """
    try:
        guest_process.locate(cache)
    except ReplayError as exc:
        raise Problem("busy", "the lab's kernel is not built yet; try again in a few minutes") from exc
    call = [sys.executable, "-m", "api.lab.program"]
    har = b""
    if isinstance(content, ReleasedLoad):
        call += [RELEASED, str(content.folder), str(content.visit)]
    else:
        har = content
    # A file in memory alone, which the process reads at its own pace.
    with os.fdopen(os.memfd_create("har"), "w+b") as file:
        file.write(har)
        file.seek(0)
        try:
            process = await asyncio.create_subprocess_exec(
                *(*END_WITH_PARENT, *call, str(cache), *networks),
                stdin=file,
                stdout=asyncio.subprocess.PIPE,
                # Its complaints are not logged: they could have names of hosts.
                stderr=asyncio.subprocess.DEVNULL,
                limit=MOST_LINE_BYTES,
            )
        except OSError as exc:
            raise Problem("replay-failed", NO_ANSWER) from exc
    try:
        return await read_result(process, progress)
    finally:
        await stopped(process)


async def read_result(
    process: asyncio.subprocess.Process, progress: Callable[[int, int], None]
) -> PageReplay:
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
