"""Files that are made of each release once, and that the service maps instead of reading the release.

A release has a folder, by where it is, its checksum and the version of the code. `python -m
api.stored.prepared RELEASE FOLDER` makes the files of one release, in a process of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from api.code_version import code_version
from api.processes import END_WITH_PARENT, stopped
from recordings.pages.same_sites import sites_of
from releases.catalogue import read_release
from releases.first_flights import FlightConnection, FlightResponse
from releases.strata import bootstrap
from releases.strata.cells import read_items
from schema.computed_tables import MEASURES
from schema.recorded import released_schema
from storage.staging import put_new
from storage.sums import broken_sums, seal

if TYPE_CHECKING:
    from api.stored.shelf import Shelf, Version

T = TypeVar("T")

LOG = logging.getLogger(__name__)

ITEMS, SITES = "items", "sites"
"""Items, with a folder for each measure, and rows by visit."""

LOOKED_AT_EVERY_S = 10.0
"""Seconds; 1 s while some are not compared yet."""

MOST_ITEMS = 16_000_000
"""Reading a measure's items takes some 65 bytes each, 1 GB in all."""

LOW_PRIORITY = 10
"""nice(2): a tenth of the processor where answers want all of it."""


BATCH_ROWS = 4_096
"""Read whole to find one row."""

HOSTS = "hosts.arrow"

DOCUMENT = (
    *("host", "protocol", "first_flight_bytes"),
    *("initial_window_segments", "initial_window_most_segments", "initial_window_unknown"),
)

SITE_COLUMNS = {
    "visit": (
        *("id", "rank", "page_kind", "load", "attempt", "is_final", "outcome", "status", "final_scheme"),
        *("final_host", "started_at", "load_us", "largest_contentful_paint_us", "received_bytes"),
        "main_response_id",
    ),
    "connection": tuple(dict.fromkeys((*FlightConnection._fields, *DOCUMENT, "response_count"))),
    "response": (*FlightResponse._fields, "connection_id"),
}

KEYS = {"visit": "id", "connection": "visit_id", "response": "visit_id"}


class Prepared:
    """Reads prepared files. A release whose files are not there, or cannot be read,
    is read from its Parquet by others."""

    def __init__(self, folder: Path, releases: Path) -> None:
        """Files of releases; nothing is there until `add` says so."""
        self.folder = folder
        # Services of other releases may have the same cache folder.
        self._owner = hashlib.sha256(str(releases.absolute()).encode()).hexdigest()[:8]
        self._code = code_version()[:16]
        self._there: set[str] = set()

    def path_of(self, version: Version) -> Path:
        return self.folder / f"{self._owner}-{version.checksum}-{self._code}"

    def has(self, version: Version) -> bool:
        """Return whether a release's files are whole and compared."""
        return self.path_of(version).name in self._there

    def add(self, version: Version) -> None:
        self._there.add(self.path_of(version).name)

    def remove_all_but(self, versions: Iterable[Version]) -> None:
        """Remove other releases and other code: what was withdrawn is not kept."""
        names = {self.path_of(version).name for version in versions}
        self._there &= names
        for path in self.folder.glob(f"{self._owner}-*"):
            if path.name not in names:
                shutil.rmtree(path, ignore_errors=True)

    def read(self, version: Version, read: Callable[[Path], T]) -> T | None:
        """What `read` finds; None if the folder is missing, removed or damaged."""
        if not self.has(version):
            return None
        try:
            return read(self.path_of(version))
        except FileNotFoundError:  # the release has too many items
            return None
        except (OSError, ValueError, pa.ArrowException) as exc:
            LOG.warning("prepared files of %s are not read any more: %s", version.crawl, exc)
            self._there.discard(self.path_of(version).name)
            return None


async def keep_prepared(prepared: Prepared, look: Callable[[], Shelf]) -> None:
    refused: set[str] = set()
    while True:
        try:
            versions = (await asyncio.to_thread(look)).versions
            sound = [version for version in versions if version.is_sound]
            await asyncio.to_thread(prepared.remove_all_but, sound)
        except OSError as exc:
            LOG.warning("releases are not prepared for now: %s", exc)
            await asyncio.sleep(LOOKED_AT_EVERY_S)
            continue
        await _prepare_the_next(prepared, sound, refused)


