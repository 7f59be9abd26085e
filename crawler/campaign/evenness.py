"""Whether failures are spread over a crawl as sites' own would be: by time, by machine and by process.

A site counts where it was first visited (by a visit that says something of it), and as failed if it failed in the end:
retries come last and are of failed sites alone, so when they were made says nothing. Sites are claimed in the order of
their ranks, and lower ones fail more: so a window of time is compared with the visits around it, on both sides.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterator, Sequence


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Evenness:
    """What is far more than the rest. The sizes are ours; the test is Fisher's exact one (Fisher 1935, §21.02)."""

    chance: float = 0.001
    """False-positive rate: of crawls whose sites fail independently of their neighbours, at most this share is refused. It is
    divided by the number of comparisons (Bonferroni)."""
    times: float = 2.0
    """Least ratio of the failed share to that of the rest: a drift with rank is less."""
    points: float = 0.15
    """Least difference of the two, likewise."""
    smallest: int = 8
    """Visits of the shortest window; the others are twice as long each, up to half of the crawl."""
    around: int = 4
    """Lengths of a window that it is compared with before it, and after it."""


EVENNESS = Evenness()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """How one site ended, and by whom and when it was first visited."""

    at: datetime.datetime
    machine: str
    process: str
    failed: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Excess:
    """A part of a crawl that fails far more than the rest."""

    what: str
    sites: int
    failed: int
    rest: int
    rest_failed: int
    chance: float
    """Of so many or more, if it were as the rest (one-sided p-value), times the comparisons that were made."""

    def __str__(self) -> str:
        """In words."""
        return (
            f"{self.failed:,} of {self.sites:,} sites failed {self.what}, and {self.rest_failed:,} of {self.rest:,} "
            f"beside them (by chance in {self.chance:.1g} of crawls)"
        )


@dataclasses.dataclass(frozen=True, slots=True)
class _Part:
    what: str
    sites: int
    failed: int
    rest: int
    rest_failed: int

    def is_far_more(self, rule: Evenness) -> bool:
        """Whether the shares differ by as much as matters."""
        if not (self.sites and self.rest):
            return False
        share, other = self.failed / self.sites, self.rest_failed / self.rest
        return share >= rule.times * other and share - other >= rule.points


def uneven(sites: Sequence[Site], rule: Evenness = EVENNESS) -> list[Excess]:
    """The window of time that stands out most, if one does, and every machine or process that does."""
    ordered = sorted(sites, key=lambda site: site.at)
    windows, groups = list(_windows(ordered, rule)), list(_groups(ordered))
    comparisons = len(windows) + len(groups)
    found = [
        [_excess(part, comparisons) for part in parts if part.is_far_more(rule)]
        for parts in (windows, groups)
    ]
    in_time, by_whom = ([one for one in some if one.chance <= rule.chance] for some in found)
    return sorted(in_time, key=lambda one: one.chance)[:1] + by_whom


def _windows(sites: Sequence[Site], rule: Evenness) -> Iterator[_Part]:
    """Of lengths that double, each a quarter of its length after the one before."""
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


def _groups(sites: Sequence[Site]) -> Iterator[_Part]:
    """Machines and processes, where there are several, each against all others."""
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
    """Probability of at least so many failed among `draws` of `sites`, of which `failed` are (hypergeometric).

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
