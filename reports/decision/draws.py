"""Draws: loads of a page over a network at every window still in question,
with the same random events at each window."""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.runs.initial_window import Paced, is_paced
from reports.statistics.bootstrap import Floats, Mask
from reports.statistics.paired_loads import NUMERIC_COLUMNS

Integers = npt.NDArray[np.intp]

SEEDS_OF_A_DRAW = 2
"""Seeds of each round through the pages: an odd one for all windows,
the even one after it for the incumbent against itself."""


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
    """Arrays [draw, window] by column; NaN where the window was not replayed, was not done,
    or the value is unknown."""
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Loads:
    """Loads of one condition; arrays run along the loads."""

    draws: Integers
    """Places of page and network in the frame, and the odd seed of the round: [load, 3]."""
    windows: Integers
    """Windows as numbers in their order: twice the segments, and one more for a burst."""
    is_again: Mask
    """True for the incumbent's load with another seed."""
    numbers: Floats
    """[load, column] in the order of NUMERIC_COLUMNS; NaN where the load was not done,
    or the value is unknown."""


def loads_of(rows: Sequence[Mapping[str, Any]], frame: Frame, *, paces_all: bool = False) -> Loads:
    """The loads of the frame's pages over its networks.

    A paced load has a paced window, unless the condition paces all.
    """
    pages = {visit: place for place, visit in enumerate(frame.pages)}
    networks = {name: place for place, name in enumerate(frame.networks)}
    rows = [row for row in rows if row["visit_id"] in pages and row["profile"] in networks]
    seeds = np.array([row["seed"] for row in rows], dtype=np.intp)
    is_again: Mask = seeds % SEEDS_OF_A_DRAW == 0
    places = [(pages[row["visit_id"]], networks[row["profile"]]) for row in rows]
    numbers = np.full((len(rows), len(NUMERIC_COLUMNS)), np.nan)
    is_done = np.array([row["state"] == "done" for row in rows], dtype=np.bool_)
    if is_done.any():
        values = operator.itemgetter(*NUMERIC_COLUMNS)
        numbers[is_done] = np.array(
            [values(row) for row in rows if row["state"] == "done"],
            dtype=np.float64,  # None is NaN
        )
    return Loads(
        draws=np.column_stack([np.array(places, dtype=np.intp).reshape(-1, 2), seeds - is_again]),
        windows=np.array(
            [2 * int(row["iw"]) + (paces_all or not row["pacing"]) for row in rows], dtype=np.intp
        ),
        is_again=is_again,
        numbers=numbers,
    )


def gather(parts: Sequence[Loads], frame: Frame, *, incumbent: int) -> Draws:
    """The draws of the loads of one condition in several parts.

    If a load occurs twice, the later one counts.
    """
    windows = np.concatenate([one.windows for one in parts])
    is_again = np.concatenate([one.is_again for one in parts])
    numbers = np.concatenate([one.numbers for one in parts])
    draws, of_load = _distinct(np.concatenate([one.draws for one in parts]))
    of_incumbent = 2 * int(incumbent) + (not is_paced(incumbent))
    ordered = np.unique(np.append(windows, of_incumbent))
    values = np.full((len(NUMERIC_COLUMNS), len(draws), len(ordered)), np.nan)
    first = ~is_again
    values[:, of_load[first], np.searchsorted(ordered, windows[first])] = numbers[first].T
    again = np.full((len(NUMERIC_COLUMNS), len(draws)), np.nan)
    second = is_again & (windows == of_incumbent)
    again[:, of_load[second]] = numbers[second].T
    return Draws(
        frame=frame,
        pages=draws[:, 0].copy(),
        networks=draws[:, 1].copy(),
        windows=tuple(one // 2 if one % 2 else Paced(one // 2) for one in ordered.tolist()),
        values=dict(zip(NUMERIC_COLUMNS, values, strict=True)),
        again=dict(zip(NUMERIC_COLUMNS, again, strict=True)),
    )


def _distinct(rows: Integers) -> tuple[Integers, Integers]:
    """The distinct rows in order, and the place of each row among them."""
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    is_first = np.ones(len(rows), dtype=np.bool_)
    is_first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    places = np.empty(len(rows), dtype=np.intp)
    places[order] = np.cumsum(is_first) - 1
    return ordered[is_first], places


def known(arrays: Sequence[Floats]) -> Mask:
    """Mask [draw]: True where every array is known."""
    mask: Mask = np.logical_and.reduce([np.isfinite(array) for array in arrays])
    return mask
