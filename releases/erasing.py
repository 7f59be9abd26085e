"""Erases a site from releases: finds it, makes a version without it, and replaces the versions that
have it by tombstones."""

import dataclasses
import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from releases import parquet
from releases.build import finish, new_folder, packets_of, write_computed
from releases.catalogue import RECORDING, Release, read_version, release_folders
from releases.descriptions.documents import SNAPSHOTS
from releases.descriptions.history import extend_history
from releases.measures import open_database
from releases.observations import table_of
from releases.strata.party import list_version
from schema.crawls import CrawlName
from schema.tables import OBSERVATIONS, RELEASED, Base, Site
from storage.erased_site import ErasedSite
from storage.notices import ERASED, TOMBSTONE
from storage.signatures import Signer
from storage.staging import flush, put_file_in_place
from storage.sums import MANIFEST, sums_now

MATCHES = "regexp_matches"

BATCH_ROWS = 65_536

GZIP = b"\x1f\x8b"


def has_site(release: Release, site: ErasedSite) -> bool:
    with open_database() as database:
        return any(
            database.execute(f"SELECT 1 FROM {_file(release, model)} WHERE {condition} LIMIT 1").fetchone()  # noqa: S608  # our own SQL
            for model, condition in _holding(site)
        )


def _holding(site: ErasedSite) -> Iterator[tuple[type[Base], str]]:
    yield Site, site.is_own("host")
    for model in OBSERVATIONS:
        yield model, site.is_touched(model.__tablename__, matches=MATCHES)


def mentions(path: Path, site: ErasedSite) -> bool:
    """Return true if a file, or any below a folder, names the site or cannot be read."""
    if path.is_dir():
        return any(mentions(file, site) for file in path.rglob("*") if file.is_file())
    try:
        return _in_parquet(path, site) if path.suffix == ".parquet" else _in_text(path, site)
    except (pa.ArrowException, OSError, EOFError):
        return True


def _in_text(path: Path, site: ErasedSite) -> bool:
    content = path.read_bytes()
    text = gzip.decompress(content) if content.startswith(GZIP) else content
    return re.search(site.pattern, text.decode("utf-8", "replace").lower()) is not None


def _in_parquet(path: Path, site: ErasedSite) -> bool:
    with pq.ParquetFile(path) as file:
        texts = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
        return any(
            pc.any(pc.match_substring_regex(column, site.pattern, ignore_case=True)).as_py()
            for batch in file.iter_batches(columns=texts)
            for column in batch.columns
        )


def without_site(
    release: Release,
    site: ErasedSite,
    place: Path,
    *,
    version: int,
    signer: Signer | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Release:
    """Write the release without the site to `place`; other rows keep order and sizes. ReleaseError."""
    with new_folder(place.parents[5]) as folder, open_database() as database:
        database.execute(
            f"CREATE TABLE own AS SELECT visit.id FROM {_file(release, OBSERVATIONS[0])} AS visit "  # noqa: S608
            f"WHERE {site.is_own('host')}"
        )
        rows = {}
        for model in RELEASED:
            rows[model.__tablename__] = _rewrite(release, model, site, database, folder, progress)
        rows |= write_computed(folder, release.crawl.kind)
        for name in ("dictionary.json", RECORDING, *SNAPSHOTS.values()):
            if (release.path / name).exists():
                (folder / name).write_bytes((release.path / name).read_bytes())
        manifest = dataclasses.replace(
            release.manifest,
            version=version,
            rows=rows,
            files=sums_now(folder),
            packets=packets_of(folder / "connection.parquet"),
            public_suffix_list=list_version(),
            history=extend_history(release.manifest, version=version, reason=ERASED),
        )
        return finish(folder, manifest, place, signer=signer).release


def _rewrite(
    release: Release,
    model: type[Base],
    site: ErasedSite,
    database: duckdb.DuckDBPyConnection,
    folder: Path,
    progress: Callable[[int], None],
) -> int:
    schema = pq.read_schema(release.file(model.__tablename__))
    reader: pa.RecordBatchReader = database.sql(_rest_of(release, model, site)).to_arrow_reader(BATCH_ROWS)
    return parquet.write(
        folder / f"{model.__tablename__}.parquet",
        (pa.Table.from_batches([batch]).cast(schema) for batch in reader),
        schema,
        sorted_by=[column.name for column in table_of(model).primary_key.columns],
        wrote=progress,
    )


def _rest_of(release: Release, model: type[Base], site: ErasedSite) -> str:
    table, file = model.__tablename__, _file(release, model)
    if model is Site:
        return f"SELECT * FROM {file} WHERE NOT {site.is_own('host')}"  # noqa: S608  # our own SQL
    if model not in OBSERVATIONS:
        return f"SELECT * FROM {file}"  # noqa: S608  # our own SQL
    changes = site.changes(table, matches=MATCHES)
    replaced = ", ".join(f"{value} AS {column}" for column, value in changes.items())
    visit = "id" if model is OBSERVATIONS[0] else "visit_id"
    return f"SELECT * REPLACE ({replaced}) FROM {file} WHERE {visit} NOT IN (FROM own)"  # noqa: S608  # our own SQL


def lay_tombstone(folder: Path, crawl: CrawlName, *, version: int) -> None:
    """Replace a version: write the tombstone, then remove the manifest, then all other files."""
    with put_file_in_place(folder / TOMBSTONE, beside=folder) as half:
        half.write_text(tombstone(crawl, version=version), encoding="utf-8")
    (folder / MANIFEST).unlink(missing_ok=True)
    flush(folder)
    for path in folder.iterdir():
        if path.name != TOMBSTONE:
            path.unlink()


def tombstone(crawl: CrawlName, *, version: int) -> str:
    """Return a tombstone, which says nothing about the site."""
    facts = {"crawl": dataclasses.asdict(crawl), "version": version, "withdrawn": ERASED}
    return json.dumps(facts, indent=2, sort_keys=True) + "\n"


def finish_tombstones(root: Path) -> None:
    """Complete the withdrawals that a killed process left unfinished."""
    for folder in release_folders(root):
        if (folder / TOMBSTONE).exists() and [path.name for path in folder.iterdir()] != [TOMBSTONE]:
            withdrawn = read_version(folder)
            lay_tombstone(folder, withdrawn.crawl, version=withdrawn.version)


def _file(release: Release, model: type[Base]) -> str:
    quoted = str(release.file(model.__tablename__)).replace("'", "''")
    return f"read_parquet('{quoted}', hive_partitioning = false)"
