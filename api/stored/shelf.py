"""What there is to serve at one moment: every release and report, sound, damaged or withdrawn. It never changes."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from typing import TYPE_CHECKING

from api.problems import Problem
from releases.catalogue import Release, is_named

if TYPE_CHECKING:
    from pathlib import Path

    from schema.crawls import CrawlName
    from storage.progress import Progress
    from storage.signatures import Signature


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Volume:
    """A folder whose files never change, as it was found: one version of a release, or one report."""

    path: Path
    checksum: str
    """SHA-256 of its SHA256SUMS, which names it with everything in it; empty where there is none."""
    files: dict[str, str]
    """SHA-256 by name of every file that may be served, as SHA256SUMS states it; empty for the files of a report that was made before reports had sums."""
    signature: Signature
    damage: str
    """What is wrong with it, in a line that tells nothing of the machine; empty for what is sound."""
    is_checked: bool
    """Whether every file has been compared with its sum by now."""

    @property
    def facts(self) -> tuple[object, ...]:
        """What answers tell of it; nothing of where it lies."""
        signer = self.signature.said if self.signature.kind == "good" else ""
        return (
            self.checksum,
            sorted(self.files.items()),
            self.signature.kind,
            signer,
            self.damage,
            self.is_checked,
        )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Version(Volume):
    """One version of a crawl's release."""

    crawl: CrawlName
    version: int
    release: Release | None
    """None where the manifest cannot be read, and for a version that was withdrawn."""
    is_withdrawn: bool = False

    @property
    def is_sound(self) -> bool:
        """Whether it is there, and nothing is known to be wrong with it."""
        return not self.damage and not self.is_withdrawn

    @property
    def readable(self) -> Release:
        """The release; Problem for one that is damaged or was withdrawn."""
        if self.is_withdrawn:
            raise Problem("withdrawn", f"version {self.version} of {self.crawl} was withdrawn")
        if self.damage or self.release is None:
            raise Problem("damaged-release", f"version {self.version} of {self.crawl}: {self.damage}")
        return self.release


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Report(Volume):
    """One year's report."""

    year: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shelf:
    """Releases, reports and crawls under way, as one look at the folders found them."""

    versions: tuple[Version, ...]
    """The newest month first, in it by name, the highest version first."""
    reports: tuple[Report, ...]
    """The latest first."""
    under_way: tuple[Progress, ...]

    @functools.cached_property
    def edition(self) -> str:
        """Names releases and reports: what two shelves of one edition serve has the same bytes."""
        versions = [(str(one.crawl), one.version, one.is_withdrawn, *one.facts) for one in self.versions]
        reports = [(one.year, *one.facts) for one in self.reports]
        return hashlib.sha256(repr((versions, reports)).encode()).hexdigest()

    @functools.cached_property
    def moment(self) -> str:
        """Names the crawls under way."""
        return hashlib.sha256(repr(self.under_way).encode()).hexdigest()

    @functools.cached_property
    def crawls(self) -> dict[str, list[Version]]:
        """Versions by the name of their crawl, in the same order."""
        by_crawl: dict[str, list[Version]] = {}
        for one in self.versions:
            by_crawl.setdefault(str(one.crawl), []).append(one)
        return by_crawl

    def matching(self, crawl: str) -> list[Version]:
        """Every version of the one crawl that `crawl`, a name or the first parts of one, stands for."""
        found = {
            name: versions for name, versions in self.crawls.items() if is_named(versions[0].crawl, crawl)
        }
        if not found:
            raise Problem("no-such-crawl", f"no release of crawl {crawl!r}; /v1/crawls lists what there is")
        if len(found) > 1:
            raise Problem("ambiguous-crawl", f"{crawl!r} fits several crawls", crawls=sorted(found))
        (versions,) = found.values()
        return versions

    def newest(self, crawl: str) -> Version:
        """The newest version that was not withdrawn; never an older one in place of one that is damaged."""
        versions = self.matching(crawl)
        return next((one for one in versions if not one.is_withdrawn), versions[0])

    def version(self, crawl: str, number: int) -> Version:
        """One version of the one crawl that `crawl` stands for."""
        for one in self.matching(crawl):
            if one.version == number:
                return one
        raise Problem("no-such-crawl", f"the release of {crawl!r} has no version {number}")

    def report(self, year: str) -> Report:
        """One year's report."""
        for one in self.reports:
            if one.year == year:
                return one
        raise Problem("no-such-report", f"no report of {year}; /v1/reports lists what there is")
