"""The steps of a long piece of work in one file, written by who does it and read by the service: a demo's."""

import contextlib
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from storage.staging import write_whole

FILE = "steps"
"""Name of the file in the folder of progress, where a crawl's file ends in .json."""


BAR_WIDTH = 20
"""Characters of a bar."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step, and how far it is."""

    name: str
    what: str
    is_begun: bool = False
    seconds: int | None = None
    """Duration in seconds; None until it has ended."""
    done: int = 0
    total: int | None = None
    """Number of its parts; None if it is not known, and `done` says nothing."""
    unit: str = ""
    """Unit of the count, in the plural."""
    seconds_left: int | None = None
    """Time left, if it goes on as it went; None if that is not known."""

    def __str__(self) -> str:
        """Return the step as a line of text, with a bar while its length is known."""
        line = f"{self.name:8} {self.what}"
        if not self.total:
            return line
        bar = f"{'#' * (BAR_WIDTH * self.done // self.total):{BAR_WIDTH}}"
        left = "" if self.seconds_left is None else f", {self.seconds_left} s left"
        return f"{line} |{bar}| {self.done} of {self.total} {self.unit}{left}"


def write_steps(folder: Path, steps: Sequence[Step]) -> None:
    """Write all steps, in their order, in place of what was written before."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / FILE, json.dumps([dataclasses.asdict(step) for step in steps]).encode())


def read_steps(folder: Path) -> tuple[Step, ...]:
    """Return the steps in their order; none if there is no file, or a damaged one."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        return tuple(Step(**facts) for facts in json.loads((folder / FILE).read_text(encoding="utf-8")))
    return ()


def remove_steps(folder: Path) -> None:
    """Remove the file, once the work has ended."""
    (folder / FILE).unlink(missing_ok=True)
