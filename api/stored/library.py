"""The releases and reports on disk that the service reads,
found by name and never by a path from a request."""

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from api.caching import Bounded
from api.computing import Stopped, current, too_costly
from api.http.problems import Problem
from api.stored.inspection import Inspection, Sums
from api.stored.shelf import Shelf, Version, Volume
from releases.catalogue import iter_versions
from releases.errata.stored import folders
from storage.exhaustion import Exhausted, is_exhaustion
from storage.progress import read_progress
from storage.report_versions import all_report_versions
from storage.steps import read_steps

LOOKED_AT_EVERY_S = 1.0
"""Interval at which the folders are scanned again, in seconds: new publications appear without a restart."""

VISITS = "visit.parquet"

OUT_OF_MEMORY = "Out of Memory Error"
"""Begin of DuckDB's message where a query takes more than its memory limit."""

HELD_BYTES = 256 * 1024 * 1024
"""Maximum size of what is kept in memory of the releases: CDFs, items, samples and tables of sites."""


class Library:
    """Scans the folders at most once per interval, and compares every file with its checksum once."""

    def __init__(
        self,
        releases: Path,
        reports: Path,
        *,
        progress: Path | None = None,
        allowed_signers: Path | None = None,
        every_s: float = LOOKED_AT_EVERY_S,
    ) -> None:
        """The folders may be empty or missing."""
        self.held: Bounded[Any] = Bounded(HELD_BYTES)
        """What was read of releases and computed from them, by its kind and the checksums of its files."""
        self._sums = Sums()
        self._inspection = Inspection(self._sums, allowed_signers)
        self._releases = releases
        self._reports = reports
        self._progress = progress
        self._every_s = every_s
        self._looking = threading.Lock()
        self._shelf: Shelf | None = None
        self._looked_at = 0.0

    @property
    def recent(self) -> Shelf | None:
        """The last shelf, if it is fresh or a scan is running; None otherwise."""
        return self._shelf if self._is_fresh or self._looking.locked() else None

    def shelf(self) -> Shelf:
        """The current shelf; scans the folders unless the last scan is fresh."""
        shelf = self._shelf
        # While one thread scans, the others use the last shelf; they wait only for the very first scan.
        if self._looking.acquire(blocking=shelf is None):
            try:
                shelf = self._shelf
                if shelf is None or not self._is_fresh:
                    shelf = self._shelf = self._look_again(shelf)
                    self._looked_at = time.monotonic()
            finally:
                self._looking.release()
        assert shelf is not None
        return shelf

    @property
    def _is_fresh(self) -> bool:
        return time.monotonic() - self._looked_at < self._every_s

    def file(self, volume: Volume, name: str) -> tuple[Path, str]:
        """A file's path and current checksum; Problem unless the checksum is the one in SHA256SUMS."""
        current().check()
        expected = volume.files.get(name)
        if expected is None:
            raise Problem("no-such-file", f"there is no file {name!r}")
        path = volume.path / name
        try:
            checksum = self._sums.of(path)
        except OSError as exc:
            raise Problem("damaged-file", f"{name} is missing or cannot be read") from exc
        if expected and checksum != expected:
            raise Problem("damaged-file", f"{name} is not the file that was published")
        return path, checksum

    def _look_again(self, last: Shelf | None) -> Shelf:
        """A new scan; the last shelf where no descriptor is left for one."""
        try:
            return self._look()
        except (Exhausted, OSError) as exc:
            if last is None or not is_exhaustion(exc):
                raise
            return last

    def _look(self) -> Shelf:
        with self._inspection as inspection:
            versions = [inspection.version(release) for release in iter_versions(self._releases)]
            reports = [
                inspection.report(report_version) for report_version in all_report_versions(self._reports)
            ]
            errata = [inspection.erratum(folder) for folder in reversed(folders(self._releases))]
        versions.sort(key=lambda version: version.version, reverse=True)
        versions.sort(key=lambda version: str(version.crawl))
        versions.sort(key=lambda version: version.crawl.month, reverse=True)
        reports.sort(key=lambda report: (report.of_year, not report.is_edition, report.version), reverse=True)
        progress = () if self._progress is None else tuple(read_progress(self._progress))
        return Shelf(
            versions=tuple(versions),
            reports=tuple(reports),
            progress=progress,
            errata=tuple(errata),
            steps=() if self._progress is None else read_steps(self._progress),
        )


@contextlib.contextmanager
def raise_damage(*names: str) -> Iterator[None]:
    """Within the block, tables of a release that cannot be read are a Problem; `names` are their files.

    Stopped where the computation was, and the query with it, or took too much memory.
    """
    try:
        yield
    except (OSError, KeyError, duckdb.Error, pa.ArrowException) as exc:
        current().check()
        # Arrow makes an error of its own of DuckDB's, whose text it keeps.
        if str(exc).startswith(OUT_OF_MEMORY):
            raise Stopped(too_costly("more memory than the queries of all readers have together")) from exc
        raise Problem("damaged-release", f"{' or '.join(names)} cannot be read") from exc


def observed(library: Library, version: Version) -> str:
    """The first and the last day (UTC) on which visits of a release began, as 2026-11-02/2026-11-05,
    or the one day.

    Without the table `visit`, or without a visit in it, it is the month of the crawl.
    """
    if VISITS not in version.files:
        return version.crawl.month
    path, _ = library.file(version, VISITS)
    with raise_damage(VISITS), pq.ParquetFile(path) as file:
        began = file.read(columns=["started_at"])["started_at"]
    ends = pc.min_max(began).as_py()
    if ends["min"] is None:
        return version.crawl.month
    days = dict.fromkeys(f"{ends[end]:%Y-%m-%d}" for end in ("min", "max"))
    return "/".join(days)
