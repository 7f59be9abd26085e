"""The releases and reports on disk that the service reads, found by name and never by a path from a request,
and what is kept in memory of them: to read it takes a hundred times as long as an answer."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from api.caching import Bounded
from api.computing import Stopped, current, in_turn, too_costly
from api.http.problems import Problem
from api.stored.inspection import Inspection, Sums
from api.stored.prepared import ITEMS, Prepared
from api.stored.shelf import Shelf, Version, Volume
from recordings.pages.same_sites import sites_of
from releases.catalogue import iter_versions
from releases.cdf import Counts, read_counts
from releases.errata import folders
from releases.strata.cells import Items, read_items
from releases.strata.sample import Sample, Stratum
from storage.exhaustion import Exhausted, is_exhaustion
from storage.progress import read_progress
from storage.report_versions import all_report_versions
from storage.steps import read_steps

T = TypeVar("T")

LOOKED_AT_EVERY_S = 1.0

OUT_OF_MEMORY = "Out of Memory Error"

KEPT_BYTES = 256 * 1024 * 1024
"""Most bytes kept of releases: CDFs, items, samples and tables of sites."""

POINTS_KEPT = 4000

PERCENTS = (5, 10, 25, 50, 75, 90, 95, 99)

DISTRIBUTION, ITEM, SITE, VISITS = "distribution.parquet", "item.parquet", "site.parquet", "visit.parquet"


@dataclasses.dataclass(frozen=True)
class Points:
    """A thinned CDF: steps of the exact CDF, including the first and the last."""

    steps: list[tuple[int, float]]

    @functools.cached_property
    def json(self) -> str:
        """The steps as JSON: thousands of points, the same for every window and segment size."""
        named = [{"size_bytes": size, "cdf": cdf} for size, cdf in self.steps]
        return json.dumps(named, separators=(",", ":"))


@dataclasses.dataclass(frozen=True, eq=False)
class KeptSample:
    """A sample, with what was computed of it that depends on no window."""

    sample: Sample
    _thinned: Bounded[Points] = dataclasses.field(default_factory=lambda: Bounded(POINTS_KEPT), repr=False)

    def points(self, number: int) -> Points:
        thinned = self.sample.cdf.thinned
        return self._thinned.kept(
            number, lambda: Points(thinned(number)), size=lambda points: len(points.steps)
        )

    @functools.cached_property
    def quantiles(self) -> list[tuple[int, int, int | None, int | None]]:
        """(percent, size, lower and upper end, in bytes) of PERCENTS."""
        sample = self.sample
        ends: Sequence[tuple[int | None, int | None]] = [(None, None)] * len(PERCENTS)
        if sample.has_intervals:
            ends = sample.quantile_intervals(list(PERCENTS))
        return [
            (percent, sample.cdf.quantile(percent), *interval)
            for percent, interval in zip(PERCENTS, ends, strict=True)
            if sample.cdf.known
        ]


class OpenReleases:
    """Scans the folders at most once an interval, compares every file once, and keeps what was read, by
    checksums.
    """

    def __init__(
        self,
        releases: Path,
        reports: Path,
        *,
        progress: Path | None = None,
        allowed_signers: Path | None = None,
        prepared: Path | None = None,
        every_s: float = LOOKED_AT_EVERY_S,
    ) -> None:
        """Scan folders that may be missing; without `prepared` files, strata and sites are read more
        slowly.
        """
        self.prepared = Prepared(prepared, releases) if prepared else None
        self.opened: Bounded[Any] = Bounded(KEPT_BYTES)
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
        return self._shelf if self._is_fresh or self._looking.locked() else None

    def shelf(self) -> Shelf:
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
        """A file's path and checksum; Problem unless it is that of SHA256SUMS."""
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

    def read_prepared(self, version: Version, read: Callable[[Path], T]) -> T | None:
        return None if self.prepared is None else self.prepared.read(version, read)

    def counts(self, version: Version) -> dict[str, Counts]:
        """Items of every measure; Problem if the file is not the published one."""
        path, checksum = self.file(version, DISTRIBUTION)
        with raise_damage(DISTRIBUTION):
            counts: dict[str, Counts] = self.opened.kept((checksum,), lambda: read_counts(path), size=len)
        return counts

    async def counts_at_hand(self, version: Version) -> dict[str, Counts]:
        """`counts`, without another thread if in memory."""
        kept: dict[str, Counts] | None = self._in_memory(version, DISTRIBUTION)
        return await in_turn(self.counts)(version) if kept is None else kept

    def sample(self, version: Version, measure: str, stratum: Stratum) -> KeptSample:
        """A sample of a release; Problem if its file is not the published one."""
        _, checksum = self.file(version, ITEM)
        with raise_damage(ITEM, SITE):
            sample: KeptSample = self.opened.kept(
                (checksum, measure, stratum),
                lambda: KeptSample(self._items(version, measure).sample(stratum)),
                size=lambda kept: kept.sample.nbytes,
            )
        return sample

    def count_by(
        self, version: Version, measure: str, dimension: str, stratum: Stratum
    ) -> dict[str | int, int]:
        """A stratum's items of known size by the values of a dimension; Problem."""
        self.file(version, ITEM)
        with raise_damage(ITEM, SITE):
            return self._items(version, measure).count_by(dimension, stratum)

    def _items(self, version: Version, measure: str) -> Items:
        """A measure's items: from prepared files, or from the table, which takes far longer."""
        path, checksum = self.file(version, ITEM)
        prepared = self.read_prepared(version, lambda folder: Items.load(folder / ITEMS / measure))
        items: Items = prepared or self.opened.kept(
            (checksum, measure),
            lambda: read_items(path, measure, self._sites(version)),
            size=lambda items: items.nbytes,
        )
        return items

    async def sample_at_hand(self, version: Version, measure: str, stratum: Stratum) -> KeptSample:
        """`sample`, without another thread if in memory."""
        kept: KeptSample | None = self._in_memory(version, ITEM, measure, stratum)
        return await in_turn(self.sample)(version, measure, stratum) if kept is None else kept

    def _in_memory(self, version: Version, name: str, *key: Hashable) -> Any:  # noqa: ANN401  # what was kept
        """What is in memory of a checked release."""
        checksum = version.readable.manifest.files.get(name, "")
        return self.opened.get((checksum, *key)) if version.is_checked else None

    def observed(self, version: Version) -> str:
        """First and last day (UTC) of visits, as 2026-11-02/2026-11-05, or the one day; without visits the
        month.
        """
        if VISITS not in version.files:
            return version.crawl.month
        path, _ = self.file(version, VISITS)
        with raise_damage(VISITS), pq.ParquetFile(path) as file:
            began = file.read(columns=["started_at"])["started_at"]
        ends = pc.min_max(began).as_py()
        if ends["min"] is None:
            return version.crawl.month
        days = dict.fromkeys(f"{ends[end]:%Y-%m-%d}" for end in ("min", "max"))
        return "/".join(days)

    def _sites(self, version: Version) -> pa.Table:
        self.file(version, SITE)
        named: pa.Table = self.opened.kept(
            (version.checksum, SITE), lambda: sites_of(version.readable), size=lambda named: named.nbytes
        )
        return named

    def _look_again(self, last: Shelf | None) -> Shelf:
        """A new scan; the last shelf without descriptors for one."""
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
    """Turn unreadable tables into a Problem; `names` are their files.

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
