"""Progress of a demo's steps, in one file that the demo writes and the service reads."""

import contextlib
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import msgspec

from storage.staging import write_whole

FILE = "steps"
"""Name of the file in the folder of progress, where a crawl's file ends in .json."""


BAR_WIDTH = 20


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step and its progress."""

    name: str
    what: str
    is_begun: bool = False
    seconds: int | None = None
    done: int = 0
    total: int | None = None
    """Number of its parts; None if unknown, and then `done` means nothing."""
    unit: str = ""
    seconds_left: int | None = None
    """Estimate at the pace so far."""

    def __str__(self) -> str:
        line = f"{self.name:8} {self.what}"
        if not self.total:
            return line
        bar = f"{'#' * (BAR_WIDTH * self.done // self.total):{BAR_WIDTH}}"
        left = "" if self.seconds_left is None else f", {self.seconds_left} s left"
        return f"{line} |{bar}| {self.done} of {self.total} {self.unit}{left}"


def write_steps(folder: Path, steps: Sequence[Step]) -> None:
    """Write all steps, in their order."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / FILE, msgspec.json.encode(steps))


def read_steps(folder: Path) -> tuple[Step, ...]:
    """Return the steps in their order; none without a file, or from a damaged one."""
    with contextlib.suppress(OSError, ValueError):
        return msgspec.json.decode((folder / FILE).read_bytes(), type=tuple[Step, ...])
    return ()


def remove_steps(folder: Path) -> None:
    (folder / FILE).unlink(missing_ok=True)
