"""The tables of a release as its descriptions name them: files, columns, types and keys."""

import dataclasses
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from schema.released_tables import released_tables

KEYS = {name: list(table.key) for name, table in released_tables().items()}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class DescribedTable:
    """One Parquet file of a release."""

    name: str
    file: str
    sha256: str
    bytes: int
    schema: pa.Schema
    key: list[str]


def tables_in(folder: Path, files: dict[str, str]) -> list[DescribedTable]:
    """Return the Parquet files among `files`, SHA-256 by name, in order."""
    tables = []
    for file, checksum in sorted(files.items()):
        if file.endswith(".parquet"):
            name = file.removesuffix(".parquet")
            tables.append(
                DescribedTable(
                    name=name,
                    file=file,
                    sha256=checksum,
                    bytes=(folder / file).stat().st_size,
                    schema=pq.read_schema(folder / file),
                    key=KEYS.get(name, []),
                )
            )
    return tables
