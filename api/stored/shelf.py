"""An immutable snapshot of what can be served: every release and report, sound, damaged or withdrawn."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, TypeVar

from api.http.problems import Problem
from releases.catalogue import Release
from releases.errata import Erratum
from schema.crawls import CrawlName
from storage.notices import VersionStatus, Withdrawal, status_of
from storage.progress import Progress
from storage.report_versions import Publication
from storage.signatures import Signature
from storage.steps import Step

NAMED = re.compile(r"(?P<crawl>.*)/v(?P<version>[1-9][0-9]{0,3})")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Volume:
    """A folder whose files must not change, as a scan found it: one version of a release or of a report."""

    path: Path
    checksum: str
    """SHA-256 of SHA256SUMS, which identifies the folder."""
    files: dict[str, str]
    signature: Signature
    damage: str
    """In a line that reveals nothing about the machine."""
    is_checked: bool

    @property
    def signed_by(self) -> str | None:
        return self.signature.detail if self.signature.kind == "good" else None

    @property
    def facts(self) -> tuple[object, ...]:
        """What answers say about it; not its location."""
        return (
            self.checksum,
            sorted(self.files.items()),
            self.signature.kind,
            self.signed_by,
            self.damage,
            self.is_checked,
        )


class VersionKey(TypedDict):
    """The parameters of addresses that name a version of a release."""

    crawl: str
    version: int


class ReportKey(TypedDict):
    """The parameters of addresses that name a version of a report."""

    year: str
    version: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Version(Volume):
    """One version of a crawl's release."""

    crawl: CrawlName
    version: int
    release: Release | None
    withdrawal: Withdrawal | None = None

    @property
    def key(self) -> VersionKey:
        return {"crawl": str(self.crawl), "version": self.version}

    @property
    def name(self) -> str:
        """As 2026-11.desktop.local.tcp.web/v1."""
        return f"{self.crawl}/v{self.version}"

    @property
    def is_sound(self) -> bool:
        return not self.damage and self.withdrawal is None

    @property
    def readable(self) -> Release:
        """The release; Problem if it is damaged or was withdrawn."""
        if self.withdrawal is not None:
            raise Problem(
                "withdrawn", f"version {self.version} of {self.crawl} was withdrawn", see="/errata#withdrawn"
            )
        if self.damage or self.release is None:
            raise Problem("damaged-release", f"version {self.version} of {self.crawl}: {self.damage}")
        return self.release


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Report(Volume):
    """One version of a year's report."""

    year: str
    of_year: int
    is_edition: bool
    """Of a repository, beside the folder's own report."""
    version: int
    publication: Publication
    withdrawal: Withdrawal | None

    @property
    def key(self) -> ReportKey:
        return {"year": self.year, "version": self.version}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Notice(Volume):
    """An erratum of releases, as a folder with checksums."""

    number: int
    erratum: Erratum | None
    """None if its manifest cannot be read."""

    @property
    def readable(self) -> Erratum | None:
        return None if self.damage else self.erratum


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shelf:
    """Releases, reports and the progress of crawls, as one scan of the folders found them."""

    versions: tuple[Version, ...]
    """The newest month first; then by name; then the highest version."""
    reports: tuple[Report, ...]
    """The latest year first, the folder's own before the edition, the highest version first."""
    progress: tuple[Progress, ...]
    errata: tuple[Notice, ...] = ()
    steps: tuple[Step, ...] = ()

    @functools.cached_property
    def content_hash(self) -> str:
        """Shelves of the same hash serve the same bytes."""
        versions = [
            (str(version.crawl), version.version, version.withdrawal, *version.facts)
            for version in self.versions
        ]
        reports = [
            (report.year, report.publication, report.withdrawal, *report.facts) for report in self.reports
        ]
        errata = [(notice.number, notice.erratum, *notice.facts) for notice in self.errata]
        return hashlib.sha256(repr((versions, reports, errata)).encode()).hexdigest()

    @functools.cached_property
    def moment(self) -> str:
        return hashlib.sha256(repr((self.progress, self.steps)).encode()).hexdigest()

    @property
    def damaged(self) -> dict[str, int]:
        kinds = {"release": self.versions, "report": self.reports, "erratum": self.errata}
        return {kind: sum(bool(volume.damage) for volume in volumes) for kind, volumes in kinds.items()}

    @functools.cached_property
    def under_way(self) -> tuple[Progress, ...]:
        return tuple(crawl for crawl in self.progress if crawl.sealed_at is None)

    @functools.cached_property
    def crawls(self) -> dict[str, list[Version]]:
        by_crawl: dict[str, list[Version]] = {}
        for version in self.versions:
            by_crawl.setdefault(str(version.crawl), []).append(version)
        return by_crawl

    def whole_name(self, crawl: str) -> str:
        """The whole name of the crawl that `crawl` means, or itself.

        A short name means the crawl whose other parts are the defaults, or the only one that begins so.
        """
        try:
            whole = str(CrawlName.from_text(crawl))
        except ValueError:
            return crawl
        if whole in self.crawls:
            return whole
        others = self._beginning_with(crawl)
        return others[0] if len(others) == 1 else crawl

    def _beginning_with(self, crawl: str) -> list[str]:
        return sorted(name for name, versions in self.crawls.items() if versions[0].crawl.is_named(crawl))

    def matching(self, crawl: str) -> list[Version]:
        """Every version of a crawl, the highest first; Problem."""
        whole = self.whole_name(crawl)
        if whole in self.crawls:
            return self.crawls[whole]
        others = self._beginning_with(crawl)
        offered = (
            f"those whose names begin so are {', '.join(others)}"
            if others
            else "/v1/crawls lists what there is"
        )
        raise Problem("no-such-crawl", f"no release of crawl {crawl!r}; {offered}", crawls=others)

    def newest(self, crawl: str) -> Version:
        """The newest version in force; a damaged one is not replaced by an older one."""
        return in_force(self.matching(crawl))

    @functools.cached_property
    def newest_sound(self) -> list[Version]:
        return [newest for newest in map(self.newest, self.crawls) if newest.is_sound]

    def version(self, crawl: str, number: int) -> Version:
        """One version of a crawl.

        With a version a short name means the crawl of the defaults, and no other, so that a later crawl
        does not change an address; Problem if it could.
        """
        versions = self.matching(crawl)
        whole = str(versions[0].crawl)
        if str(CrawlName.from_text(crawl)) != whole:
            raise Problem(
                "bad-parameter", f"a version needs the whole name of its crawl: write {whole}, not {crawl}"
            )
        for version in versions:
            if version.version == number:
                return version
        raise Problem("no-such-crawl", f"the release of {crawl!r} has no version {number}")

    def find(self, name: str) -> Version:
        """The version of a name, with /v1 or else the newest."""
        return self.named(name) if NAMED.fullmatch(name) else self.newest(name)

    def named(self, name: str) -> Version:
        match = NAMED.fullmatch(name)
        if match is None:
            raise Problem(
                "bad-parameter",
                f"release: {name!r} is no crawl with a version, as 2026-11.desktop.local.tcp.web/v1",
            )
        return self.version(match["crawl"], int(match["version"]))

    def only(self, names: Sequence[str]) -> Shelf:
        """The shelf with these versions alone; Problem without one, or with two of a crawl."""
        chosen = {version.name for version in map(self.named, names)}
        versions = tuple(version for version in self.versions if version.name in chosen)
        if len({str(version.crawl) for version in versions}) < len(versions):
            raise Problem("bad-parameter", "release: two versions of one crawl are named")
        return dataclasses.replace(self, versions=versions)

    @functools.cached_property
    def replaced(self) -> dict[int, int]:
        """Later errata by the ones that they stand in for."""
        errata = [notice.readable for notice in self.errata]
        return {
            erratum.replaces: erratum.number for erratum in errata if erratum and erratum.replaces is not None
        }

    def errata_of(self, crawl: str, version: int) -> list[Erratum]:
        """Readable errata about a version, the newest first, without replaced ones."""
        errata = [notice.readable for notice in self.errata if notice.number not in self.replaced]
        return [erratum for erratum in errata if erratum is not None and erratum.is_about(crawl, version)]

    @functools.cached_property
    def years(self) -> dict[str, list[Report]]:
        by_year: dict[str, list[Report]] = {}
        for report in self.reports:
            by_year.setdefault(report.year, []).append(report)
        return by_year

    def report_versions(self, year: str) -> list[Report]:
        """A year's versions, the highest first; Problem."""
        if year not in self.years:
            raise Problem("no-such-report", f"no report of {year}; /v1/reports lists what there is")
        return self.years[year]

    def report(self, year: str) -> Report:
        """A year's newest version in force, else the newest at all.

        A damaged version is not replaced by an older one.
        """
        return in_force(self.report_versions(year))

    def status(self, report: Report) -> VersionStatus:
        return status_of(report.withdrawal, is_newest=report == self.report(report.year))

    def report_version(self, year: str, number: int) -> Report:
        versions = self.report_versions(year)
        for version in versions:
            if version.version == number:
                return version
        numbers = ", ".join(str(version.version) for version in reversed(versions))
        raise Problem(
            "no-such-report",
            f"the report of {year} has no version {number}; there are: {numbers}",
            see=f"/reports/{year}/errata",
        )


V = TypeVar("V", Version, Report)


def in_force(versions: Sequence[V]) -> V:
    """The highest version in force, else the highest."""
    return next((version for version in versions if version.withdrawal is None), versions[0])


def page(versions: Sequence[Version], *, after: str | None, limit: int) -> tuple[list[Version], str | None]:
    """At most `limit` sound versions behind the one named `after`, and the last one's name if more follow;
    Problem.
    """
    names = [version.name for version in versions]
    if after is not None and after not in names:
        raise Problem(
            "no-such-crawl", f"after: there is no release {after!r} here; follow `next`, or begin without it"
        )
    behind = versions if after is None else versions[names.index(after) + 1 :]
    sound = [version for version in behind if version.is_sound]
    return sound[:limit], sound[limit - 1].name if len(sound) > limit else None
