"""Prepares each release that was compared with its checksums, one at a time,
and removes what is left of others."""

import asyncio
import contextlib
import logging
import sys
from collections.abc import Sequence

from api.processes import END_WITH_PARENT
from api.stored.library import Library
from api.stored.prepared.store import ITEMS, Prepared
from api.stored.shelf import Version
from releases.strata import bootstrap

LOG = logging.getLogger(__name__)

LOOKED_AT_EVERY_S = 10.0
"""Interval at which the releases are looked at for new ones, in seconds;
1 s while some are not compared yet."""

ENDS_WITHIN_S = 2
"""Seconds in which a process that is killed ends, unless the machine is busy with others:
the service does not wait longer."""


async def keep_prepared(prepared: Prepared, library: Library) -> None:
    """Prepare the releases of a library as they come, until cancelled."""
    refused: set[str] = set()
    while True:
        try:
            versions = (await asyncio.to_thread(library.shelf)).versions
            kept = [version for version in versions if version.is_sound]
            await asyncio.to_thread(prepared.remove_all_but, kept)
        except OSError as exc:
            LOG.warning("releases are not prepared for now: %s", exc)
            await asyncio.sleep(LOOKED_AT_EVERY_S)
            continue
        await _prepare_the_next(prepared, kept, refused)


async def _prepare_the_next(prepared: Prepared, kept: Sequence[Version], refused: set[str]) -> None:
    """Prepare a release that is not prepared yet, or wait if there is none.

    `refused` are checksums of those that failed.
    """
    following = next(
        (one for one in kept if one.is_checked and not prepared.has(one) and one.checksum not in refused),
        None,
    )
    if following is None:
        await asyncio.sleep(LOOKED_AT_EVERY_S if all(one.is_checked for one in kept) else 1)
    elif (complaint := await _prepare(prepared, following)) is None:
        if (prepared.path_of(following) / ITEMS).exists():
            await asyncio.to_thread(bootstrap.draw)
        prepared.add(following)
    else:
        refused.add(following.checksum)
        LOG.warning("%s cannot be prepared, and is read more slowly: %s", following.crawl, complaint)


async def _prepare(prepared: Prepared, version: Version) -> str | None:
    """Prepare a release in a process of its own, which takes memory and time from no answer;
    the complaint if it fails."""
    folder = prepared.path_of(version)
    call: Sequence[str] = (
        sys.executable,
        "-m",
        "api.stored.prepared.program",
        str(version.path),
        str(folder),
    )
    try:
        process = await asyncio.create_subprocess_exec(
            *END_WITH_PARENT,
            *call,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as exc:
        return str(exc)
    try:
        _, errors = await process.communicate()
    except asyncio.CancelledError:
        # What it leaves half-made is removed by a later one.
        process.kill()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), ENDS_WITHIN_S)
        raise
    if process.returncode == 0:
        return None
    lines = errors.decode(errors="replace").strip().splitlines()
    with contextlib.suppress(IndexError):
        return lines[-1]
    return f"the process ended with {process.returncode}"
