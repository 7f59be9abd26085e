"""The months of one series, the newest release of each, and the changes between two of them that a reader
must know of before comparing their numbers."""

from __future__ import annotations

import dataclasses
import re
from functools import partial
from typing import Literal

from api.http.problems import Problem
from api.stored.shelf import Shelf, Version
from releases.catalogue import Manifest
from releases.formatting import grouped
from schema.crawls import CrawlName
from schema.vocabulary import METHOD_BREAKS

ANY = "any"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """The parts of crawls' names after the month."""

    device: str
    vantage: str
    arm: str
    kind: str

    @classmethod
    def of(cls, crawl: CrawlName) -> Variant:
        return cls(device=crawl.device, vantage=crawl.vantage, arm=crawl.arm, kind=crawl.kind)

    def __str__(self) -> str:
        return f"{self.device}.{self.vantage}.{self.arm}.{self.kind}"

    def months(self, shelf: Shelf) -> list[Version]:
        """The newest version of each month's crawl, the earliest first.

        Problem if there is none, or if several vantages have a month and none was chosen.
        """
        newest = [shelf.newest(name) for name, versions in shelf.crawls.items() if self._is_of(versions[0])]
        if not newest:
            others = sorted({str(version.crawl).partition(".")[2] for version in shelf.versions})
            offered = f"there are {', '.join(others)}" if others else "there is no release at all"
            raise Problem("no-such-crawl", f"no release of a crawl {self}; {offered}")
        months = [version.crawl.month for version in newest]
        if len(set(months)) < len(months):
            several = ", ".join(sorted({version.crawl.vantage for version in newest}))
            raise Problem("bad-parameter", f"vantage: a month has several crawls; choose one of {several}")
        return sorted(newest, key=lambda version: version.crawl.month)

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


What = Literal["method", "schema", "list", "browser", "vantage"]

SITES_APART = 1.1
"""Ratio of two months' sites from which they are another part of the web.

Ours: opt-outs alone change less.
"""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Flag:
    """One property in which a release differs from that of the month before in its series."""

    month: str
    """The first month after the change."""
    month_before: str
    """The last month before the change."""
    what: What
    before: str
    after: str
    is_break: bool
    """True if numbers before and after are not of the same thing; false for a newer version of the same."""
    said: str
    """What changed, in whole sentences."""


def flags_between(before: Manifest, after: Manifest) -> list[Flag]:
    flag = partial(Flag, month=after.crawl.month, month_before=before.crawl.month)
    possible = [
        _flag(flag, "method", before.method_version, after.method_version),
        _flag(flag, "vantage", before.crawl.vantage, after.crawl.vantage),
        _flag(flag, "list", before.list_id, after.list_id),
        _other_part(flag, before.rows.get("site"), after.rows.get("site")),
        _flag(flag, "browser", before.browser, after.browser),
        _flag(flag, "schema", str(before.schema_version), str(after.schema_version)),
    ]
    return sorted((flag for flag in possible if flag is not None), key=lambda flag: not flag.is_break)


def _flag(flag: partial[Flag], what: What, before: str, after: str) -> Flag | None:
    if before == after:
        return None
    is_break, said = _meaning(what, before, after)
    return flag(what=what, before=before, after=after, is_break=is_break, said=said)


def _other_part(flag: partial[Flag], before: int | None, after: int | None) -> Flag | None:
    if not before or not after or max(before, after) < SITES_APART * min(before, after):
        return None
    said = f"Number of sites from the list: {grouped(after)}; {grouped(before)} before."
    return flag(what="list", before=f"{before} sites", after=f"{after} sites", is_break=True, said=said)


def _meaning(what: What, before: str, after: str) -> tuple[bool, str]:
    """Return whether a change is a break, and its words."""
    if what == "method":
        reasons = " ".join(METHOD_BREAKS.get(after, ()))
        return True, f"Measuring method {after}; {before} before. {reasons}".rstrip()
    if what == "vantage":
        return True, f"Crawled from {after}; from {before} before."
    if what == "schema":
        return (
            False,
            f"Schema version {after}; {before} before. The changelog of the data lists what changed.",
        )
    is_other = _product(before) != _product(after)
    if what == "list":
        return is_other, f"Sites of the list {after}; {before} before."
    return is_other, f"Browser {after}; {before} before."


def _product(name: str) -> str:
    """The source of a list's id, or the product of a browser's name: the part before the version.

    >>> _product("tranco:K2LPW"), _product("HeadlessChrome/156.0.1"), _product("Chromium 156")
    ('tranco', 'HeadlessChrome', 'Chromium')
    """
    return re.split(r"[:/ ]", name, maxsplit=1)[0]
