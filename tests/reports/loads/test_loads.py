"""A report's loads are read back as they were replayed, in the columns that the rule reads,
and take few bytes."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from replay.runs.cells import milliseconds
from reports.loads.columns import DECIDING, KEY, MEASURED, read_loads, write_loads
from schema.computed_tables import CELL
from tests.factories.made_up_report import replay_cells

PAGES = ("page_ms", "short_flow_ms", "probe_p95_ms")


def cells(**changes: Any) -> list[dict[str, Any]]:
    """Loads whose times are whole microseconds, as the replay measures them."""
    rows = replay_cells(pages=4).to_pylist()
    return [
        row
        | {name: milliseconds(round(1e6 * row[name])) for name in PAGES if row[name] is not None}
        | changes
        for row in rows
    ]


def stored(
    folder: Path, rows: list[dict[str, Any]], measured: frozenset[str] = DECIDING
) -> list[dict[str, Any]]:
    """The loads after they were written and read, in their key's order."""
    write_loads(folder / "loads.parquet", pa.Table.from_pylist(rows, schema=CELL), measured)
    return in_order(read_loads(folder / "loads.parquet").to_pylist())


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: tuple(str(row[name]) for name in KEY))


@pytest.mark.parametrize("measured", [DECIDING, MEASURED])
def test_what_the_rule_reads_is_equal_to_the_last_digit(tmp_path: Path, measured: frozenset[str]) -> None:
    rows = in_order(cells(pacing=True, bottleneck_drops=1))
    found = stored(tmp_path, rows, measured)
    assert len(found) == len(rows)
    for name in (*KEY, "state", "reason", *measured):
        assert [row[name] for row in found] == [row[name] for row in rows], name


def test_times_that_are_no_whole_microseconds_are_kept_as_they_are(tmp_path: Path) -> None:
    found = stored(tmp_path, cells(page_ms=1 / 3))
    assert {row["page_ms"] for row in found} == {1 / 3}


def test_of_drops_it_is_kept_whether_there_were_any(tmp_path: Path) -> None:
    rows = [
        *cells(bottleneck_drops=7)[:1],
        *cells(bottleneck_drops=0)[1:2],
        *cells(bottleneck_drops=None)[2:3],
    ]
    assert {row["bottleneck_drops"] for row in stored(tmp_path, rows)} == {1, 0, None}


def test_what_no_number_rests_on_is_not_kept(tmp_path: Path) -> None:
    found = stored(tmp_path, cells(segments_sent=9, document_ms=3.0))
    assert {(row["segments_sent"], row["document_ms"], row["queue_bytes"]) for row in found} == {
        (None, None, None)
    }


def test_equal_loads_in_any_order_give_equal_bytes(tmp_path: Path) -> None:
    rows = cells()
    written = []
    for name, some in (("a", rows), ("b", rows[::-1])):
        path = tmp_path / name
        write_loads(path, pa.Table.from_pylist(some, schema=CELL), DECIDING)
        written.append(path.read_bytes())
    assert written[0] == written[1]
