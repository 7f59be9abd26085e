"""Tests whether failures cluster in time, on a machine or in a process: failures of the sites themselves
would not.

A site counts at the time and place of its first conclusive visit, and as failed if its final visit failed:
retries come last and are made of failed sites alone, so their times mean nothing. Sites are claimed in the
order of their ranks, and lower ranks fail more often, so a window of time is compared with the visits before
and after it.

Names that do not resolve are compared once more (`find_unresolved_excesses`): all lanes draw from one queue,
so that their shares differ by chance alone, and so does a month's share from that of the crawl before.
"""

import dataclasses
import datetime
import itertools
import math
from collections.abc import Callable, Iterator, Sequence


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Evenness:
    """Parameters of the search. The sizes are our choice;
    the test is Fisher's exact test (Fisher 1935, §21.02)."""

    chance: float = 0.001
    """False-positive rate: the share of crawls refused although their sites fail independently of each other.
    It is divided by the number of comparisons (Bonferroni)."""
    times: float = 2.0
    """Minimum ratio of the failed share to that of the rest; a drift of failures with rank stays below it."""
    points: float = 0.15
    """Minimum difference of the two shares."""
    smallest: int = 8
    """Visits of the shortest window; each longer window is double, up to half of the crawl."""
    around: int = 4
    """Visits on each side that a window is compared with, in its lengths."""
    usual_times: float = 1.5
    """Minimum ratio of the unresolved share to that of the crawl before; lists change less in a month."""
    recovered: float = 0.02
    """Share of names that first do not resolve and later do, up to which the sites' own nameservers may be at
    fault."""


EVENNESS = Evenness()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FirstVisit:
    """First conclusive visit of a site: its time, process and resolution, and how the site ended."""

    at: datetime.datetime
    machine: str
    process: str
    failed: bool
    unresolved: bool = False
    unresolved_first: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """A part of a crawl, and the sites that the part is compared with."""

    what: str
    sites: int
    failed: int
    rest: int
    rest_failed: int

    def is_far_more(self, rule: Evenness) -> bool:
        if not (self.sites and self.rest):
            return False
        share, other = self.failed / self.sites, self.rest_failed / self.rest
        return share >= rule.times * other and share - other >= rule.points


@dataclasses.dataclass(frozen=True, slots=True)
class Excess:
    """A part of a crawl that fails far more often than the rest."""

    part: Part
    chance: float
    """One-sided p-value of as many failures or more, times the number of comparisons."""
    did: str

    def __str__(self) -> str:
        part = self.part
        return (
            f"{part.failed:,} of {part.sites:,} sites {self.did} {part.what}, and {part.rest_failed:,} of "
            f"{part.rest:,} beside them (by chance in {self.chance:.1g} of crawls)"
        )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Usual:
    """Names that did not resolve in the previous crawl of the same list, among the ranks that both crawls
    visited."""

    crawl: str
    sites: int
    unresolved: int


def find_excesses(sites: Sequence[FirstVisit], rule: Evenness = EVENNESS) -> list[Excess]:
    """Find the window of time that stands out most, and every machine or process that does."""
    ordered = sorted(sites, key=lambda site: site.at)
    windows, groups = list(_windows(ordered, rule)), list(_groups(ordered, lambda site: site.failed))
    comparisons = len(windows) + len(groups)
    in_time, by_whom = (
        [
            excess
            for part in parts
            if part.is_far_more(rule) and (excess := _excess(part, comparisons)).chance <= rule.chance
        ]
        for parts in (windows, groups)
    )
    return sorted(in_time, key=lambda excess: excess.chance)[:1] + by_whom


