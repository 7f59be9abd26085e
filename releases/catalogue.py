"""Finds releases on disk, reads their manifests, and distinguishes damaged and withdrawn versions.

releases/month=2026-11/device=desktop/vantage=local/arm=tcp/kind=localweb/version=1/
    crawl.parquet site.parquet visit.parquet connection.parquet response.parquet
    item.parquet distribution.parquet dictionary.json manifest.json SHA256SUMS, and SHA256SUMS.sig if signed;
    recording.json if it is of pages that somebody else recorded; what describes it
    (releases/descriptions/write.py): croissant.json CITATION.cff dictionary.html changelog.md
    data-changelog.md method.md sample.csv

A withdrawn version holds only tombstone.json (storage/notices.py).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from schema.authors import Author
from schema.crawls import CrawlName
from schema.recorded import is_recorded
from storage.exhaustion import reraise_exhaustion
from storage.notices import Withdrawal, read_withdrawal
from storage.sums import MANIFEST, checksum_of

RECORDING = "recording.json"
"""File that says whence the pages of a recorded release are, and their limits."""


class ReleaseError(Exception):
    """A release is missing, incomplete, or differs from its manifest."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class VersionRecord:
    """When and why a version of a release was made."""

    version: int
    date: str | None
    """Day, as 2026-12-03; of a first version that on which its crawl was sealed.

    None if unknown.
    """
    reason: str | None
    """None for a first version, and for a damaged or withdrawn one that no later version tells of."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ReleaseFacts:
    """What a release is, and what it was made from; a manifest and a report state it alike."""

    version: int
    schema_version: int
    method_version: str
    commit: str
    browser: str
    list_id: str
    list_checksum: str
    licence: str
    rows: dict[str, int]
    packets: dict[str, int]
    history: tuple[VersionRecord, ...]
    """This version and those before, the first one first."""
    public_suffix_list: str
    """Version of the Public Suffix List, by which items are of first or third parties."""
    authors: tuple[Author, ...] = ()
    """Named by the operator; empty for the maintainers of firstflight."""
    recorded_by: tuple[Author, ...] = ()
    """Who recorded the pages, where somebody else did, as the release's author."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Manifest(ReleaseFacts):
    """The content of `manifest.json`."""

    crawl: CrawlName
    old_list_month: str | None = None
    """Month of the list of sites, if that is before the month of the plan."""
    files: dict[str, str]
    """SHA-256 by name of every file but the manifest and SHA256SUMS."""

    @property
    def facts(self) -> dict[str, object]:
        facts = dataclasses.asdict(self)
        if self.old_list_month is None:
            del facts["old_list_month"]
        return facts

    @property
    def record(self) -> VersionRecord:
        return self.history[-1]

    @property
    def data_checksum(self) -> str:
        """SHA-256 over the lines of SHA256SUMS for the tables of data, which citations have.

        It leaves out documents, and the table `crawl`, which names the code: the same data have the same
        checksum, whoever makes them.
        """
        tables = sorted(name for name in self.files if name.endswith(".parquet") and name != "crawl.parquet")
        lines = "".join(f"{self.files[name]}  {name}\n" for name in tables)
        return hashlib.sha256(lines.encode()).hexdigest()


