"""Verifies a release: a named check with its result for each property, and no exception for damaged files."""

import dataclasses
import functools
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Engine

from releases import parquet
from releases.build import count_rows, detached_tables, packets_of
from releases.catalogue import Release, ReleaseError
from releases.descriptions.write import check_descriptions
from releases.measures import open_database
from releases.strata.items import compute_distribution, find_difference
from releases.strata.party import list_version
from schema.computed_tables import DISTRIBUTION, ITEM, SIZES
from schema.http_caching import LIFETIMES
from schema.recorded import is_recorded, released_schema
from schema.released_tables import RETIRED, definition, released_tables
from schema.vocabulary import (
    CONSENTS,
    COVERAGE_FLOOR,
    INITIAL_WINDOW_UNKNOWN,
    OUTCOMES,
    SIZE_BASES,
    WALLS,
    WIRE_BYTES_UNKNOWN,
)
from storage.crawls import CrawlNotFound, find_crawl
from storage.integrity import RELATIONS
from storage.sums import broken_sums


@dataclasses.dataclass(frozen=True, slots=True)
class Check:
    """The result of checking one property of a release."""

    name: str
    holds: bool
    evidence: str


OF_CRAWL = re.compile(r"[a-z.]*crawl_id = :crawl_id")
"""A release holds a single crawl."""

ROW_CHECKS: dict[str, str] = {name: OF_CRAWL.sub("true", query) for name, query in RELATIONS.items()} | (
    tomllib.loads(Path(__file__).with_name("row_checks.toml").read_text(encoding="utf-8"))
)

