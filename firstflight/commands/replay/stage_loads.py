"""The loads of a stage, stored in parts as they end,
so that a run that is stopped loses the parts in progress alone."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import resource
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from replay.errors import ReplayError
from replay.lab.guest_process import Lab
from replay.runs.cells import Cell
from replay.runs.chunks import plan_of
from replay.runs.parts import count_parts, read_parts, replay_part, replay_parts, whole_parts
from replay.runs.run import Result
from reports.decision.problem import Part
from reports.decision.stored_stages import Begun, read_begun, write_begun
from reports.decision.until_decided import Loaded


class StageLoads:
    """Replays the loads of one stage after another into the folder of a plan."""

    def __init__(self, lab: Lab, folder: Path, plan: dict[str, Any], *, guests: int) -> None:
        self.lab = lab
        self.folder = folder
        self.plan = plan
        self.guests = guests
        self.programs = lab.sums()
        self.number = 0
        self.parts: tuple[Part, ...] = ()
        self.facts: dict[str, Any] = {}
        """Facts of the guests of the newest stage."""
        self.lock = threading.Lock()
        self.used_s = children_s()
        """CPU time of all guests by the end of the newest part, in seconds."""
        self.wall_s = 0.0
        """Wall time of the parts of this stage that were replayed since the start of the command,
        in seconds."""

    def begin(self, number: int, parts: tuple[Part, ...]) -> None:
        """Say which stage the next loads are of."""
        self.number, self.parts = number, parts

    def __call__(self, cells: Sequence[Cell]) -> Loaded:
        """Replay those loads of the stage that are not stored; raises ReplayError if none was done."""
        begun, place = self.started(cells)
        plan = plan_of({**self.plan, "stage": self.number, "programs": self.programs}, cells, responses=False)
        began, self.wall_s = time.monotonic(), 0.0
        before = whole_parts(place, plan, begun.pieces)
        if before:
            click.echo(
                f"stage {self.number}: {len(before)} of {begun.pieces} parts were done already", err=True
            )
        with tqdm(total=len(cells), unit="load", disable=None, desc=f"stage {self.number}") as progress:
            one_part = functools.partial(self.one_part, progress=progress)
            replay_parts(cells, place, plan, begun.pieces, guests=self.guests, replayer=one_part)
        table, self.facts = read_parts(place, plan, begun.pieces)
        rows = table.to_pylist()
        if not any(row["state"] == "done" for row in rows):
            raise ReplayError(f"no load was done: {rows[0]['reason']}")
        earlier_s = (self.facts["wall_s"] - self.wall_s) / self.guests if before else 0.0
        return Loaded(
            rows=rows,
            wall_s=time.monotonic() - began + earlier_s,
            core_s=self.facts["core_s"],
            starts=begun.starts,
            ended=now(),
        )

    def started(self, cells: Sequence[Cell]) -> tuple[Begun, Path]:
        """The stage as it is in progress with one start more,
        and the path that its parts are stored beside."""
        before = read_begun(self.folder, self.number)
        begun = before or Begun(
            plan=self.plan,
            parts=self.parts,
            pieces=count_parts(cells, guests=self.guests),
            programs=self.programs,
            starts=(),
        )
        begun = dataclasses.replace(begun, starts=(*begun.starts, now()))
        return begun, write_begun(self.folder, self.number, begun)

    def one_part(self, cells: Sequence[Cell], number: int, *, progress: tqdm[Any]) -> Result:
        """Replay a part on one guest, and take the CPU time of the guests that ended
        since the last part for its own."""
        result = replay_part(self.lab, cells, number, progress=progress)
        with self.lock:
            used_s = children_s()
            result.core_s, self.used_s = used_s - self.used_s, used_s
            self.wall_s += result.wall_s
        return result


def children_s() -> float:
    """CPU seconds of all guests that have ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