def find_unresolved_excesses(
    sites: Sequence[FirstVisit], usual: Usual | None, rule: Evenness = EVENNESS
) -> Iterator[Excess | str]:
    """Find three kinds of resolver faults: lanes whose names resolved less often than others', a share of
    unresolved names above the crawl before, and failures scattered over all lanes.

    The last are names that resolve at a later attempt: a resolver that fails in a share p of its answers
    shows them in a share p (1 - p) of the sites, and leaves p² of the sites without an address after two
    attempts. Power, simulated for 1,000 sites of which 3 % have no address, at the default chance: a crawl is
    refused in 98 % of cases if the resolver of one lane in three fails for 10 % of the names, in 96 % if all
    lanes' fail for 5 % more than in the crawl before, and in 95 % if 5 % of the answers fail at random, which
    leaves 0.25 % of the sites without an address.
    """
    groups = list(_groups(sites, lambda site: site.unresolved))
    for excess in (_excess(part, len(groups), did="did not resolve") for part in groups):
        part = excess.part
        if part.failed * part.rest > part.rest_failed * part.sites and excess.chance <= rule.chance:
            yield excess
    unresolved = sum(site.unresolved for site in sites)
    if (
        usual is not None
        and sites
        and unresolved * usual.sites > rule.usual_times * usual.unresolved * len(sites)
    ):
        here = Part(f"here, unlike in {usual.crawl}", len(sites), unresolved, usual.sites, usual.unresolved)
        than_before = _excess(here, 1, did="did not resolve")
        if than_before.chance <= rule.chance:
            yield than_before
    resolved = [site for site in sites if not site.unresolved]
    recovered = sum(site.unresolved_first for site in resolved)
    if binomial_tail(recovered, draws=len(resolved), share=rule.recovered) <= rule.chance:
        yield (
            f"{recovered:,} of {len(resolved):,} names did not resolve at first and did later, more than the "
            f"{rule.recovered:.0%} that sites may cause: the resolver fails at times"
        )


def _windows(sites: Sequence[FirstVisit], rule: Evenness) -> Iterator[Part]:
    """Make windows of doubling lengths, a quarter of its length apart."""
    failed = [0, *itertools.accumulate(site.failed for site in sites)]
    size = rule.smallest
    while size <= len(sites) // 2:
        for first in range(0, len(sites) - size + 1, size // 4):
            last = first + size
            begin, end = max(0, first - rule.around * size), min(len(sites), last + rule.around * size)
            inside = failed[last] - failed[first]
            yield Part(
                f"from {sites[first].at:%Y-%m-%d %H:%M:%S} to {sites[last - 1].at:%H:%M:%S}",
                size,
                inside,
                end - begin - size,
                failed[end] - failed[begin] - inside,
            )
        size *= 2


def _groups(sites: Sequence[FirstVisit], failed_in: Callable[[FirstVisit], bool]) -> Iterator[Part]:
    in_all = sum(map(failed_in, sites))
    for kind in ("machine", "process"):
        counts: dict[str, list[int]] = {}
        for site in sites:
            count = counts.setdefault(getattr(site, kind), [0, 0])
            count[0] += 1
            count[1] += failed_in(site)
        for name, (number, failed) in sorted(counts.items()) if len(counts) > 1 else ():
            yield Part(f"on {kind} {name}", number, failed, len(sites) - number, in_all - failed)


def _excess(part: Part, comparisons: int, *, did: str = "failed") -> Excess:
    chance = hypergeometric_tail(
        part.failed, draws=part.sites, failed=part.failed + part.rest_failed, sites=part.sites + part.rest
    )
    return Excess(part, min(1.0, chance * comparisons), did)


def hypergeometric_tail(least: int, *, draws: int, failed: int, sites: int) -> float:
    """Return the probability of at least `least` failed among `draws` of `sites`, of which `failed` failed.

    >>> round(hypergeometric_tail(2, draws=2, failed=2, sites=4), 4)
    0.1667
    """
    whole = _log_choose(sites, draws)
    terms = (
        _log_choose(failed, number) + _log_choose(sites - failed, draws - number) - whole
        for number in range(max(least, draws - (sites - failed)), min(draws, failed) + 1)
    )
    return min(1.0, math.fsum(map(math.exp, terms)))


def binomial_tail(least: int, *, draws: int, share: float) -> float:
    """Return the probability of at least `least` of `draws`, each with probability `share`.

    >>> round(binomial_tail(2, draws=2, share=0.5), 4), binomial_tail(0, draws=2, share=0.5)
    (0.25, 1.0)
    """
    if not 0 < least <= draws:
        return 1.0 if least <= 0 else 0.0
    log_share, log_rest = math.log(share), math.log1p(-share)
    terms = (
        _log_choose(draws, number) + number * log_share + (draws - number) * log_rest
        for number in range(least, draws + 1)
    )
    return min(1.0, math.fsum(map(math.exp, terms)))


def _log_choose(whole: int, part: int) -> float:
    return math.lgamma(whole + 1) - math.lgamma(part + 1) - math.lgamma(whole - part + 1)