UNREADABLE = (
    duckdb.Error,
    pa.ArrowException,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Exceptions of reading a damaged file, or using what it holds."""


def verify(release: Release, engine: Engine | None) -> Iterator[Check]:
    """Make every check in turn; that against PostgreSQL only with an engine, and for our crawls.

    storage.engine.DatabaseError is no fault of the release.
    """
    broken = broken_sums(release.path)
    held = f"{len(release.manifest.files) + 1} files are as in SHA256SUMS"
    yield Check("checksums", not broken, ", ".join(f"{name} is not" for name in broken) or held)
    if any((release.path / name).is_fifo() for name in broken):
        return  # to read a pipe is to wait for a writer
    yield _readable("columns", lambda: _columns(release))
    yield _readable("rows are as many as the manifest says", lambda: _rows(release))
    yield _readable("the audit by packets is as the manifest says", lambda: _packets(release))
    if is_recorded(release.crawl.kind):
        yield _readable("what it was made from is stated", lambda: _recording(release))
    elif engine is not None:
        yield _against_database(release, engine)
    yield _readable("its descriptions describe it", lambda: check_descriptions(release))
    yield from _row_checks(release)
    yield _readable("items follow from the observations", lambda: _items(release))
    yield _readable("distributions follow from the observations", lambda: _recomputed(release))


def _readable(name: str, check: Callable[[], tuple[bool, str]]) -> Check:
    try:
        return Check(name, *check())
    except UNREADABLE as exc:
        return Check(name, holds=False, evidence=_first_line(exc))


def _first_line(exc: BaseException) -> str:
    return str(exc).split("\n", 1)[0]


def _columns(release: Release) -> tuple[bool, str]:
    """Compare columns and types with their declaration; one of an earlier schema version with nothing."""
    kind = release.crawl.kind
    declared = {name: released_schema(name, kind) for name in released_tables()}
    wrong = []
    for table, schema in (declared | {"distribution": DISTRIBUTION, "item": ITEM}).items():
        stored = pq.read_schema(release.file(table))
        retired = RETIRED.get(table, {})
        kept = [field for field in stored if retired.get(field.name, 0) <= release.manifest.schema_version]
        same = pa.schema(kept).equals(schema, check_metadata=False)
        documented = all(map(definition, stored))
        if not (same and documented):
            wrong.append(table)
    return (
        not wrong,
        f"not as declared: {', '.join(wrong)}" if wrong else "as declared, each with its definition",
    )


def _rows(release: Release) -> tuple[bool, str]:
    rows = {table: pq.read_metadata(release.file(table)).num_rows for table in release.manifest.rows}
    return _compared(rows, release.manifest.rows, "in the files", "in the manifest")


def _packets(release: Release) -> tuple[bool, str]:
    packets = packets_of(release.file("connection"))
    return _compared(packets, release.manifest.packets, "in the file", "in the manifest")


def _recording(release: Release) -> tuple[bool, str]:
    try:
        stated = release.recording or {}
    except ReleaseError as exc:
        return False, str(exc)
    lacking = [name for name in ("source", "limits", "inferred", "null_columns") if not stated.get(name)]
    evidence = (
        f"recording.json lacks {', '.join(lacking)}"
        if lacking
        else f"{len(stated['limits'])} limits are stated"
    )
    return not lacking, evidence


def _compared(
    counts: dict[str, int], expected: dict[str, int], here: str, elsewhere: str
) -> tuple[bool, str]:
    wrong = [
        f"{table}: {counts.get(table, 0):,} {here}, {rows:,} {elsewhere}"
        for table, rows in expected.items()
        if counts.get(table, 0) != rows
    ]
    return not wrong, "; ".join(wrong) or ", ".join(f"{table} {rows:,}" for table, rows in expected.items())


def _against_database(release: Release, engine: Engine) -> Check:
    name = "rows are as many as in PostgreSQL"
    try:
        with engine.connect() as connection:
            crawl = find_crawl(connection, str(release.manifest.crawl))
    except CrawlNotFound as exc:
        return Check(name, holds=False, evidence=f"{exc}; --offline leaves this out")
    gone = detached_tables(engine, crawl.id)
    rows = {
        table: count
        for table, count in release.manifest.rows.items()
        if table not in {"distribution", "item", *gone}
    }
    holds, evidence = _compared(count_rows(engine, crawl.id), rows, "in PostgreSQL", "in the manifest")
    return Check(name, holds=holds, evidence=evidence + "".join(f", {table} detached" for table in gone))


def _unique_keys() -> dict[str, str]:
    """Return a query for rows whose key is not above that of the row before: files are in order, so that
    only the last key is kept in memory.
    """
    return {
        f"keys of {name} are unique": f"FROM (SELECT ({key}) AS key, lag(({key})) OVER () AS before "  # noqa: S608
        f"FROM {name}) WHERE key <= before"
        for name, table in released_tables().items()
        for key in [", ".join(table.key)]
    }


def _row_checks(release: Release) -> Iterator[Check]:
    tables = [*released_tables(), "distribution"]
    known: dict[str, Sequence[str] | float] = {
        "floor": COVERAGE_FLOOR,
        "walls": list(WALLS),
        "consents": list(CONSENTS),
        "outcomes": list(OUTCOMES),
        "unknown": list(WIRE_BYTES_UNKNOWN),
        "bases": list(SIZE_BASES),
        "windows": list(INITIAL_WINDOW_UNKNOWN),
        "lifetimes": list(LIFETIMES),
        "measures": list(SIZES),
    }
    with open_database() as database:
        for table in tables:
            _view(database, release, table)
        for name, query in (_unique_keys() | ROW_CHECKS).items():
            yield _readable(name, functools.partial(_none, database, query, known))


def _view(database: duckdb.DuckDBPyConnection, release: Release, table: str) -> None:
    try:
        rows = database.read_parquet(str(release.file(table)), hive_partitioning=False, file_row_number=True)
    except UNREADABLE:
        return
    rows.project("* EXCLUDE (file_row_number), file_row_number AS place").create_view(table)


def _none(
    database: duckdb.DuckDBPyConnection, query: str, known: dict[str, Sequence[str] | float]
) -> tuple[bool, str]:
    used = {name: values for name, values in known.items() if f"${name}" in query}
    row = database.execute(f"SELECT count(*) {query}", used).fetchone()
    assert row is not None  # an aggregate always returns a row
    return row[0] == 0, f"{row[0]:,} rows do not hold" if row[0] else "no row against it"


def _items(release: Release) -> tuple[bool, str]:
    """Compare the items with those computed anew; under another Public Suffix List without their parties."""
    used = release.manifest.public_suffix_list
    without = () if used == list_version() else ("party",)
    ranked = not is_recorded(release.crawl.kind)
    row = find_difference(release.path, is_ranked=ranked, without=without)
    if row is not None:
        return False, f"from row {row:,} on they are not what is computed anew"
    held = f"{release.manifest.rows.get('item', 0):,} items computed anew"
    return True, held + (f", without their parties, which are by {used}" if without else "")


def _recomputed(release: Release) -> tuple[bool, str]:
    path = release.file("distribution")
    row = parquet.find_difference(path, compute_distribution(release.path), DISTRIBUTION)
    if row is not None:
        return False, f"from row {row:,} on they are not what is computed anew"
    return True, f"{pq.read_metadata(path).num_rows:,} steps computed anew"
