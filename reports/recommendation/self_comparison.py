"""A/A comparisons: a window against itself with other seeds, and by another route, guest and order.

Other seeds show how far chance moves page times. With the same seed a window must equal itself wherever and
whenever it is loaded: what is left would be the work of the arm, and not of the window.
"""

import dataclasses
from collections.abc import Mapping

import numpy as np

from releases.interval import Interval
from reports.recommendation.rule import Rule
from reports.recommendation.window_family import TooFewLoads
from reports.statistics.bootstrap import Floats, Mask
from reports.statistics.paired_loads import PairedLoads
from reports.statistics.simultaneous import LEAST_PAGES, simultaneous_intervals


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SelfComparison:
    """Difference of page times at one window between two sets of loads."""

    longer_percent: Interval
    """Mean over pages of the log ratio of page time, in percent: odd seeds against even ones, or the alias
    against the window's own route."""
    pairs: int
    """Number of pairs: of (page, profile) with loss, or of loads."""


def compare_with_itself(
    loads: PairedLoads, iw: int, population: Mapping[str, float], *, rule: Rule
) -> SelfComparison:
    """Compare odd with even seeds of every page and profile that has loss; raises TooFewLoads.

    Loads with the same seed agree to the microsecond and would prove nothing. Loads without loss do not
    depend on chance and would only dilute the comparison.
    """
    if iw not in loads.windows:
        raise TooFewLoads(f"no cell at IW {iw}")
    if not loads.covers(population):
        raise TooFewLoads("not every profile of the population was replayed")
    times, drops = loads.at("page_ms", iw), loads.at("bottleneck_drops", iw)
    retransmitted = loads.at("bytes_retransmitted", iw)
    known = ~np.isnan(times)
    lossy = ((drops > 0) | (retransmitted > 0)).any(axis=2)
    usable = lossy & known[..., 0::2].any(axis=2) & known[..., 1::2].any(axis=2)
    usable &= (loads.weights(population) > 0)[np.newaxis]
    if not usable.any():
        raise TooFewLoads("no page was loaded under loss with two seeds")
    pages = usable.any(axis=1)
    if pages.sum() < LEAST_PAGES:
        raise TooFewLoads("only one page was loaded under loss with two seeds")
    logs = np.log(np.where(known, times, 1.0))
    halves = [
        logs[..., half::2].sum(axis=2) / np.maximum(known[..., half::2].sum(axis=2), 1) for half in (0, 1)
    ]
    return _compared(halves[1] - halves[0], usable, loads.weights(population), rule, pairs=int(usable.sum()))


def compare_with_alias(
    loads: PairedLoads, alias: PairedLoads | None, iw: int, population: Mapping[str, float], *, rule: Rule
) -> SelfComparison:
    """Compare loads of a window with those by its alias, in other guests and another order, seed by seed.

    Raises TooFewLoads.
    """
    if alias is None or iw not in alias.windows:
        raise TooFewLoads(f"IW {iw} was not replayed by an alias route: `firstflight replay run --harm core`")
    if iw not in loads.windows:
        raise TooFewLoads(f"no cell at IW {iw}")
    if not (loads.covers(population) and alias.covers(population)):
        raise TooFewLoads("not every profile of the population was replayed")
    shared = [page for page in alias.pages if page in set(loads.pages)]
    seeds = min(loads.seeds, alias.seeds)
    profiles = [name for name in loads.profiles if name in alias.profiles]

    def logs(some: PairedLoads) -> Floats:
        pages, networks = map(some.pages.index, shared), map(some.profiles.index, profiles)
        found: Floats = np.log(some.at("page_ms", iw)[np.ix_([*pages], [*networks], range(seeds))])
        return found

    differences = logs(alias) - logs(loads)
    known = ~np.isnan(differences)
    weights = np.array([population.get(name, 0.0) for name in profiles])
    usable = known.any(axis=2) & (weights > 0)[np.newaxis]
    if usable.any(axis=1).sum() < LEAST_PAGES:
        raise TooFewLoads("fewer than two pages were loaded by both routes")
    means = np.where(known, differences, 0.0).sum(axis=2) / np.maximum(known.sum(axis=2), 1)
    return _compared(means, usable, weights, rule, pairs=int(known.sum()))


def _compared(
    differences: Floats, usable: Mask, weights: Floats, rule: Rule, *, pairs: int
) -> SelfComparison:
    """The mean over pages of log ratios [page, profile] where they are usable, weighted over profiles."""
    pages = usable.any(axis=1)
    shares = np.where(usable, weights, 0.0)[pages]
    ratios = (differences[pages] * shares).sum(axis=1) / shares.sum(axis=1)
    (found,) = simultaneous_intervals(
        ratios[:, np.newaxis], rule.confidence, seed=rule.bootstrap_seed, replicates=rule.replicates
    )
    ends = (100 * float(np.expm1(end)) for end in (found.estimate, found.lower, found.upper))
    return SelfComparison(longer_percent=Interval(*ends), pairs=pairs)