async def _prepare_the_next(prepared: Prepared, sound: Sequence[Version], refused: set[str]) -> None:
    """Prepare the next release, or wait; `refused` failed before."""
    following = next(
        (
            version
            for version in sound
            if version.is_checked and not prepared.has(version) and version.checksum not in refused
        ),
        None,
    )
    if following is None:
        await asyncio.sleep(LOOKED_AT_EVERY_S if all(version.is_checked for version in sound) else 1)
    elif (complaint := await _prepare(prepared, following)) is None:
        if (prepared.path_of(following) / ITEMS).exists():
            await asyncio.to_thread(bootstrap.draw)
        prepared.add(following)
    else:
        refused.add(following.checksum)
        LOG.warning("%s cannot be prepared, and is read more slowly: %s", following.crawl, complaint)


async def _prepare(prepared: Prepared, version: Version) -> str | None:
    """Prepare a release in a process of its own; the complaint if it fails."""
    folder = prepared.path_of(version)
    call = (sys.executable, "-m", "api.stored.prepared", str(version.path), str(folder))
    try:
        process = await asyncio.create_subprocess_exec(
            *(*END_WITH_PARENT, *call),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as exc:
        return str(exc)
    try:
        _, errors = await process.communicate()
    finally:
        # A later process removes the files that this one leaves half-made.
        await stopped(process)
    if process.returncode == 0:
        return None
    lines = errors.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"the process ended with {process.returncode}"


def prepare(release: Path, folder: Path) -> None:
    """Make a release's files in `folder`, unless they are whole.

    Too many items are left out. OSError, ArrowException, KeyError or ReleaseError.
    """
    if folder.exists():
        if not broken_sums(folder):
            return
        shutil.rmtree(folder)
    with put_new(folder) as unfinished:
        items = release / "item.parquet"
        if pq.read_metadata(items).num_rows <= MOST_ITEMS:
            names = sites_of(read_release(release))
            (unfinished / ITEMS).mkdir()
            for measure in MEASURES:
                read_items(items, measure, names).save(unfinished / ITEMS / measure)
        (unfinished / SITES).mkdir()
        write_site_rows(release, unfinished / SITES)
        seal(unfinished, {})


def write_site_rows(folder: Path, into: Path) -> None:
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    for table, key in KEYS.items():
        declared = released_schema(table, "web")
        names = dict.fromkeys((key, *SITE_COLUMNS[table]))
        schema = pa.schema([declared.field(name).with_nullable(True).remove_metadata() for name in names])
        first_visits = []
        with (
            pq.ParquetFile(folder / f"{table}.parquet") as source,
            pa.ipc.new_file(into / f"{table}.arrow", schema, options=options) as writer,
        ):
            for batch in source.iter_batches(BATCH_ROWS, columns=list(names)):
                columns = [batch[field.name].cast(field.type) for field in schema]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
                first_visits.append(batch[key][0].as_py())
        np.save(into / f"{table}.npy", np.array(first_visits, np.int64), allow_pickle=False)
    with pq.ParquetFile(folder / "visit.parquet") as source:
        hosts = source.read(columns=["host", "id"]).replace_schema_metadata()
    with pa.ipc.new_file(into / HOSTS, hosts.schema) as writer:
        writer.write_table(hosts)


def visits_of(folder: Path, host: str) -> list[int]:
    with pa.memory_map(str(folder / HOSTS)) as file, pa.ipc.open_file(file) as reader:
        hosts = reader.read_all()
        return hosts.filter(pc.equal(hosts["host"], host))["id"].to_pylist()  # type: ignore[no-any-return]


Row = dict[str, Any]
"""Those columns of a row of a release that were asked for, by name."""


def rows_of(folder: Path, table: str, visit: int) -> list[Row]:
    """SITE_COLUMNS of a visit's rows; OSError, ValueError or ArrowException."""
    first_visits = np.load(folder / f"{table}.npy", mmap_mode="r")
    # A visit's rows may begin within the batch before the first that begins with it.
    begin = max(0, int(np.searchsorted(first_visits, visit, "left")) - 1)
    end = int(np.searchsorted(first_visits, visit, "right"))
    columns: Sequence[str] = SITE_COLUMNS[table]
    with pa.memory_map(str(folder / f"{table}.arrow")) as file, pa.ipc.open_file(file) as reader:
        batches = map(reader.get_batch, range(begin, end))
        matching = [batch.filter(pc.equal(batch[KEYS[table]], visit)).select(columns) for batch in batches]
        return [row for batch in matching for row in batch.to_pylist()]


def main() -> None:
    os.nice(LOW_PRIORITY)
    release, folder = sys.argv[1:]
    prepare(Path(release), Path(folder))


if __name__ == "__main__":
    main()
