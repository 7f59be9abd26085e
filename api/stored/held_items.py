"""Samples of recently requested releases by measure and stratum, in memory: reading them takes far longer than an answer."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path

import pyarrow as pa
from fastapi.concurrency import run_in_threadpool

from api.caching.bounded import Bounded
from api.http.problems import Problem
from api.stored.held_cdfs import HeldCdf
from api.stored.library import Library
from api.stored.prepared.store import Prepared
from api.stored.shelf import Version
from releases.strata.cells import Items, read_items
from releases.strata.sample import Sample, Stratum

ITEM_BYTES = 96 * 1024 * 1024
"""Maximum size of all items kept: about five million."""

SAMPLE_BYTES = 64 * 1024 * 1024
"""Maximum size of all samples kept."""

NAME = "item.parquet"


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class HeldSample:
    """A sample, with the thinned CDFs that were requested of it."""

    sample: Sample
    held: HeldCdf


class HeldItems:
    """Samples, kept by the checksum of the file that they were read from."""

    def __init__(self, library: Library, prepared: Prepared | None = None) -> None:
        """Hold the samples of releases in `library`, which are read from `prepared` files where there are any."""
        self._library = library
        self._prepared = prepared
        self._items: Bounded[Items] = Bounded(ITEM_BYTES)
        self._samples: Bounded[HeldSample] = Bounded(SAMPLE_BYTES)
        self._reading = threading.Lock()

    async def at_hand(self, version: Version, measure: str, stratum: Stratum) -> HeldSample:
        """A sample of a release: immediately if it is in memory and the release's files have been checked."""
        checksum = version.readable.manifest.files.get(NAME, "")
        found = self._samples.get((checksum, measure, stratum)) if version.is_checked else None
        return await run_in_threadpool(self.of, version, measure, stratum) if found is None else found

    def of(self, version: Version, measure: str, stratum: Stratum) -> HeldSample:
        """A sample of a release; Problem if its file is not the published one."""
        path, checksum = self._library.file(version, NAME)
        with self._reading:  # reading takes more memory than the result, so one measure at a time
            found = self._samples.get((checksum, measure, stratum))
            if found is not None:
                return found
            items = self._prepared.items(version, measure) if self._prepared else None
            if items is None:
                items = self._from_table(path, checksum, measure)
            sample = items.sample(stratum)
            found = HeldSample(sample, HeldCdf(sample.cdf))
            self._samples.put((checksum, measure, stratum), found, size=sample.nbytes)
        return found

    def _from_table(self, path: Path, checksum: str, measure: str) -> Items:
        """The items of a measure in the release's table, which takes far longer than from prepared files."""
        items = self._items.get((checksum, measure))
        if items is None:
            try:
                items = read_items(path, measure)
            except (OSError, pa.ArrowException, KeyError) as exc:
                raise Problem("damaged-release", f"{NAME} cannot be read") from exc
            self._items.put((checksum, measure), items, size=items.nbytes)
        return items
