"""Where a release lies and what its manifest says; reading it, and checking its sums.

releases/month=2026-11/device=desktop/vantage=local/arm=tcp/kind=localweb/version=1/
    crawl.parquet site.parquet visit.parquet connection.parquet response.parquet
    distribution.parquet dictionary.json manifest.json SHA256SUMS
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"


class ReleaseError(Exception):
    """A release is missing, incomplete or not what its manifest says."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CrawlName:
    """What is unique about a crawl; also the release's path."""

    month: str
    device: str = "desktop"
    vantage: str = "local"
    arm: str = "tcp"
    kind: str = "web"

    def __str__(self) -> str:
        """As the command line and the API write it: 2026-11.desktop.local.tcp.web."""
        return ".".join(dataclasses.astuple(self))

    def path(self, root: Path, *, version: int) -> Path:
        """Folder of one version of the release below the folder of releases."""
        parts = [f"{field.name}={getattr(self, field.name)}" for field in dataclasses.fields(self)]
        return root.joinpath(*parts, f"version={version}")


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
            return cls(**{**facts, "crawl": CrawlName(**facts["crawl"])})
        except (ValueError, TypeError, KeyError) as exc:
            raise ReleaseError(f"no manifest of a release: {exc}") from exc


@dataclasses.dataclass(frozen=True, slots=True)
class Release:
    """One version of a release on disk."""

    path: Path
    manifest: Manifest

    def file(self, table: str) -> Path:
        """The Parquet file of one table."""
        return self.path / f"{table}.parquet"

    @property
    def checksum(self) -> str:
        """SHA-256 of SHA256SUMS: names the whole release in a report."""
        return sha256(self.path / SUMS)


def sha256(path: Path) -> str:
    """SHA-256 of a file, lower-case hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def release_folders(root: Path) -> list[Path]:
    """Folders below `root` that hold a manifest, in the order of their paths."""
    pattern = "month=*/device=*/vantage=*/arm=*/kind=*/version=*/manifest.json"
    return [manifest.parent for manifest in sorted(root.glob(pattern))]


def releases(root: Path) -> Iterator[Release]:
    """Every release below `root`, in the order of their paths, highest version last."""
    return map(read_release, release_folders(root))


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

    `crawl` is a whole name or the first parts of one: `2026-11` will do where it is unique.
    """
    found = [release for release in releases(root) if f"{release.manifest.crawl}.".startswith(f"{crawl}.")]
    names = sorted({str(release.manifest.crawl) for release in found})
    if not names:
        raise ReleaseError(
            f"no release of crawl {crawl!r} in {root}; `firstflight release list` shows what there is"
        )
    if len(names) > 1:
        raise ReleaseError(f"{crawl!r} names {len(names)} releases: {', '.join(names)}")
    return max(found, key=lambda release: release.manifest.version)


def sums_of(release: Release) -> dict[str, str]:
    """SHA-256 by file name, as SHA256SUMS has them; OSError or ValueError if it cannot be read."""
    lines = (release.path / SUMS).read_text(encoding="utf-8").splitlines()
    return {name: checksum for checksum, name in (line.split("  ", 1) for line in lines)}


def broken_sums(release: Release) -> list[str]:
    """Files whose checksum is not the one in SHA256SUMS or in the manifest, or that are missing or not listed."""
    try:
        sums = sums_of(release)
    except (OSError, ValueError):
        return [SUMS]
    expected = release.manifest.files | {MANIFEST: sums.get(MANIFEST, "")}
    wrong = sorted(name for name in expected if sums.get(name) != expected[name])
    wrong += [path.name for path in sorted(release.path.iterdir()) if path.name not in {*sums, SUMS}]
    for name, checksum in sums.items():
        path = release.path / name
        if not path.is_file() or sha256(path) != checksum:
            wrong.append(name)
    return list(dict.fromkeys(wrong))
