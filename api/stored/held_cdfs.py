"""The steps of releases that were asked for lately, in memory: reading them takes a hundred times as long as an answer."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pyarrow as pa
from fastapi.concurrency import run_in_threadpool

from api.bounded import Bounded
from api.distributions import read_steps
from api.problems import Problem

if TYPE_CHECKING:
    from api.distributions import Steps
    from api.library import Library
    from api.shelf import Version
    from releases.catalogue import Release

STEPS_BYTES = 96 * 1024 * 1024
"""Arrays kept, together: some five crawls of 10,000 sites."""


class HeldSteps:
    """Steps by the sum of their file."""

    def __init__(self, library: Library) -> None:
        """Of the releases in `library`."""
        self._library = library
        self._held: Bounded[dict[str, Steps]] = Bounded(STEPS_BYTES)
        self._reading = threading.Lock()

    async def at_hand(self, version: Version) -> dict[str, Steps]:
        """The steps of a release, at once if they are in memory and the library has found its file sound."""
        release = version.readable
        held = self._held.get(release.manifest.files.get(_name(release))) if version.is_checked else None
        return await run_in_threadpool(self.of, version) if held is None else held

    def of(self, version: Version) -> dict[str, Steps]:
        """The steps of a release; Problem if its file is not what was published."""
        name = _name(version.readable)
        path, checksum = self._library.file(version, name)
        with self._reading:  # one at a time: reading takes more memory than what is kept
            steps = self._held.get(checksum)
            if steps is None:
                try:
                    steps = read_steps(path)
                except (OSError, pa.ArrowException, KeyError) as exc:
                    raise Problem("damaged-release", f"{name} cannot be read") from exc
                self._held.put(checksum, steps, size=sum(one.nbytes for one in steps.values()))
        return steps


def _name(release: Release) -> str:
    return release.file("distribution").name
