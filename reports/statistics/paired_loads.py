"""Replay cells as arrays of page loads that pair by page, profile and seed,
with counts of the missing cells."""

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.runs.conditions import Conditions
from replay.runs.initial_window import Paced
from reports.statistics.bootstrap import Floats, Mask

NUMERIC_COLUMNS = (
    "page_ms",
    "document_ms",
    "render_blocking_ms",
    "response_latency_ms",
    "payload_bytes",
    "responses",
    "responses_own_retransmitted",
    "connections",
    "connections_initial_loss",
    "bytes_retransmitted",
    "bottleneck_drops",
    "competition_bytes",
    "short_flow_ms",
    "probe_p95_ms",
)
"""Columns of cells that the recommendation and the report use."""


class CellsError(Exception):
    """The cells contradict each other."""


@dataclasses.dataclass(frozen=True, slots=True)
class MissingCells:
    """Number of cells that were refused or failed for one reason, on one profile at one window."""

    profile: str
    iw: int
    state: str
    reason: str
    cells: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairedLoads:
    """Finished cells of one arm of a replay, paired by (page, profile, seed)."""

    congestion_control: str
    pages: tuple[str, ...]
    profiles: tuple[str, ...]
    windows: tuple[int, ...]
    seeds: int
    """Largest number of seeds of a (page, profile)."""
    down_bps: Floats
    """Downstream rate of each profile in bits per second; NaN if unknown."""
    values: Mapping[str, Floats]
    """Arrays [page, profile, window, seed] by column; NaN if the cell is not done or the value is unknown."""
    states: Mapping[str, int]
    """Number of cells in each state; they sum to the planned cells."""
    missing: tuple[MissingCells, ...]

    def at(self, column: str, iw: int) -> Floats:
        """Array [page, profile, seed] of a column at one window."""
        array: Floats = self.values[column][:, :, self.windows.index(iw)]
        return array

    def weights(self, population: Mapping[str, float]) -> Floats:
        """Weight of each profile in the population; the weights sum to 1."""
        array = np.array([population.get(profile, 0.0) for profile in self.profiles])
        shares: Floats = array / array.sum()
        return shares

    def covers(self, population: Mapping[str, float]) -> bool:
        """Return whether every profile with weight was replayed."""
        return all(profile in self.profiles for profile, weight in population.items() if weight > 0)

    @property
    def coverage_percent(self) -> float:
        """Percentage of the planned cells that are done."""
        return 100 * self.states.get("done", 0) / max(1, sum(self.states.values()))

    @property
    def least_coverage_percent(self) -> float:
        """Smallest percentage of done cells over profiles and windows, since each has a mean of its own."""
        planned = sum(self.states.values()) / max(1, len(self.profiles) * len(self.windows))
        lost: collections.Counter[tuple[str, int]] = collections.Counter()
        for one in self.missing:
            lost[one.profile, one.iw] += one.cells
        return 100 * (1 - max(lost.values(), default=0) / max(1, planned))


def complete(arrays: Sequence[Floats], weights: Floats) -> Mask:
    """Mask [page, seed]: True where every array [page, profile,
    seed] is known on every profile with weight."""
    known = [~np.isnan(array[:, weights > 0]).any(axis=1) for array in arrays]
    mask: Mask = np.logical_and.reduce(known)
    return mask


def cells_under(cells: pa.Table, conditions: Conditions) -> list[dict[str, Any]]:
    """Rows of the cells under exactly these conditions."""
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
    with_paced: bool = False,
) -> PairedLoads:
    """Pair the cells of one arm: `conditions`, or else the default conditions, with this congestion control.

    `networks` are the profiles from replay.json. `with_paced` adds the loads of an unpaced arm's paced
    windows, as windows of their own. Raises CellsError if a cell occurs twice.
    """
    arm = dataclasses.replace(conditions or Conditions(), congestion_control=congestion_control)
    rows = cells_under(cells, arm)
    if with_paced and not arm.pacing:
        paced = cells_under(cells, dataclasses.replace(arm, pacing=True))
        rows += [row | {"iw": Paced(row["iw"])} for row in paced]
    return pair_rows(rows, congestion_control=congestion_control, networks=networks)


def pair_rows(
    rows: Sequence[Mapping[str, Any]],
    *,
    congestion_control: str,
    networks: Sequence[Mapping[str, Any]] = (),
) -> PairedLoads:
    """Pair rows of cells that are all of one arm. Raises CellsError if a cell occurs twice."""
    pages = sorted({_page(row) for row in rows})
    profiles = sorted({row["profile"] for row in rows})
    windows = sorted({row["iw"] for row in rows})
    seeds = _seeds(rows)
    shape = (len(pages), len(profiles), len(windows), max(map(len, seeds.values()), default=0))
    values = {column: np.full(shape, np.nan) for column in NUMERIC_COLUMNS}
    page_places = {page: place for place, page in enumerate(pages)}
    seen: set[tuple[int, int, int, int]] = set()
    for row in rows:
        page, profile, iw, seed = _page(row), row["profile"], row["iw"], row["seed"]
        place = (
            page_places[page],
            profiles.index(profile),
            windows.index(iw),
            seeds[page, profile].index(seed),
        )
        if place in seen:
            raise CellsError(
                f"the cell {row['page']}, {profile}, IW {iw}, seed {seed} occurs twice; run the replay again"
            )
        seen.add(place)
        if row["state"] == "done":
            for column in NUMERIC_COLUMNS:
                values[column][place] = np.nan if row[column] is None else row[column]
    rates = {one["id"]: float(one["down_bps"]) for one in networks}
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


def _seeds(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[tuple[str, int], str], list[int]]:
    """The seeds of each (page, profile) in order; pages may have different seeds."""
    found: dict[tuple[tuple[str, int], str], set[int]] = collections.defaultdict(set)
    for row in rows:
        found[_page(row), row["profile"]].add(row["seed"])
    return {where: sorted(seeds) for where, seeds in found.items()}


def _missing(rows: Sequence[Mapping[str, Any]]) -> tuple[MissingCells, ...]:
    counts = collections.Counter(
        (row["profile"], row["iw"], row["state"], row["reason"] or "no reason given")
        for row in rows
        if row["state"] != "done"
    )
    return tuple(MissingCells(*key, cells=count) for key, count in sorted(counts.items()))
