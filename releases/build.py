"""Builds a release from a sealed crawl in PostgreSQL: immutable Parquet with distributions and checksums."""

import contextlib
import dataclasses
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
from sqlalchemy import Engine, func, select

from releases import parquet
from releases.catalogue import (
    Damaged,
    Manifest,
    Release,
    ReleaseError,
    VersionRecord,
    Withdrawn,
    iter_versions,
    read_version,
)
from releases.descriptions.history import add_date, version_history
from releases.descriptions.write import describe
from releases.measures import MODEL_IW, MODEL_MSS, open_database
from releases.observations import crawl_column, open_adbc, read_rows, table_of
from releases.strata.items import compute_distribution, write_items
from releases.strata.party import list_version
from schema.arrow import arrow_schema
from schema.authors import Author
from schema.computed_tables import DISTRIBUTION, SIZES
from schema.crawls import CrawlName, name_of
from schema.dictionary import dictionary
from schema.http_caching import LIFETIMES
from schema.recorded import PAGES, Notes, is_recorded
from schema.tables import RELEASED, SCHEMA_VERSION, Crawl, SiteList
from schema.vocabulary import (
    CONSENTS,
    INITIAL_WINDOW_UNKNOWN,
    OUTCOMES,
    SIZE_BASES,
    WALLS,
    WIRE_BYTES_UNKNOWN,
)
from storage.crawls import find_crawl, find_old_list_month
from storage.modes import UnsafeFolder
from storage.packet_audit import QUERY, PacketAudit
from storage.partitions import DETACHABLE, attached_partitions
from storage.signatures import Signer
from storage.staging import flush, staging
from storage.sums import MANIFEST, SIGNATURE, broken_sums, seal, sums_now

LICENCE = "CC-BY-4.0"

MODEL = {"initial_window_segments": MODEL_IW, "segment_bytes": MODEL_MSS}
"""Window model by which responses count as IW-limited, in the metadata of `distribution`."""


@dataclasses.dataclass(frozen=True, slots=True)
class Built:
    """The result of a build."""

    release: Release
    is_new: bool
    """False if the same release, byte for byte, was there."""


def count_rows(engine: Engine, crawl_id: int) -> dict[str, int]:
    counts = {}
    with engine.connect() as connection:
        for table in map(table_of, RELEASED):
            of_crawl = table.columns[crawl_column(table)] == crawl_id
            query = select(func.count()).select_from(table).where(of_crawl)
            counts[table.name] = connection.scalar(query) or 0
    return counts


def detached_tables(engine: Engine, crawl_id: int) -> list[str]:
    with engine.connect() as connection:
        partitions = attached_partitions(connection, crawl_id)
    return [name for name in DETACHABLE if name not in partitions]


