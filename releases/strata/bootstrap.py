"""Confidence intervals of ratios by a bootstrap over groups of sites,
whose draws are the same in every release.

The responses of one site, a registrable domain, are alike, so that an interval which drew them individually
would be several times too narrow. Sites are put into GROUPS groups at random, and groups are drawn in place
of sites: the sums of a few groups are enough for an interval at any threshold. Up to GROUPS sites, each is a
group of its own.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

GROUPS = 200
"""Most groups of sites: the standard error that they give is known to about 5 %."""

REPLICATES = 1000
SEED = 1
CONFIDENCE = 0.95

TAIL = (1 - CONFIDENCE) / 2

LEAST_SITES = 20
"""Least sites of which an interval is stated: of fewer it would be too narrow."""


def number_sites(ranks: NDArray[np.int32], names: pa.Table) -> NDArray[np.int32]:
    """Return the site number of each of `ranks`: the least rank of the same name in `names` (rank, site),
    or its own.
    """
    encoded = names["site"].combine_chunks().dictionary_encode()
    named, codes = names["rank"].to_numpy(), encoded.indices.to_numpy()
    numbers = np.arange(max(ranks.max(initial=0), named.max(initial=0)) + 1, dtype=np.int32)
    least = np.full(len(encoded.dictionary), len(numbers), np.int32)
    np.minimum.at(least, codes, named)
    numbers[named] = least[codes]
    return numbers[ranks]


def groups_of(sites: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Return the group of each item's site: sites are ordered at random, by number alone, and dealt out."""
    known = np.flatnonzero(np.bincount(sites))
    group_of = np.zeros(int(sites.max(initial=0)) + 1, np.uint8)
    group_of[known] = np.random.Generator(np.random.PCG64(SEED)).permutation(len(known)) % GROUPS
    return group_of[sites]


@functools.cache
def _weights(groups: int) -> NDArray[np.float64]:
    """Return how often each replicate draws each group."""
    random = np.random.Generator(np.random.PCG64(SEED))
    return random.multinomial(groups, np.full(groups, 1 / groups), size=REPLICATES).astype(np.float64)


def draw() -> None:
    """Draw the replicates of GROUPS groups now; the first interval would wait 20 ms."""
    _weights(GROUPS)


def draw_sums(values: NDArray[np.float64], *, groups: int) -> NDArray[np.float64]:
    """Return each replicate's sum of `values`, which are groups, or groups by columns."""
    return _weights(groups) @ values[:groups]


def intervals(
    sums: NDArray[np.float64], drawn: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of percentile intervals of ratios: `sums` of the parts (replicates by ratios) over
    `drawn`, the wholes, both by `draw_sums`.
    """
    # A replicate may draw only groups without an item: it says nothing about the ratios.
    ratios = sums[drawn > 0] / drawn[drawn > 0, np.newaxis]
    lower, upper = _quantiles(ratios, [TAIL, 1 - TAIL])
    return lower, upper


def _quantiles(values: NDArray[np.float64], shares: list[float]) -> NDArray[np.float64]:
    """Return the quantiles of each column, as `np.quantile` in a fraction of its time."""
    places = (len(values) - 1) * np.array(shares)
    below = places.astype(np.intp)
    above = np.minimum(below + 1, len(values) - 1)
    ordered = np.partition(values, [*below, *above], axis=0)
    start, end, weight = ordered[below], ordered[above], (places - below)[:, np.newaxis]
    step = end - start
    return np.where(weight < 0.5, start + step * weight, end - step * (1 - weight))


def beyond(sites: int) -> float:
    """Return the upper end of the interval of a share that no item of `sites` sites has: Clopper and
    Pearson's, of sites.

    Where no item or every item fits, replicates cannot differ, and their interval would be a point.

    >>> round(beyond(20), 3), round(beyond(591), 4)
    (0.168, 0.0062)
    """
    return float(1 - TAIL ** (1 / sites))
