"""CDFs and samples of recently requested releases, in memory:
reading them takes a hundred times as long as an answer."""

import dataclasses
import json
import threading
from pathlib import Path

import pyarrow as pa
from fastapi.concurrency import run_in_threadpool

from api.caching import Bounded
from api.http.problems import Problem
from api.stored.library import Library
from api.stored.prepared import Prepared
from api.stored.shelf import Version
from releases.catalogue import Release
from releases.cdf import Cdf, read_cdfs
from releases.strata.cells import Items, read_items
from releases.strata.sample import Sample, Stratum

POINTS_HELD = 4000
"""Points of thinned CDFs kept for each measure."""

NAME = "item.parquet"


@dataclasses.dataclass(frozen=True, slots=True)
class Points:
    """A thinned CDF: steps of the exact CDF, including the first and the last."""

    steps: list[tuple[int, float]]
    """(size in bytes, share of at most that size)."""
    json: str
    """The steps as JSON: an answer has thousands of points,
    which are the same for every window and segment size."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class HeldCdf:
    """The CDF of one measure, with the thinned CDFs that were requested of it."""

    cdf: Cdf
    _thinned: Bounded[Points] = dataclasses.field(default_factory=lambda: Bounded(POINTS_HELD), repr=False)

    def points(self, number: int) -> Points:
        """The CDF thinned to about `number` steps."""
        found = self._thinned.get(number)
        if found is None:
            steps = self.cdf.thinned(number)
            named = [{"size_bytes": size, "cdf": cdf} for size, cdf in steps]
            found = Points(steps, json.dumps(named, separators=(",", ":")))
            self._thinned.put(number, found, size=len(steps))
        return found


class HeldCdfs:
    """CDFs by measure, kept by the checksum of the file that they were read from."""

    def __init__(self, library: Library, prepared: Prepared | None = None) -> None:
        """Hold the CDFs of releases in `library`, which are read from
        `prepared` files where there are any."""
        self._library = library
        self._prepared = prepared
        self._reading = threading.Lock()

    async def at_hand(self, version: Version) -> dict[str, HeldCdf]:
        """The CDFs of a release: immediately if they are in memory and the
        release's files have been checked."""
        release = version.readable
        key = "cdfs", release.manifest.files.get(_name(release))
        held: dict[str, HeldCdf] | None = self._library.held.get(key) if version.is_checked else None
        return await run_in_threadpool(self.of, version) if held is None else held

    def of(self, version: Version) -> dict[str, HeldCdf]:
        """The CDFs of a release; Problem if its file is not the published one."""
        name = _name(version.readable)
        path, checksum = self._library.file(version, name)
        with self._reading:  # reading takes more memory than the result, so one file at a time
            held: dict[str, HeldCdf] | None = self._library.held.get(("cdfs", checksum))
            if held is None:
                cdfs = self._prepared.cdfs(version) if self._prepared else None
                if cdfs is None:
                    cdfs = _from_table(path)
                held = {measure: HeldCdf(cdf) for measure, cdf in cdfs.items()}
                size = sum(cdf.nbytes for cdf in cdfs.values())
                self._library.held.put(("cdfs", checksum), held, size=size)
        return held


def _from_table(path: Path) -> dict[str, Cdf]:
    """The CDFs in the release's table, which takes far longer than from prepared files."""
    try:
        return read_cdfs(path)
    except (OSError, pa.ArrowException, KeyError) as exc:
        raise Problem("damaged-release", f"{path.name} cannot be read") from exc


def _name(release: Release) -> str:
    return release.file("distribution").name


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class HeldSample:
    """A sample, with the thinned CDFs that were requested of it."""

    sample: Sample
    held: HeldCdf


class HeldItems:
    """Samples, kept by the checksum of the file that they were read from."""

    def __init__(self, library: Library, prepared: Prepared | None = None) -> None:
        """Hold the samples of releases in `library`, which are read from
        `prepared` files where there are any."""
        self._library = library
        self._prepared = prepared
        self._reading = threading.Lock()

    async def at_hand(self, version: Version, measure: str, stratum: Stratum) -> HeldSample:
        """A sample of a release: immediately if it is in memory and the release's files have been checked."""
        checksum = version.readable.manifest.files.get(NAME, "")
        key = "sample", checksum, measure, stratum
        held: HeldSample | None = self._library.held.get(key) if version.is_checked else None
        return await run_in_threadpool(self.of, version, measure, stratum) if held is None else held

    def of(self, version: Version, measure: str, stratum: Stratum) -> HeldSample:
        """A sample of a release; Problem if its file is not the published one."""
        path, checksum = self._library.file(version, NAME)
        with self._reading:  # reading takes more memory than the result, so one measure at a time
            key = "sample", checksum, measure, stratum
            held: HeldSample | None = self._library.held.get(key)
            if held is not None:
                return held
            items = self._prepared.items(version, measure) if self._prepared else None
            if items is None:
                items = self._from_table(path, checksum, measure)
            sample = items.sample(stratum)
            held = HeldSample(sample, HeldCdf(sample.cdf))
            self._library.held.put(key, held, size=sample.nbytes)
        return held

    def _from_table(self, path: Path, checksum: str, measure: str) -> Items:
        """The items of a measure in the release's table, which takes far longer than from prepared files."""
        key = "items", checksum, measure
        items: Items | None = self._library.held.get(key)
        if items is None:
            try:
                items = read_items(path, measure)
            except (OSError, pa.ArrowException, KeyError) as exc:
                raise Problem("damaged-release", f"{NAME} cannot be read") from exc
            self._library.held.put(key, items, size=items.nbytes)
        return items
