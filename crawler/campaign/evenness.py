"""Tests whether failures cluster in time, on a machine or in a process,
as failures of sites themselves would not.

A site counts at the time and place of its first conclusive visit, and as failed if its final visit failed:
retries come last and are made of failed sites alone, so their times mean nothing. Sites are claimed in the
order of their ranks, and lower ranks fail more often, so a window of time is compared with the visits before
and after it.
"""

import dataclasses
import datetime
import itertools
import math
from collections.abc import Iterator, Sequence


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Evenness:
    """Parameters of the search. The sizes are our choice;
    the test is Fisher's exact test (Fisher 1935, §21.02)."""

    chance: float = 0.001
    """False-positive rate: the share of crawls refused although their sites fail independently of each other.
    It is divided by the number of comparisons (Bonferroni)."""
    times: float = 2.0
    """Least ratio of the failed share to that of the rest; a drift with rank stays below."""
    points: float = 0.15
    """Least difference of the two shares; a drift with rank stays below."""
    smallest: int = 8
    """Visits of the shortest window; each further length is double, up to half of the crawl."""
    around: int = 4
    """Span that a window is compared with on each side, in lengths of the window."""


EVENNESS = Evenness()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FirstVisit:
    """First conclusive visit of a site: its time and process, and whether the site failed in the end."""

    at: datetime.datetime
    machine: str
    process: str
    failed: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Excess:
    """A part of a crawl that fails far more often than the rest."""

    what: str
    sites: int
    failed: int
    rest: int
    rest_failed: int
    chance: float
    """One-sided p-value of as many failures or more, times the number of comparisons."""

    def __str__(self) -> str:
        """Describe the excess in words."""
        return (
            f"{self.failed:,} of {self.sites:,} sites failed {self.what}, and {self.rest_failed:,} of "
            f"{self.rest:,} beside them (by chance in {self.chance:.1g} of crawls)"
        )


@dataclasses.dataclass(frozen=True, slots=True)
class _Part:
    what: str
    sites: int
    failed: int
    rest: int
    rest_failed: int

    def is_far_more(self, rule: Evenness) -> bool:
        """Return whether the failed shares differ by `times` and `points`."""
        if not (self.sites and self.rest):
            return False
        share, other = self.failed / self.sites, self.rest_failed / self.rest
        return share >= rule.times * other and share - other >= rule.points


def excesses(sites: Sequence[FirstVisit], rule: Evenness = EVENNESS) -> list[Excess]:
    """Find the window of time that stands out most, if any does,
    and every machine or process that stands out."""
    ordered = sorted(sites, key=lambda site: site.at)
    windows, groups = list(_windows(ordered, rule)), list(_groups(ordered))
    comparisons = len(windows) + len(groups)
    found = [
        [_excess(part, comparisons) for part in parts if part.is_far_more(rule)]
        for parts in (windows, groups)
    ]
    in_time, by_whom = ([one for one in some if one.chance <= rule.chance] for some in found)
    return sorted(in_time, key=lambda one: one.chance)[:1] + by_whom


def _windows(sites: Sequence[FirstVisit], rule: Evenness) -> Iterator[_Part]:
    """Make windows of doubling lengths; each begins a quarter of its length after the one before."""
    failed = [0, *itertools.accumulate(site.failed for site in sites)]
    size = rule.smallest
    while size <= len(sites) // 2:
        for first in range(0, len(sites) - size + 1, size // 4):
            last = first + size
            begin, end = max(0, first - rule.around * size), min(len(sites), last + rule.around * size)
            inside = failed[last] - failed[first]
            yield _Part(
                f"from {sites[first].at:%Y-%m-%d %H:%M:%S} to {sites[last - 1].at:%H:%M:%S}",
                size,
                inside,
                end - begin - size,
                failed[end] - failed[begin] - inside,
            )
        size *= 2


def _groups(sites: Sequence[FirstVisit]) -> Iterator[_Part]:
    """Compare each machine and each process with all others, where there are several."""
    in_all = sum(site.failed for site in sites)
    for kind in ("machine", "process"):
        counts: dict[str, list[int]] = {}
        for site in sites:
            count = counts.setdefault(getattr(site, kind), [0, 0])
            count[0] += 1
            count[1] += site.failed
        for name, (number, failed) in sorted(counts.items()) if len(counts) > 1 else ():
            yield _Part(f"on {kind} {name}", number, failed, len(sites) - number, in_all - failed)


def _excess(part: _Part, comparisons: int) -> Excess:
    chance = tail(
        part.failed, draws=part.sites, failed=part.failed + part.rest_failed, sites=part.sites + part.rest
    )
    return Excess(
        what=part.what,
        sites=part.sites,
        failed=part.failed,
        rest=part.rest,
        rest_failed=part.rest_failed,
        chance=min(1.0, chance * comparisons),
    )


def tail(least: int, *, draws: int, failed: int, sites: int) -> float:
    """Return the hypergeometric probability of at least `least` failed among `draws` of `sites`,
    of which `failed` failed.

    >>> round(tail(2, draws=2, failed=2, sites=4), 4), round(tail(0, draws=2, failed=2, sites=4), 4)
    (0.1667, 1.0)
    """
    whole = _log_choose(sites, draws)
    terms = (
        _log_choose(failed, number) + _log_choose(sites - failed, draws - number) - whole
        for number in range(max(least, draws - (sites - failed)), min(draws, failed) + 1)
    )
    return min(1.0, math.fsum(map(math.exp, terms)))


def _log_choose(whole: int, part: int) -> float:
    return math.lgamma(whole + 1) - math.lgamma(part + 1) - math.lgamma(whole - part + 1)