def build(
    engine: Engine,
    crawl: str,
    root: Path,
    *,
    version: int | None = None,
    reason: str | None = None,
    authors: tuple[Author, ...] = (),
    signer: Signer | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Built:
    """Build the release of the sealed crawl that `crawl` names, below `root`.

    `version` is by default the newest existing version, or 1. An existing version is compared and never
    rewritten; an unsigned one is signed by `signer`. A new version after the first needs a `reason`.
    `progress` is called with the rows done and the total. ReleaseError, storage.crawls.CrawlNotFound or
    storage.engine.DatabaseError leave nothing behind; after storage.signatures.SigningFailed the release
    exists unsigned.
    """
    with engine.connect() as connection:
        row = find_crawl(connection, crawl)
        site_list = connection.execute(
            select(SiteList.checksum).where(SiteList.id == row.list_id)
        ).scalar_one()
        old_list_month = find_old_list_month(connection, row)
    name = name_of(row)
    if row.sealed_at is None:
        raise ReleaseError(f"{name} is still open: run `firstflight crawl seal --crawl {name}` first")
    if lacking := detached_tables(engine, row.id):
        raise ReleaseError(
            f"the observations of {name} exist only in its release: its partitions of "
            f"{' and '.join(lacking)} are detached"
        )
    chosen = version if version is not None else newest_version(root, name)
    history = version_history(root, name, version=chosen, reason=reason)
    with new_folder(root) as folder:
        rows = _write_tables(engine, row.id, folder, progress)
        rows |= write_computed(folder, name.kind)
        write_dictionary(folder, name.kind)
        facts = {column.name: getattr(row, column.name) for column in Crawl.__table__.columns}
        manifest = make_manifest(
            facts, folder, history=history, rows=rows, list_checksum=site_list, authors=authors
        )
        manifest = dataclasses.replace(manifest, old_list_month=old_list_month)
        return finish(folder, manifest, name.path(root, version=chosen), signer=signer)


def newest_version(root: Path, name: CrawlName) -> int:
    """Return the highest existing version, damaged and withdrawn ones too; 1 if there is none."""
    return max((release.version for release in iter_versions(root) if release.crawl == name), default=1)


@contextlib.contextmanager
def new_folder(root: Path) -> Iterator[Path]:
    """Provide a folder for a new release, removed unless `finish` moves it; errors of writing are
    ReleaseError.
    """
    try:
        with staging(root) as stage:
            folder = stage / "release"
            folder.mkdir()
            folder.chmod(0o755)  # regardless of the umask: the service may run as another user
            yield folder
    except UnsafeFolder as exc:
        raise ReleaseError(str(exc)) from exc
    except (OSError, duckdb.IOException, duckdb.OutOfMemoryException) as exc:
        number = getattr(exc, "errno", None)
        problem = os.strerror(number) if number else str(exc).split("\n", 1)[0]
        raise ReleaseError(
            f"the release cannot be written below {root} ({problem}); nothing was left: "
            "make room there and build again"
        ) from exc


def _write_tables(
    engine: Engine, crawl_id: int, folder: Path, progress: Callable[[int, int], None]
) -> dict[str, int]:
    """Write the observation tables; return rows by table."""
    total = sum(count_rows(engine, crawl_id).values())
    done = 0
    rows = {}

    def wrote(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total)

    with open_adbc(engine) as connection:
        for model in RELEASED:
            table = table_of(model)
            with read_rows(connection, model, crawl_id=crawl_id) as pieces:
                rows[table.name] = parquet.write(
                    folder / f"{table.name}.parquet",
                    pieces,
                    arrow_schema(table),
                    sorted_by=[column.name for column in table.primary_key.columns],
                    wrote=wrote,
                )
    return rows


def write_computed(folder: Path, kind: str) -> dict[str, int]:
    """Compute and write the items and the distributions of a folder; return rows by table."""
    items = write_items(folder, is_ranked=not is_recorded(kind))
    return {"item": items, "distribution": write_distribution(folder)}


def write_distribution(folder: Path) -> int:
    metadata = DISTRIBUTION.metadata | {key.encode(): str(value).encode() for key, value in MODEL.items()}
    schema = DISTRIBUTION.with_metadata(metadata)
    steps = (piece.cast(schema) for piece in compute_distribution(folder))
    return parquet.write(folder / "distribution.parquet", steps, schema, sorted_by=["measure", "size_bytes"])


def write_dictionary(folder: Path, kind: str, notes: Notes = PAGES) -> None:
    """Write dictionary.json, the meaning of every name in a release of this kind."""
    held = {model.__tablename__ for model in RELEASED} | {"item", "distribution"}
    content = {
        "tables": {name: table for name, table in dictionary(kind, notes).items() if name in held},
        "measures": SIZES,
        "outcomes": OUTCOMES,
        "walls": WALLS,
        "consents": CONSENTS,
        "wire_bytes_unknown": WIRE_BYTES_UNKNOWN,
        "size_basis": SIZE_BASES,
        "initial_window_unknown": INITIAL_WINDOW_UNKNOWN,
        "lifetimes": LIFETIMES,
        "model": MODEL,
    }
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    (folder / "dictionary.json").write_text(text, encoding="utf-8")


def make_manifest(
    crawl: Mapping[str, Any],
    folder: Path,
    *,
    history: tuple[VersionRecord, ...],
    rows: dict[str, int],
    list_checksum: str,
    authors: tuple[Author, ...],
    recorded_by: tuple[Author, ...] = (),
) -> Manifest:
    """Return the manifest of the release in `folder`, of a row of the table `crawl`.

    It describes the crawl, not the build, so that a later build gives the same bytes.
    """
    return Manifest(
        crawl=name_in(crawl),
        version=history[-1].version,
        schema_version=SCHEMA_VERSION,
        method_version=crawl["method_version"],
        commit=crawl["commit"],
        browser=crawl["browser"] or "unknown",
        list_id=crawl["list_id"],
        list_checksum=list_checksum,
        licence=LICENCE,
        rows=rows,
        files=sums_now(folder),
        packets=packets_of(folder / "connection.parquet"),
        history=history,
        public_suffix_list=list_version(),
        authors=authors,
        recorded_by=recorded_by,
    )


def name_in(crawl: Mapping[str, Any]) -> CrawlName:
    return CrawlName(**{field.name: crawl[field.name] for field in dataclasses.fields(CrawlName)})


def packets_of(connections: Path) -> dict[str, int]:
    query = QUERY.format(source="read_parquet($path, hive_partitioning = false)")
    with open_database() as database:
        (counts,) = database.execute(query, {"path": str(connections)}).fetchall()
    names = [field.name for field in dataclasses.fields(PacketAudit)]
    return dict(zip(names, counts, strict=True))


def finish(folder: Path, manifest: Manifest, place: Path, *, signer: Signer | None = None) -> Built:
    """Seal a complete folder, move it to `place` or compare it with the version there, and sign it.

    A version that is there keeps its authors, whatever the operator's CITATION.cff says now.
    """
    existing = read_version(place)
    authors = existing.manifest.authors if isinstance(existing, Release) else manifest.authors
    manifest = dataclasses.replace(manifest, history=add_date(manifest.history, folder), authors=authors)
    describe(folder, manifest, like=place)
    manifest = dataclasses.replace(manifest, files=sums_now(folder))
    seal(folder, manifest.facts)
    built = _publish(Release(folder, manifest), place)
    if signer is not None and not (built.release.path / SIGNATURE).exists():
        signer.sign(built.release.path)
    return built


def _publish(built: Release, place: Path) -> Built:
    for path in [*built.path.iterdir(), built.path]:
        flush(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.exists():
        built.path.rename(place)
        flush(place.parent)
        return Built(Release(place, built.manifest), is_new=True)
    return Built(_same(built, place), is_new=False)


def _same(built: Release, place: Path) -> Release:
    """Return the release at `place` if it equals the built one; ReleaseError otherwise."""
    existing, version = read_version(place), built.version
    if isinstance(existing, Withdrawn):
        raise ReleaseError(
            f"version {version} of {built.crawl} is withdrawn: "
            f"build it anew with --version {version + 1} --reason"
        )
    broken = [MANIFEST] if isinstance(existing, Damaged) else broken_sums(place)
    if broken or isinstance(existing, Damaged):
        raise ReleaseError(
            f"{place} is damaged ({', '.join(broken)}): restore it from a copy, "
            "or move it away and build again"
        )
    if existing.checksum != built.checksum:
        raise ReleaseError(
            f"version {version} of {built.crawl} is released and would not be the same now;"
            f" a release is never changed: build it anew with --version {version + 1} --reason"
        )
    return existing
