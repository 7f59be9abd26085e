"""Ratios of weighted quantiles with simultaneous intervals, by a bootstrap over pages with shared draws."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reports.statistics.bootstrap import Floats, Mask, weighted_quantile
from reports.statistics.simultaneous import PageMeans, draw_pages

CHUNK = 100
"""Replicates whose weights are spread over all loads at once, which bounds memory."""


def quantile_ratios(
    numerators: Sequence[Floats],
    denominator: Floats,
    complete: Mask,
    *,
    profile_weights: Floats,
    share: float,
    replicates: int,
    seed: int,
) -> PageMeans:
    """Log ratio of the weighted quantile of each numerator to that of the denominator; arrays [page,
    seed, profile].

    A page has weight 1, divided among its complete seeds [page, seed]. The standard error is the spread of
    the replicates, since a quantile has no other that few pages could show.
    """
    own = complete / complete.sum(axis=1, keepdims=True)
    sides = [_sorted(values, complete) for values in (*numerators, denominator)]

    def logs(counts: Floats) -> Floats:
        spread = ((counts[:, :, np.newaxis] * own)[..., np.newaxis] * profile_weights).reshape(
            len(counts), -1
        )
        found = [np.log(weighted_quantile(values, spread[:, order], share)) for values, order in sides]
        ratios: Floats = np.stack(found[:-1], axis=1) - found[-1][:, np.newaxis]
        return ratios

    sample = logs(np.ones((1, len(complete))))[0]
    drawn = np.concatenate(
        [
            logs(counts[begin : begin + CHUNK])
            for counts in draw_pages(len(complete), replicates, seed)
            for begin in range(0, len(counts), CHUNK)
        ]
    )
    errors = drawn.std(axis=0)
    t = np.divide(drawn - sample, errors, out=np.zeros_like(drawn), where=errors > 0)
    return PageMeans(sample, errors, t, len(complete))


def _sorted(values: Floats, complete: Mask) -> tuple[Floats, NDArray[np.intp]]:
    """The loads in ascending order, incomplete ones last, with their places."""
    flat = np.where(complete[..., np.newaxis], values, np.inf).reshape(-1)
    order = np.argsort(flat, kind="stable")
    return flat[order], order
