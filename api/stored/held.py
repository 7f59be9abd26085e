"""Counts and samples of recently requested releases, in memory:
reading them takes a hundred times as long as an answer."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Hashable, Sequence
from typing import Any

import pyarrow as pa

from api.caching import Bounded
from api.computing import in_turn
from api.stored.library import Library, raise_damage
from api.stored.prepared import ITEMS, Prepared
from api.stored.shelf import Version
from recordings.pages.same_sites import sites_of
from releases.cdf import Counts, read_counts
from releases.strata.cells import Items, read_items
from releases.strata.sample import Sample, Stratum

POINTS_HELD = 4000
"""Points of thinned CDFs kept for each sample."""

PERCENTS = (5, 10, 25, 50, 75, 90, 95, 99)
"""Quantiles of a distribution, in percent."""

DISTRIBUTION, ITEM, SITE = "distribution.parquet", "item.parquet", "site.parquet"


@dataclasses.dataclass(frozen=True)
class Points:
    """A thinned CDF: steps of the exact CDF, including the first and the last."""

    steps: list[tuple[int, float]]
    """(size in bytes, share of at most that size)."""

    @functools.cached_property
    def json(self) -> str:
        """The steps as JSON: an answer has thousands of points,
        which are the same for every window and segment size."""
        named = [{"size_bytes": size, "cdf": cdf} for size, cdf in self.steps]
        return json.dumps(named, separators=(",", ":"))


@dataclasses.dataclass(frozen=True, eq=False)
class HeldSample:
    """A sample, with what was computed of it that depends on no window."""

    sample: Sample
    _thinned: Bounded[Points] = dataclasses.field(default_factory=lambda: Bounded(POINTS_HELD), repr=False)

    def points(self, number: int) -> Points:
        """The CDF thinned to about `number` steps."""
        thinned = self.sample.cdf.thinned
        return self._thinned.kept(
            number, lambda: Points(thinned(number)), size=lambda points: len(points.steps)
        )

    @functools.cached_property
    def quantiles(self) -> list[tuple[int, int, int | None, int | None]]:
        """(percent, size, lower and upper end of its interval, in bytes) for each of PERCENTS; empty if no
        size is known."""
        sample = self.sample
        ends: Sequence[tuple[int | None, int | None]] = [(None, None)] * len(PERCENTS)
        if sample.has_intervals:
            ends = sample.quantile_intervals(list(PERCENTS))
        return [
            (percent, sample.cdf.quantile(percent), *interval)
            for percent, interval in zip(PERCENTS, ends, strict=True)
            if sample.cdf.known
        ]


class HeldReleases:
    """Counts and samples of releases, kept by the checksum of the file that they were read from."""

    def __init__(self, library: Library, prepared: Prepared | None = None) -> None:
        """Read the releases in `library`, and their `prepared` files where there are any."""
        self._library = library
        self._prepared = prepared

    async def counts_at_hand(self, version: Version) -> dict[str, Counts]:
        """The same as `counts`, without another thread if they are in memory."""
        held: dict[str, Counts] | None = self._in_memory(version, DISTRIBUTION)
        return await in_turn(self.counts)(version) if held is None else held

    async def sample_at_hand(self, version: Version, measure: str, stratum: Stratum) -> HeldSample:
        """The same as `sample`, without another thread if it is in memory."""
        held: HeldSample | None = self._in_memory(version, ITEM, measure, stratum)
        return await in_turn(self.sample)(version, measure, stratum) if held is None else held

    def _in_memory(self, version: Version, name: str, *key: Hashable) -> Any:  # noqa: ANN401  # what was kept
        """What is in memory of a release whose files have been checked; None if nothing is."""
        checksum = version.readable.manifest.files.get(name, "")
        return self._library.held.get((checksum, *key)) if version.is_checked else None

    def counts(self, version: Version) -> dict[str, Counts]:
        """The numbers of items of every measure; Problem if the file is not the published one."""
        path, checksum = self._library.file(version, DISTRIBUTION)
        kept = self._library.held.kept
        with raise_damage(DISTRIBUTION):
            counts: dict[str, Counts] = kept((checksum,), lambda: read_counts(path), size=len)
        return counts

    def sample(self, version: Version, measure: str, stratum: Stratum) -> HeldSample:
        """A sample of a release; Problem if its file is not the published one."""
        path, checksum = self._library.file(version, ITEM)
        kept = self._library.held.kept

        def read() -> HeldSample:
            prepared = self._prepared and self._prepared.read(
                version, lambda folder: Items.load(folder / ITEMS / measure)
            )
            # From the release's table it takes far longer.
            items: Items = prepared or kept(
                (checksum, measure),
                lambda: read_items(path, measure, self._sites(version)),
                size=lambda items: items.nbytes,
            )
            return HeldSample(items.sample(stratum))

        with raise_damage(ITEM, SITE):
            held: HeldSample = kept((checksum, measure, stratum), read, size=lambda held: held.sample.nbytes)
        return held

    def _sites(self, version: Version) -> pa.Table:
        """The names of a release's sites by rank; Problem if their file is not the published one."""
        self._library.file(version, SITE)
        named: pa.Table = self._library.held.kept(
            (version.checksum, SITE), lambda: sites_of(version.readable), size=lambda named: named.nbytes
        )
        return named
