"""The releases and reports on disk that the service reads: found by name, never by a path from outside."""

from __future__ import annotations

import dataclasses
import logging
from typing import TYPE_CHECKING

from api.problems import Problem
from schema.progress import Progress, read_progress
from schema.releases import Release, ReleaseError, read_release, release_folders

if TYPE_CHECKING:
    from pathlib import Path

LOG = logging.getLogger(__name__)

SUMS = ("manifest.json", "SHA256SUMS")
"""Files of a release that its manifest does not list."""


def readable(folder: Path) -> Release | None:
    """The release in `folder`; None, and a line in the log, for one that is damaged: the others are served."""
    try:
        return read_release(folder)
    except ReleaseError as exc:
        LOG.warning("left out: %s", exc)
        return None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Library:
    """Folders, read anew for each request: a release that is published shows up without a restart."""

    releases_dir: Path
    reports_dir: Path
    progress_dir: Path | None = None

    def under_way(self) -> list[Progress]:
        """Crawls that are not sealed, as their crawlers told last."""
        return [] if self.progress_dir is None else read_progress(self.progress_dir)

    def releases(self) -> list[Release]:
        """Every version of every release: the newest month first, in it by name, the highest version first."""
        found = [release for folder in release_folders(self.releases_dir) if (release := readable(folder))]
        found.sort(key=lambda release: release.manifest.version, reverse=True)
        found.sort(key=lambda release: str(release.manifest.crawl))
        found.sort(key=lambda release: release.manifest.crawl.month, reverse=True)
        return found

    def crawls(self) -> dict[str, list[Release]]:
        """Releases by the name of their crawl, in the same order."""
        by_crawl: dict[str, list[Release]] = {}
        for release in self.releases():
            by_crawl.setdefault(str(release.manifest.crawl), []).append(release)
        return by_crawl

    def matching(self, crawl: str) -> dict[str, list[Release]]:
        """Crawls whose name is `crawl` or begins with its parts: `2026-11` is every crawl of that month."""
        return {name: found for name, found in self.crawls().items() if f"{name}.".startswith(f"{crawl}.")}

    def release(self, crawl: str, *, version: int | None = None) -> Release:
        """The one release that `crawl` names, in its newest version unless another is asked for."""
        found = self.matching(crawl)
        if not found:
            raise Problem("no-such-crawl", f"no release of crawl {crawl!r}; /v1/crawls lists what there is")
        if len(found) > 1:
            raise Problem("ambiguous-crawl", f"{crawl!r} fits several crawls", crawls=sorted(found))
        (versions,) = found.values()
        for release in versions:
            if version in (None, release.manifest.version):
                return release
        raise Problem("no-such-crawl", f"the release of {crawl!r} has no version {version}")

    def release_file(self, release: Release, name: str) -> Path:
        """One file of a release; only what its manifest lists is ever opened."""
        path = release.path / name
        if name not in {*release.manifest.files, *SUMS} or not path.is_file():
            raise Problem("no-such-file", f"the release has no file {name!r}")
        return path

    def years(self) -> list[str]:
        """Years with a report, the latest first."""
        return sorted((path.parent.name for path in self.reports_dir.glob("[0-9]*/index.html")), reverse=True)

    def report_file(self, year: str, name: str) -> Path:
        """One file of a year's report; only what a walk of its folder finds is ever opened."""
        if year not in self.years():
            raise Problem("no-such-report", f"no report of {year}; /v1/reports lists what there is")
        folder = self.reports_dir / year
        for path in sorted(folder.rglob("*")):
            # A link is followed only as far as it stays within the report.
            inside = path.resolve().is_relative_to(folder.resolve())
            if path.relative_to(folder).as_posix() == name and inside and path.is_file():
                return path
        raise Problem("no-such-file", f"the report of {year} has no file {name!r}")
