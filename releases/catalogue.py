"""Where a release lies and what its manifest says; finding releases, and telling apart those that are not what they should be.

releases/month=2026-11/device=desktop/vantage=local/arm=tcp/kind=localweb/version=1/
    crawl.parquet site.parquet visit.parquet connection.parquet response.parquet
    distribution.parquet dictionary.json manifest.json SHA256SUMS, and SHA256SUMS.sig where it was signed

A version that was withdrawn holds tombstone.json and nothing else.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from schema.crawls import CrawlName
from storage.sums import MANIFEST, checksum_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


TOMBSTONE = "tombstone.json"


class ReleaseError(Exception):
    """A release is missing, incomplete or not what its manifest says."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """What a release is made of and by; `manifest.json`."""

    crawl: CrawlName
    version: int
    schema_version: int
    method_version: str
    commit: str
    browser: str
    list_id: str
    list_checksum: str
    licence: str
    rows: dict[str, int]
    """Rows by table."""
    files: dict[str, str]
    """SHA-256 by file name, of every file but the manifest itself and SHA256SUMS."""

    def to_json(self) -> str:
        """Canonical: sorted keys, so that the same release has the same bytes."""
        return json.dumps(dataclasses.asdict(self), indent=2, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """The manifest that `to_json` wrote; ReleaseError if it did not."""
        try:
            facts: dict[str, Any] = json.loads(text)
            found = cls(**{**facts, "crawl": CrawlName(**facts["crawl"])})
            if not all(isinstance(table, dict) for table in (found.rows, found.files)):
                raise ReleaseError("no manifest of a release: its rows or its files are no table")
        except (ValueError, TypeError, KeyError) as exc:
            raise ReleaseError(f"no manifest of a release: {exc}") from exc
        return found


@dataclasses.dataclass(frozen=True, slots=True)
class Release:
    """One version of a release on disk."""

    path: Path
    manifest: Manifest

    @property
    def crawl(self) -> CrawlName:
        """Its crawl."""
        return self.manifest.crawl

    @property
    def version(self) -> int:
        """Its version."""
        return self.manifest.version

    def file(self, table: str) -> Path:
        """The Parquet file of one table."""
        return self.path / f"{table}.parquet"

    @property
    def checksum(self) -> str:
        """SHA-256 of SHA256SUMS: names the whole release in a report."""
        return checksum_of(self.path)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Damaged:
    """One version of a release whose manifest cannot be read, or is another's; named by its path."""

    path: Path
    crawl: CrawlName
    version: int
    said: str
    """What is wrong with it, and what to do, in a line."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Withdrawn:
    """One version of a release that was taken back: a tombstone stands in its place."""

    path: Path
    crawl: CrawlName
    version: int


def release_folders(root: Path) -> list[Path]:
    """Folders of versions below `root`, whatever they hold, in the order of their paths and then of their versions."""
    found = root.glob("month=*/device=*/vantage=*/arm=*/kind=*/version=*")
    named = [(folder.parent, number, folder) for folder in found if (number := _number(folder)) is not None]
    return [folder for *_, folder in sorted(named)]


def _number(folder: Path) -> int | None:
    digits = folder.name.removeprefix("version=")
    return int(digits) if digits.isascii() and digits.isdecimal() else None


def listed(root: Path) -> Iterator[Release | Damaged | Withdrawn]:
    """Every version of every release below `root`: by crawl, the highest version last. None keeps another from being listed."""
    return map(read_version, release_folders(root))


def read_version(folder: Path) -> Release | Damaged | Withdrawn:
    """What is in the folder of a version, by its manifest alone; storage.sums.broken_sums compares the files."""
    parts = [part.split("=", 1) for part in folder.parts[-6:]]
    crawl = CrawlName(**dict(parts[:-1]))
    version = int(parts[-1][1])
    try:
        names = [path.name for path in folder.iterdir()]
    except OSError:  # no folder, or none that we may read: damaged, as its manifest cannot be read either
        names = []
    if names == [TOMBSTONE]:
        return Withdrawn(path=folder, crawl=crawl, version=version)
    try:
        release = read_release(folder)
    except ReleaseError as exc:
        return Damaged(path=folder, crawl=crawl, version=version, said=str(exc))
    if (release.crawl, release.version) != (crawl, version):
        said = f"{folder / MANIFEST} is of {release.crawl} version {release.version}: restore the release from a copy"
        return Damaged(path=folder, crawl=crawl, version=version, said=said)
    return release


def releases(root: Path) -> Iterator[Release]:
    """Every version below `root` whose manifest can be read; damaged and withdrawn ones are left out."""
    return (one for one in listed(root) if isinstance(one, Release))


def read_release(path: Path) -> Release:
    """The release in the folder `path`."""
    try:
        return Release(path, Manifest.from_json((path / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, ReleaseError) as exc:
        raise ReleaseError(
            f"{path / MANIFEST} is damaged or missing ({exc}): restore the release from a copy"
        ) from exc


def find_release(root: Path, crawl: str) -> Release:
    """The newest version of the one release whose crawl's name begins with `crawl`.

    `crawl` is a whole name or the first parts of one: `2026-11` will do where it is unique. A newest version that is
    damaged is a ReleaseError, never replaced by an older one: that may have been released anew for a reason.
    """
    found = [one for one in listed(root) if not isinstance(one, Withdrawn) and one.crawl.is_named(crawl)]
    names = sorted({str(one.crawl) for one in found})
    if not names:
        raise ReleaseError(
            f"no release of crawl {crawl!r} in {root}; `firstflight release list` shows what there is"
        )
    if len(names) > 1:
        raise ReleaseError(f"{crawl!r} names {len(names)} releases: {', '.join(names)}")
    return intact(found[-1])


def intact(one: Release | Damaged) -> Release:
    """The release, or a ReleaseError that says what is damaged about it."""
    if isinstance(one, Damaged):
        raise ReleaseError(one.said)
    return one
