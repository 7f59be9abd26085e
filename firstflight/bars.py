"""Progress bars of commands: on a terminal, or in a file for a program that runs the command as one of
several steps."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path
from typing import Any

import msgspec
from tqdm import tqdm

from firstflight.settings import Settings
from storage.staging import write_whole

TOLD_EVERY_S = 0.5


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Reached:
    """The state of a bar."""

    done: int
    total: int | None
    unit: str


class _Told(tqdm):  # type: ignore[type-arg]  # it has parameters in its stubs alone
    """A bar in a file."""

    def __init__(self, told_to: Path, **options: Any) -> None:  # noqa: ANN401  # tqdm's
        self._told_to = told_to
        super().__init__(file=io.StringIO(), mininterval=TOLD_EVERY_S, **options)

    def display(self, *_: object, **__: object) -> None:
        total = None if self.total is None else int(self.total)
        reached = Reached(done=int(self.n), total=total, unit=self.unit.strip())
        write_whole(self._told_to, msgspec.json.encode(reached))


def bar(settings: Settings, **options: Any) -> tqdm[Any]:  # noqa: ANN401  # tqdm's
    """Return a bar with tqdm's options, for a terminal alone."""
    if settings.bar_file is not None:
        return _Told(settings.bar_file, **options)
    return tqdm(disable=None, **options)


def read_bar(file: Path) -> Reached | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=Reached)
    except FileNotFoundError:
        return None
