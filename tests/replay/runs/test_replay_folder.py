"""Stored loads are read whatever version of the code wrote them."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from replay.errors import ReplayError
from replay.runs.replay_folder import ADDED, read_cells
from schema.computed_tables import CELL
from tests.factories.made_up_report import FEW_CELLS


def write(folder: Path, cells: pa.Table) -> Path:
    pq.write_table(cells, folder / "cells.parquet")
    return folder


def of_version_1_0(cells: pa.Table) -> pa.Table:
    """The cells as version 1.0 wrote them, every second of them paced."""
    paced = pa.array([number % 2 == 1 for number in range(len(cells))])
    return cells.drop_columns(["policy", *ADDED]).append_column("pacing", paced)


def test_loads_of_version_1_0_have_a_policy_and_null_for_what_was_not_measured(tmp_path: Path) -> None:
    read = read_cells(write(tmp_path, of_version_1_0(FEW_CELLS)))
    assert read.schema == CELL
    assert read["policy"].to_pylist()[:2] == ["10", "10 paced"]
    assert all(read[name].null_count == len(read) for name in ADDED)
    kept = [name for name in CELL.names if name not in ("policy", *ADDED)]
    assert read.select(kept) == FEW_CELLS.select(kept)


def test_loads_of_this_version_are_read_as_they_are(tmp_path: Path) -> None:
    assert read_cells(write(tmp_path, FEW_CELLS)) == FEW_CELLS


@pytest.mark.parametrize("lacking", ["policy", "page_ms", "seed"])
def test_loads_without_a_column_are_refused_by_its_name(tmp_path: Path, lacking: str) -> None:
    folder = write(tmp_path, FEW_CELLS.drop_columns([lacking]))
    with pytest.raises(ReplayError, match=f"is of another version: its cells have no .*{lacking}"):
        read_cells(folder)
