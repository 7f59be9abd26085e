"""The months of one series: the newest release of each month of a crawl that is repeated in the same way."""

from __future__ import annotations

import dataclasses

from api.http.problems import Problem
from api.stored.shelf import Shelf, Version
from schema.crawls import CrawlName

ANY = "any"
"""Vantage of a series whose months may be from different vantages."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """What the crawls of a series have in common: the parts of their names after the month."""

    device: str
    vantage: str
    """A vantage, or ANY."""
    arm: str
    kind: str

    @classmethod
    def of(cls, crawl: CrawlName) -> Variant:
        """The series that a crawl belongs to."""
        return cls(device=crawl.device, vantage=crawl.vantage, arm=crawl.arm, kind=crawl.kind)

    def __str__(self) -> str:
        """The parts as in a crawl's name."""
        return f"{self.device}.{self.vantage}.{self.arm}.{self.kind}"

    def months(self, shelf: Shelf) -> list[Version]:
        """The newest version of each month's crawl, the earliest month first.

        Problem if there is none, or if a month has crawls from several vantages and none was chosen.
        """
        found = [shelf.newest(name) for name, versions in shelf.crawls.items() if self._is_of(versions[0])]
        if not found:
            others = sorted({str(version.crawl).partition(".")[2] for version in shelf.versions})
            there = f"there are {', '.join(others)}" if others else "there is no release at all"
            raise Problem("no-such-crawl", f"no release of a crawl {self}; {there}")
        months = [one.crawl.month for one in found]
        if len(set(months)) < len(months):
            several = ", ".join(sorted({one.crawl.vantage for one in found}))
            raise Problem("bad-parameter", f"vantage: a month has several crawls; choose one of {several}")
        return sorted(found, key=lambda one: one.crawl.month)

    def _is_of(self, version: Version) -> bool:
        crawl = version.crawl
        same = (crawl.device, crawl.arm, crawl.kind) == (self.device, self.arm, self.kind)
        return same and self.vantage in (ANY, crawl.vantage)


def months_between(first: str, last: str) -> list[str]:
    """Every month from the first to the last, YYYY-MM.

    >>> months_between("2026-11", "2027-02")
    ['2026-11', '2026-12', '2027-01', '2027-02']
    """
    begin, end = (int(month[:4]) * 12 + int(month[5:]) - 1 for month in (first, last))
    return [f"{number // 12:04}-{number % 12 + 1:02}" for number in range(begin, end + 1)]
