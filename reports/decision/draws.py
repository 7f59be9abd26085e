"""Draws: loads of a page over a network at every window still in question, with the same random events at each window."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reports.statistics.bootstrap import Floats, Mask
from reports.statistics.paired_loads import NUMERIC_COLUMNS

Integers = npt.NDArray[np.intp]

SEEDS_OF_A_DRAW = 2
"""Seeds of each round through the pages: an odd one for all windows, the even one after it for the incumbent against itself."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frame:
    """What draws are taken from: the pages and the networks."""

    pages: tuple[int, ...]
    """Visit ids."""
    networks: tuple[str, ...]
    """Ids of the profiles."""
    down_bps: Floats
    """Rate of each network."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Draws:
    """The draws of one condition; arrays run along the draws, in the order of page, network and seed."""

    frame: Frame
    pages: Integers
    """Places in the frame's pages."""
    networks: Integers
    """Places in the frame's networks."""
    windows: tuple[int, ...]
    values: Mapping[str, Floats]
    """Arrays [draw, window] by column; NaN where the window was not replayed, was not done, or the value is unknown."""
    again: Mapping[str, Floats]
    """Arrays [draw] of the incumbent's load with another seed."""

    def __len__(self) -> int:
        """Number of draws."""
        return len(self.pages)

    def at(self, column: str, window: int) -> Floats:
        """A column at one window; all NaN if the window was never replayed."""
        if window not in self.windows:
            return np.full(len(self), np.nan)
        array: Floats = self.values[column][:, self.windows.index(window)]
        return array


def gather(rows: Iterable[Mapping[str, Any]], frame: Frame, *, incumbent: int) -> Draws:
    """The draws of the rows of one condition, whose `iw` may be paced; their order does not matter. Loads that are not done are unknown."""
    pages = {visit: place for place, visit in enumerate(frame.pages)}
    networks = {name: place for place, name in enumerate(frame.networks)}
    found: dict[tuple[int, int, int], dict[tuple[int, bool], Mapping[str, Any]]] = collections.defaultdict(
        dict
    )
    windows = {incumbent}
    for row in rows:
        if row["visit_id"] not in pages or row["profile"] not in networks:
            continue
        is_again = row["seed"] % SEEDS_OF_A_DRAW == 0
        key = (pages[row["visit_id"]], networks[row["profile"]], row["seed"] - is_again)
        found[key][row["iw"], is_again] = row
        windows.add(row["iw"])
    keys, ordered = sorted(found), tuple(sorted(windows))
    draws = [found[key] for key in keys]
    return Draws(
        frame=frame,
        pages=np.array([page for page, _, _ in keys], dtype=np.intp),
        networks=np.array([network for _, network, _ in keys], dtype=np.intp),
        windows=ordered,
        values={
            column: np.array(
                [[_value(draw.get((window, False)), column) for window in ordered] for draw in draws]
            ).reshape(len(draws), len(ordered))
            for column in NUMERIC_COLUMNS
        },
        again={
            column: np.array(
                [_value(draw.get((incumbent, True)), column) for draw in draws], dtype=np.float64
            )
            for column in NUMERIC_COLUMNS
        },
    )


def _value(row: Mapping[str, Any] | None, column: str) -> float:
    if row is None or row["state"] != "done" or row[column] is None:
        return np.nan
    return float(row[column])


def known(arrays: Sequence[Floats]) -> Mask:
    """Mask [draw]: True where every array is known."""
    mask: Mask = np.logical_and.reduce([np.isfinite(array) for array in arrays])
    return mask
