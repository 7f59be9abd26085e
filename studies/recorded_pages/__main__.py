"""Write a recorded set, as imports take it, from the facts of its pages."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from recordings.pages.sets import KEPT, SET, YEARS
from recordings.release import Content
from recordings.rows import Row
from schema.recorded import RECORDED, released_schema
from studies.recorded_pages.facts import read_recording
from studies.recorded_pages.rows import content_of, form_of


def main(folders: Sequence[str]) -> None:
    for folder in map(Path, folders):
        recording = read_recording(folder)
        write_set(YEARS / recording.source.id, content_of(recording), form=form_of(recording))


def write_set(folder: Path, content: Content, *, form: str) -> None:
    """Write the rows of a content, in the order of their keys, and set.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (crawl,) = content.tables["crawl"]
    described = {"form": form, "crawl": crawl, "recording": content.recording}
    text = json.dumps(described, indent=2, ensure_ascii=False) + "\n"
    (folder / SET).write_text(text, encoding="utf-8")
    for name in KEPT:
        write_rows(folder / f"{name}.parquet", name, content.tables[name])


def write_rows(path: Path, name: str, rows: Sequence[Row]) -> None:
    """Write the columns that hold something, without definitions: numbers by the places of their bytes, few
    words as numbers of a dictionary."""
    schema = released_schema(name, RECORDED).remove_metadata()
    table = pa.Table.from_pylist(list(rows), schema=schema)
    table = table.select([column for column in schema.names if table[column].null_count < table.num_rows])
    plain = [field.remove_metadata() for field in table.schema]
    kinds = {field.name: field.type for field in plain}
    words = [column for column, kind in kinds.items() if pa.types.is_string(kind) and column != "host"]
    numbers = [column for column, kind in kinds.items() if pa.types.is_integer(kind)]
    pq.write_table(
        table.cast(pa.schema(plain)),
        path,
        compression="zstd",
        compression_level=22,
        use_dictionary=words,
        column_encoding=dict.fromkeys(numbers, "BYTE_STREAM_SPLIT"),
        store_schema=False,
        write_statistics=False,
        row_group_size=len(table) or 1,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
