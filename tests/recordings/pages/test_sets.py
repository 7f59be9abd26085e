"""Folders of recorded sets: those that come with the code, and those of strangers."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recordings.exchange import RecordingError
from recordings.pages.sets import KEPT, SET, SETS, read_set
from recordings.release import checksum
from tests.factories.recorded_pages import document, row, write_folder

SMALL = "lh-gov-europe-2021-03"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "set", [document(), row(1), row(2)])


def test_a_set_that_was_written_is_read_as_it_was(folder: Path) -> None:
    content = read_set(folder)
    assert [response["wire_bytes"] for response in content.tables["response"]] == [1018, 1018, 1018]
    assert content.tables["crawl"][0]["list_id"] == "pages-2026-02"
    assert content.checksum == checksum(content.recording["files"])


def change_table(name: str, change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        path = folder / f"{name}.parquet"
        pq.write_table(change(pq.read_table(path)), path)

    return damage


def put(column: str, values: pa.Array) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.set_column(table.column_names.index(column), column, values)


def change_description(part: str, **values: object) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        described = json.loads((folder / SET).read_text())
        described[part] |= values
        (folder / SET).write_text(json.dumps(described))

    return damage


DAMAGED: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "no table": (lambda folder: (folder / "visit.parquet").unlink(), "visit.parquet cannot be read"),
    "no description": (lambda folder: (folder / SET).unlink(), "set.json cannot be read"),
    "no JSON": (lambda folder: (folder / SET).write_text("{"), "JSONDecodeError"),
    "no Parquet": (lambda folder: (folder / "site.parquet").write_text("no"), "ArrowInvalid"),
    "a list for a set": (lambda folder: (folder / SET).write_text("[]"), "TypeError"),
    "a path for a name": (change_description("crawl", list_id="../x"), "list_id must be of a-z, 0-9 and -"),
    "a number for a name": (change_description("crawl", vantage=7), "TypeError"),
    "a crawl of ours": (change_description("crawl", kind="live"), "not of the kind recorded"),
    "no limits": (change_description("recording", limits=[]), "without limits"),
    "another set's words": (change_description("recording", id="other"), "not of one set"),
    "text for numbers": (
        change_table("response", put("wire_bytes", pa.array(["a", "b", "c"]))),
        "ArrowInvalid",
    ),
    "an unknown column": (
        change_table("response", lambda table: table.append_column("x", pa.array([1, 2, 3]))),
        "response has the unknown columns x",
    ),
    "null where no row may be": (
        change_table("response", put("host", pa.array([None, "a", "b"]))),
        "response.host is null",
    ),
    "a row twice": (
        change_table("response", lambda table: pa.concat_tables([table, table])),
        "rows of response are not in the order of crawl_id, visit_id, id",
    ),
    "a connection that is not there": (
        change_table("response", put("connection_id", pa.array([1, 1, 9]))),
        "response.connection_id names rows of connection that are not there, as (1, 9)",
    ),
}


@pytest.mark.parametrize("damaged", DAMAGED)
def test_a_folder_that_holds_no_set_is_refused_in_a_line_that_says_what_is_wrong(
    folder: Path, damaged: str
) -> None:
    damage, message = DAMAGED[damaged]
    damage(folder)
    with pytest.raises(RecordingError) as refused:
        read_set(folder)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_does_not_stand_in_a_table_is_null(tmp_path: Path) -> None:
    copy = shutil.copytree(SETS[SMALL], tmp_path / "copy")
    rows: list[dict[str, Any]] = read_set(copy).tables["response"]
    assert any(response["status"] for response in rows)
    path = copy / "response.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["status"]), path)
    assert {response["status"] for response in read_set(copy).tables["response"]} == {None}


@pytest.mark.parametrize("name", SETS)
def test_a_set_that_comes_with_the_code_has_no_more_files_than_a_set_needs(name: str) -> None:
    assert {path.name for path in SETS[name].iterdir()} == {SET, *(f"{table}.parquet" for table in KEPT)}
