"""Ranks of a release's sites: strata of popularity, and weights by Zipf's law."""

import math
from dataclasses import dataclass

from releases.catalogue import Release
from releases.measures import open_tables
from schema.recorded import is_recorded

LEAST_STRATUM = 1_000
"""Upper rank of the most popular stratum, as in CrUX."""

EULER = 0.5772156649015329


@dataclass(frozen=True, slots=True)
class Rank:
    """The rank of a site in its list."""

    rank: int
    magnitude: int | None = None
    """Rank magnitude that the site shares with others; None if the list ranks each site."""

    @property
    def stratum(self) -> int:
        """Upper rank of the site's stratum: its magnitude, or the next power of ten, at least 1,000.

        >>> Rank(1).stratum, Rank(1_001).stratum, Rank(80_000).stratum, Rank(7, magnitude=5_000).stratum
        (1000, 10000, 100000, 5000)
        """
        if self.magnitude is not None:
            return self.magnitude
        return int(max(LEAST_STRATUM, 10 ** math.ceil(math.log10(self.rank))))

    @property
    def weight(self) -> float:
        """Visits to the site by Zipf's law, 1 over its rank (Adamic and Huberman 2002);
        a magnitude's mean over its ranks.

        >>> round(Rank(4).weight, 3), round(Rank(1, magnitude=1_000).weight, 6), round(Rank(1, magnitude=5_000).weight, 6)
        (0.25, 0.007485, 0.000402)
        """  # noqa: E501
        if self.magnitude is None:
            return 1 / self.rank
        below = magnitude_below(self.magnitude)
        return (harmonic(self.magnitude) - harmonic(below)) / (self.magnitude - below)


def magnitude_below(magnitude: int) -> int:
    """The next smaller rank magnitude of CrUX, 0 below the smallest.

    >>> [magnitude_below(one) for one in (1_000, 5_000, 10_000, 50_000)]
    [0, 1000, 5000, 10000]
    """
    if magnitude <= LEAST_STRATUM:
        return 0
    return magnitude // 5 if str(magnitude).startswith("5") else magnitude // 2


def harmonic(count: int) -> float:
    """The sum of 1 over each of the first `count` ranks, by Euler's expansion;
    exact to nine digits from 100 on."""
    if count == 0:
        return 0.0
    return math.log(count) + EULER + 1 / (2 * count) - 1 / (12 * count**2)


def ranks_of(release: Release) -> dict[int, Rank]:
    """Ranks of the final visits by visit id; empty for recorded pages, whose ranks are not known."""
    if is_recorded(release.manifest.crawl.kind):
        return {}
    with open_tables(release.path) as database:
        found = database.execute(
            "SELECT visit.id, visit.rank, site.magnitude FROM visit SEMI JOIN studied ON studied.visit_id = "
            "visit.id LEFT JOIN read_parquet(?, hive_partitioning = false) AS site ON site.rank "
            "= visit.rank ORDER BY ALL",
            [str(release.file("site"))],
        ).fetchall()
    return {visit: Rank(rank, magnitude) for visit, rank, magnitude in found}
