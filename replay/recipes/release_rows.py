"""Rows of a release's tables."""

import collections
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import pyarrow.parquet as pq

from releases.catalogue import Release

Row: TypeAlias = "Mapping[str, Any]"


def rows(release: Release, table: str) -> Iterator[Row]:
    for batch in pq.ParquetFile(release.file(table)).iter_batches():
        yield from batch.to_pylist()


def by_visit(rows: Iterator[Row]) -> Mapping[int, list[Row]]:
    """Return rows by visit id, sorted by their own."""
    visits: dict[int, list[Row]] = collections.defaultdict(list)
    for row in rows:
        visits[row["visit_id"]].append(row)
    for own in visits.values():
        own.sort(key=lambda row: int(row["id"]))
    return visits
