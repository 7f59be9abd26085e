"""Replay cells as arrays: which loads are done, how they pair, and why others are missing."""

from __future__ import annotations

import collections
import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from replay.runs.conditions import Conditions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from reports.statistics.bootstrap import Floats, Mask

NUMERIC_COLUMNS = (
    "page_ms",
    "payload_bytes",
    "responses",
    "responses_retransmitted",
    "connections",
    "connections_initial_loss",
    "bytes_retransmitted",
    "bottleneck_drops",
    "competition_bytes",
    "short_flow_ms",
    "probe_p95_ms",
)
"""Columns of the cells that the recommendation and the report use."""


class CellsError(Exception):
    """The cells are not what a replay leaves behind."""


@dataclasses.dataclass(frozen=True, slots=True)
class MissingCells:
    """Cells that a gate refused, or that failed, for one reason."""

    profile: str
    iw: int
    state: str
    reason: str
    cells: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairedLoads:
    """The done cells of one congestion control, paired by (page, profile, seed)."""

    congestion_control: str
    pages: tuple[str, ...]
    profiles: tuple[str, ...]
    windows: tuple[int, ...]
    seeds: int
    """Seeds that a (page, profile) has at most."""
    down_bps: Floats
    """Of each profile, NaN where it is not said."""
    values: Mapping[str, Floats]
    """By measure: [page, profile, window, seed], NaN where no cell is done or the measure is unknown."""
    states: Mapping[str, int]
    """Cells by state, over all that were asked for."""
    missing: tuple[MissingCells, ...]

    def at(self, measure: str, iw: int) -> Floats:
        """[page, profile, seed] of one window."""
        array: Floats = self.values[measure][:, :, self.windows.index(iw)]
        return array

    def weights(self, population: Mapping[str, float]) -> Floats:
        """The population's weight of each profile, summing to 1."""
        array = np.array([population.get(profile, 0.0) for profile in self.profiles])
        shares: Floats = array / array.sum()
        return shares

    def covers(self, population: Mapping[str, float]) -> bool:
        """Whether every profile of the population was replayed at all."""
        return all(profile in self.profiles for profile, weight in population.items() if weight > 0)

    @property
    def coverage_percent(self) -> float:
        """Done, of all cells asked for."""
        return 100 * self.states.get("done", 0) / max(1, sum(self.states.values()))

    @property
    def least_coverage_percent(self) -> float:
        """The same of the profile and window where it is least: what is missing there is missing from one mean."""
        asked = sum(self.states.values()) / max(1, len(self.profiles) * len(self.windows))
        lost: collections.Counter[tuple[str, int]] = collections.Counter()
        for one in self.missing:
            lost[one.profile, one.iw] += one.cells
        return 100 * (1 - max(lost.values(), default=0) / max(1, asked))


def complete(arrays: Sequence[Floats], weights: Floats) -> Mask:
    """[page, seed] where every array [page, profile, seed] is known in every profile that has weight."""
    known = [~np.isnan(array[:, weights > 0]).any(axis=1) for array in arrays]
    mask: Mask = np.logical_and.reduce(known)
    return mask


def of_arm(cells: pa.Table, conditions: Conditions) -> list[dict[str, Any]]:
    """The cells under exactly these conditions."""
    for name, value in conditions.columns().items():
        cells = cells.filter(pc.field(name).is_null() if value is None else pc.field(name) == value)
    rows: list[dict[str, Any]] = cells.to_pylist()
    return rows


def pair_loads(
    cells: pa.Table,
    *,
    congestion_control: str,
    conditions: Conditions | None = None,
    networks: Sequence[Mapping[str, Any]] = (),
) -> PairedLoads:
    """The arrays of one arm: a congestion control with all else by default, or `conditions` with that control.

    `networks` are the profiles as replay.json has them. Raises CellsError where a cell stands twice.
    """
    arm = dataclasses.replace(conditions or Conditions(), congestion_control=congestion_control)
    rows = of_arm(cells, arm)
    rates = {one["id"]: float(one["down_bps"]) for one in networks}
    pages = sorted({_page(row) for row in rows})
    profiles = sorted({row["profile"] for row in rows})
    windows = sorted({row["iw"] for row in rows})
    page_places = {page: place for place, page in enumerate(pages)}
    places = _seed_places(rows)
    shape = (
        len(pages),
        len(profiles),
        len(windows),
        max((place + 1 for place in places.values()), default=0),
    )
    values = {column: np.full(shape, np.nan) for column in NUMERIC_COLUMNS}
    seen: set[tuple[int, int, int, int]] = set()
    for row in rows:
        where = (
            page_places[_page(row)],
            profiles.index(row["profile"]),
            windows.index(row["iw"]),
            places[_page(row), row["profile"], row["seed"]],
        )
        if where in seen:
            raise CellsError(
                f"the cell {row['page']}, {row['profile']}, IW {row['iw']}, seed {row['seed']} stands twice; run the replay again"
            )
        seen.add(where)
        if row["state"] == "done":
            for column in NUMERIC_COLUMNS:
                values[column][where] = np.nan if row[column] is None else row[column]
    return PairedLoads(
        congestion_control=congestion_control,
        pages=tuple(name for name, _ in pages),
        profiles=tuple(profiles),
        windows=tuple(windows),
        seeds=shape[-1],
        down_bps=np.array([rates.get(profile, np.nan) for profile in profiles]),
        values=values,
        states=collections.Counter(row["state"] for row in rows),
        missing=_missing(rows),
    )


def _page(row: Mapping[str, Any]) -> tuple[str, int]:
    return row["page"], row["visit_id"]


def _seed_places(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[tuple[str, int], str, int], int]:
    """The place of each seed among those of its (page, profile): seeds need not be the same for all."""
    found: dict[tuple[tuple[str, int], str], set[int]] = collections.defaultdict(set)
    for row in rows:
        found[_page(row), row["profile"]].add(row["seed"])
    return {
        (page, profile, seed): place
        for (page, profile), seeds in found.items()
        for place, seed in enumerate(sorted(seeds))
    }


def _missing(rows: Sequence[Mapping[str, Any]]) -> tuple[MissingCells, ...]:
    counts = collections.Counter(
        (row["profile"], row["iw"], row["state"], row["reason"] or "no reason given")
        for row in rows
        if row["state"] != "done"
    )
    return tuple(MissingCells(*key, cells=count) for key, count in sorted(counts.items()))
