"""Counts and samples of recently requested releases, in memory:
reading them takes a hundred times as long as an answer."""

from __future__ import annotations

import dataclasses
import functools
import json
import threading
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pyarrow as pa
from fastapi.concurrency import run_in_threadpool

from api.caching import Bounded
from api.http.problems import Problem
from api.stored.library import Library
from api.stored.prepared import Prepared
from api.stored.shelf import Version
from releases.cdf import Counts, read_counts
from releases.strata.cells import Items, read_items
from releases.strata.sample import Sample, Stratum

POINTS_HELD = 4000
"""Points of thinned CDFs kept for each sample."""

PERCENTS = (5, 10, 25, 50, 75, 90, 95, 99)
"""Quantiles of a distribution, in percent."""

DISTRIBUTION, ITEM = "distribution.parquet", "item.parquet"


@dataclasses.dataclass(frozen=True, slots=True)
class Points:
    """A thinned CDF: steps of the exact CDF, including the first and the last."""

    steps: list[tuple[int, float]]
    """(size in bytes, share of at most that size)."""
    json: str
    """The steps as JSON: an answer has thousands of points,
    which are the same for every window and segment size."""


@dataclasses.dataclass(frozen=True, eq=False)
class HeldSample:
    """A sample, with what was computed of it that depends on no window."""

    sample: Sample
    _thinned: Bounded[Points] = dataclasses.field(default_factory=lambda: Bounded(POINTS_HELD), repr=False)

    def points(self, number: int) -> Points:
        """The CDF thinned to about `number` steps."""
        points = self._thinned.get(number)
        if points is None:
            steps = self.sample.cdf.thinned(number)
            named = [{"size_bytes": size, "cdf": cdf} for size, cdf in steps]
            points = Points(steps, json.dumps(named, separators=(",", ":")))
            self._thinned.put(number, points, size=len(steps))
        return points

    @functools.cached_property
    def quantiles(self) -> tuple[tuple[int, int], ...]:
        """(percent, size in bytes) for each of PERCENTS; empty if no size is known."""
        cdf = self.sample.cdf
        return tuple((percent, cdf.quantile(percent)) for percent in PERCENTS) if cdf.known else ()

    @functools.cached_property
    def quantile_intervals(self) -> tuple[tuple[int, int], ...]:
        """The interval of each of `quantiles`, in bytes; empty if there are too few sites."""
        has_intervals = self.sample.has_intervals
        return tuple(self.sample.quantile_intervals(list(PERCENTS))) if has_intervals else ()


class HeldReleases:
    """Counts and samples of releases, kept by the checksum of the file that they were read from."""

    def __init__(self, library: Library, prepared: Prepared | None = None) -> None:
        """Read the releases in `library`, and their `prepared` files where there are any."""
        self._library = library
        self._prepared = prepared
        self._reading = threading.Lock()

    async def counts_at_hand(self, version: Version) -> dict[str, Counts]:
        """The same as `counts`, without another thread if they are in memory."""
        held: dict[str, Counts] | None = self._in_memory(version, DISTRIBUTION)
        return await run_in_threadpool(self.counts, version) if held is None else held

    async def sample_at_hand(self, version: Version, measure: str, stratum: Stratum) -> HeldSample:
        """The same as `sample`, without another thread if it is in memory."""
        held: HeldSample | None = self._in_memory(version, ITEM, measure, stratum)
        return await run_in_threadpool(self.sample, version, measure, stratum) if held is None else held

    def _in_memory(self, version: Version, name: str, *key: Hashable) -> Any:  # noqa: ANN401  # what was kept
        """What is in memory of a release whose files have been checked; None if nothing is."""
        checksum = version.readable.manifest.files.get(name, "")
        return self._library.held.get((checksum, *key)) if version.is_checked else None

    def counts(self, version: Version) -> dict[str, Counts]:
        """The numbers of items of every measure; Problem if the file is not the published one."""
        path, checksum = self._library.file(version, DISTRIBUTION)
        with self._reading:
            counts: dict[str, Counts] | None = self._library.held.get((checksum,))
            if counts is None:
                try:
                    counts = read_counts(path)
                except (OSError, pa.ArrowException, KeyError) as exc:
                    raise Problem("damaged-release", f"{DISTRIBUTION} cannot be read") from exc
                self._library.held.put((checksum,), counts, size=len(counts))
        return counts

    def sample(self, version: Version, measure: str, stratum: Stratum) -> HeldSample:
        """A sample of a release; Problem if its file is not the published one."""
        path, checksum = self._library.file(version, ITEM)
        with self._reading:  # reading takes more memory than the result, so one measure at a time
            key = checksum, measure, stratum
            held: HeldSample | None = self._library.held.get(key)
            if held is None:
                items = self._prepared.items(version, measure) if self._prepared else None
                if items is None:
                    items = self._from_table(path, checksum, measure)
                held = HeldSample(items.sample(stratum))
                self._library.held.put(key, held, size=held.sample.nbytes)
        return held

    def _from_table(self, path: Path, checksum: str, measure: str) -> Items:
        """The items of a measure in the release's table, which takes far longer than from prepared files."""
        key = checksum, measure
        items: Items | None = self._library.held.get(key)
        if items is None:
            try:
                items = read_items(path, measure)
            except (OSError, pa.ArrowException, KeyError) as exc:
                raise Problem("damaged-release", f"{ITEM} cannot be read") from exc
            self._library.held.put(key, items, size=items.nbytes)
        return items