@dataclasses.dataclass(frozen=True, slots=True)
class Release:
    """One version of a release on disk."""

    path: Path
    manifest: Manifest

    @property
    def crawl(self) -> CrawlName:
        return self.manifest.crawl

    @property
    def version(self) -> int:
        return self.manifest.version

    def file(self, table: str) -> Path:
        return self.path / f"{table}.parquet"

    @property
    def recording(self) -> dict[str, Any] | None:
        """Content of recording.json; None for our crawls. ReleaseError if it is damaged or missing."""
        if not is_recorded(self.crawl.kind):
            return None
        try:
            recording: dict[str, Any] = json.loads((self.path / RECORDING).read_text(encoding="utf-8"))
        except (OSError, ValueError) as exc:
            raise ReleaseError(f"{self.path / RECORDING} is damaged or missing: {exc}") from exc
        return recording

    @property
    def list_name(self) -> str:
        """The list of its sites: as the recorder names it, or by its id. ReleaseError as `recording`."""
        return (self.recording or {}).get("list_name") or self.manifest.list_id

    @property
    def checksum(self) -> str:
        """SHA-256 of SHA256SUMS, which identifies the release."""
        return checksum_of(self.path)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Damaged:
    """A version whose manifest is unreadable or belongs to another version;
    its name is taken from its path."""

    path: Path
    crawl: CrawlName
    version: int
    problem: str
    """One line that says what is wrong and what to do."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Withdrawn:
    """A version that was withdrawn; its folder holds a tombstone."""

    path: Path
    crawl: CrawlName
    version: int
    withdrawal: Withdrawal


def release_folders(root: Path) -> list[Path]:
    """Return folders of versions, sorted by path and then by version, without reading any."""
    folders = root.glob("month=*/device=*/vantage=*/arm=*/kind=*/version=*")
    named = [(folder.parent, number, folder) for folder in folders if (number := _number(folder)) is not None]
    return [folder for *_, folder in sorted(named)]


def _number(folder: Path) -> int | None:
    digits = folder.name.removeprefix("version=")
    return int(digits) if digits.isascii() and digits.isdecimal() else None


def iter_versions(root: Path) -> Iterator[Release | Damaged | Withdrawn]:
    """Return every version of every release by crawl, the highest last; damage to one does not stop the
    list.
    """
    return map(read_version, release_folders(root))


def months_with_release(root: Path, crawl: CrawlName) -> tuple[str, ...]:
    """Return the months of a crawl's year with a whole release that differs in nothing but the month."""
    crawls = (release.crawl for release in iter_versions(root) if isinstance(release, Release))
    months = {other.month for other in crawls if dataclasses.replace(other, month=crawl.month) == crawl}
    return tuple(sorted(month for month in months if month[:4] == crawl.month[:4]))


def read_version(folder: Path) -> Release | Damaged | Withdrawn:
    """Classify a version by its manifest alone; storage.sums.broken_sums compares the files."""
    parts = [part.split("=", 1) for part in folder.parts[-6:]]
    crawl = CrawlName(**dict(parts[:-1]))
    version = int(parts[-1][1])
    if (withdrawal := read_withdrawal(folder)) is not None:
        return Withdrawn(path=folder, crawl=crawl, version=version, withdrawal=withdrawal)
    try:
        release = read_release(folder)
    except ReleaseError as exc:
        reraise_exhaustion(exc)
        return Damaged(path=folder, crawl=crawl, version=version, problem=str(exc))
    if (release.crawl, release.version) != (crawl, version):
        problem = (
            f"{folder / MANIFEST} is of {release.crawl} version {release.version}: "
            "restore the release from a copy"
        )
        return Damaged(path=folder, crawl=crawl, version=version, problem=problem)
    return release


def releases(root: Path) -> Iterator[Release]:
    """Return every version with a readable manifest."""
    return (release for release in iter_versions(root) if isinstance(release, Release))


def read_release(path: Path) -> Release:
    """Read a release; ReleaseError if its manifest is unreadable."""
    try:
        return Release(path, msgspec.json.decode((path / MANIFEST).read_bytes(), type=Manifest))
    except (OSError, RecursionError, ValueError) as exc:
        raise ReleaseError(
            f"{path / MANIFEST} is damaged or missing ({exc}): restore the release from a copy"
        ) from exc


def find_release(root: Path, crawl: str) -> Release:
    """Return the newest version of the release that `crawl` names, in full or by its first parts.

    A damaged newest version is a ReleaseError and never replaced by an older version, which may have been
    superseded for a reason.
    """
    matching = [
        release
        for release in iter_versions(root)
        if not isinstance(release, Withdrawn) and release.crawl.is_named(crawl)
    ]
    names = sorted({str(release.crawl) for release in matching})
    if not names:
        raise ReleaseError(
            f"no release of crawl {crawl!r} in {root}; `firstflight release list` shows what there is"
        )
    if len(names) > 1:
        raise ReleaseError(f"{crawl!r} names {len(names)} releases: {', '.join(names)}")
    return check_intact(matching[-1])


def check_intact(release: Release | Damaged) -> Release:
    if isinstance(release, Damaged):
        raise ReleaseError(release.problem)
    return release
